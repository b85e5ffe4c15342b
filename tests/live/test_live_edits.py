"""A reader's changes: kept through runs and builds, for this user alone, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qkv.files import file_lock
from qkv.live.data_folder import data_folder
from qkv.live.edits import MAX_BYTES, Edits
from tests.helpers.live_server import Answer, Server, serving

PAGE = "chapters/02_embedding"
ADDRESS = f"book/_live/edits/{PAGE}"


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "html"
    folder.mkdir()
    (folder / "index.html").write_text("<title>Toy</title>")
    return folder


@pytest.fixture(scope="module")
def server(toy_book: Path) -> Iterator[Server]:
    with serving(toy_book) as running:
        yield running


def change(server: Server, changes: Any, headers: dict[str, str] | None = None) -> Answer:
    return server.ask(ADDRESS, "PATCH", server.xsrf if headers is None else headers, changes)


def test_changes_survive_the_run(book: Path, tmp_path: Path) -> None:
    with serving(book, data=tmp_path / "data") as first:
        assert first.ask(ADDRESS).json == {"edits": {}}
        assert change(first, {"x = 1": "x = 2 # 나", "y": "z"}).status == 204
        assert change(first, {"y": None, "w": "v"}).status == 204
    (book / "index.html").write_text("<title>Built anew</title>")
    with serving(book, data=tmp_path / "data") as second:
        assert second.name != first.name
        assert second.ask(ADDRESS).json == {"edits": {"x = 1": "x = 2 # 나", "w": "v"}}
        assert second.ask("book/_live/edits/chapters/other").json == {"edits": {}}


def test_no_other_user_can_read_them(book: Path) -> None:
    Edits(book).merge(PAGE, {"a": "b"})
    file = data_folder(book) / "edits.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert json.loads(file.read_text())["book"] == str(book)


def test_each_book_has_its_own(book: Path, tmp_path: Path) -> None:
    Edits(book).merge(PAGE, {"a": "b"})
    assert Edits(tmp_path / "other").of_page(PAGE) == {}
    (tmp_path / "link").symlink_to(book)
    assert Edits(tmp_path / "link").of_page(PAGE) == {"a": "b"}


def test_what_does_not_fit_changes_nothing(book: Path) -> None:
    edits = Edits(book)
    edits.merge(PAGE, {"a": "x" * (MAX_BYTES - 1000)})
    before = (data_folder(book) / "edits.json").read_bytes()
    with pytest.raises(ValueError, match="more than 4,194,304 bytes: reset some cells"):
        edits.merge(PAGE, {"b": "y" * 1000})
    assert (data_folder(book) / "edits.json").read_bytes() == before
    edits.merge(PAGE, {"a": None})
    assert edits.of_page(PAGE) == {}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"pages": 1}', '{"pages": {"a": {"b": 1}}}'])
def test_a_file_of_something_else_is_left_alone(book: Path, text: str) -> None:
    file = data_folder(book) / "edits.json"
    file.write_text(text)
    for act in (lambda: Edits(book).of_page(PAGE), lambda: Edits(book).merge(PAGE, {"a": "b"})):
        with pytest.raises(ValueError, match=r"edits\.json does not hold changes in cells"):
            act()
    assert file.read_text() == text


def test_one_process_at_a_time_writes(book: Path) -> None:
    with file_lock(data_folder(book) / "edits.lock"), pytest.raises(BlockingIOError):
        Edits(book).merge(PAGE, {"a": "b"})


def test_who_is_not_signed_in_reads_and_changes_nothing(server: Server) -> None:
    assert server.ask(ADDRESS, signed_in=False).status == 403
    assert server.ask(ADDRESS, "PATCH", body={"a": "b"}, signed_in=False).status == 403
    assert server.ask(ADDRESS).json == {"edits": {}}


@pytest.mark.parametrize(
    "headers", [{}, {"X-XSRFToken": "x"}, {"Origin": "http://127.0.0.1:1"}, {"Origin": "null"}]
)
def test_another_page_changes_nothing(server: Server, headers: dict[str, str]) -> None:
    given = headers | (server.xsrf if "Origin" in headers else {})
    assert change(server, {"a": "b"}, given).status in (403, 404)
    if "Origin" in headers:
        assert server.ask(ADDRESS, headers=headers).status in (403, 404)
    assert server.ask(ADDRESS).json == {"edits": {}}


@pytest.mark.parametrize("body", [[], 1, "a", None, {"a": 1}, {"a": ["b"]}])
def test_what_is_no_change_is_refused(server: Server, body: Any) -> None:
    answer = change(server, body)
    assert answer.status == 400
    assert "texts or null" in answer.json["message"]


def test_a_folder_that_cannot_be_made_is_told(book: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with serving(book, data=tmp_path / "file") as running:
        assert running.ask(ADDRESS).json == {"edits": {}}
        answer = change(running, {"a": "b"})
        assert answer.status == 507
        assert answer.json["message"].startswith(str(tmp_path / "file"))


def test_a_damaged_file_is_told(book: Path, tmp_path: Path) -> None:
    with serving(book, data=tmp_path / "data") as running:
        (data_folder(book) / "edits.json").write_text("{")
        for answer in (running.ask(ADDRESS), change(running, {"a": "b"})):
            assert answer.status in (500, 507)
            assert "move it away" in answer.json["message"]
