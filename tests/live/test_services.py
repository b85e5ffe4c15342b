"""Requests that start kernels: bodies of wrong types, and more kernels than there may be."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.live_server import Server, errors, serving

WRONG: list[Any] = [5, [], {}]
NO_KERNEL: list[Any] = ["x", [], 5, {"name": []}, {"id": {}}]
GOOD = {"path": "a.ipynb", "type": "notebook", "name": "", "kernel": {"name": "python3"}}


@pytest.fixture(scope="module")
def server(toy_book: Path, log: Path) -> Iterator[Server]:
    with log.open("w") as stderr, serving(toy_book, "--kernels", "2", stderr=stderr) as running:
        yield running


@pytest.mark.parametrize(
    "body",
    [
        [],
        "x",
        5,
        *(GOOD | {name: wrong} for name in ("path", "type", "name") for wrong in WRONG),
        *(GOOD | {"kernel": wrong} for wrong in NO_KERNEL),
        *(GOOD | {"path": wrong} for wrong in (None, "\ud800", "a\0b", "x" * 10_000)),
        GOOD | {"kernel": {"id": "../../x"}},
        {"notebook": 5},
    ],
)
def test_a_body_of_wrong_types_is_refused_by_name(server: Server, log: Path, body: Any) -> None:
    """Each was a 500 with a traceback, or started a kernel that nobody had asked for."""
    session = server.session()["id"]
    before = server.ask("api/kernels").json
    wrong = server.post("api/sessions", body)
    changed = server.ask(f"api/sessions/{session}", "PATCH", server.xsrf, body)
    for answer in (wrong, changed):
        assert answer.status == 400
        assert "must be" in answer.json["message"]
    if not isinstance(body, dict):
        assert server.post("api/kernels", body).status == 400
    assert len(server.ask("api/kernels").json) == len(before)
    assert not errors(log)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_no_file_has_a_name_with_a_nul(server: Server, log: Path, method: str) -> None:
    assert server.ask("book/a%00b", method).status == 404
    assert not errors(log)


def test_kernels_are_counted_also_while_they_start(server: Server) -> None:
    """Of five that are asked for at once beside one that runs, one more starts."""
    server.session()
    header = server.xsrf

    def start(n: int) -> Any:
        return server.ask("api/sessions", "POST", header, GOOD | {"path": f"{n}.ipynb"})

    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(start, range(5)))
    assert sorted(answer.status for answer in answers) == [201, 503, 503, 503, 503]
    refused = next(answer for answer in answers if answer.status == 503)
    assert refused.json["message"] == (
        "it runs on 2 pages, as many as qkv serve --kernels allows: press Stop on one of them"
    )
    assert server.post("api/kernels", {}).status == 503
    assert len(server.ask("api/kernels").json) == 2
    server.session()  # this page has one
    (one,) = [answer.json["id"] for answer in answers if answer.status == 201]
    assert server.ask(f"api/sessions/{one}", "DELETE", server.xsrf).status == 204
    assert start(6).status == 201
