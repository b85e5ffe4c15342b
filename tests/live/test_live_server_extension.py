"""The book inside a Jupyter that somebody else started: at its place, live, and out of the way."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

import qkv.live
from qkv.live.server_extension import CHECKOUT, book_folder
from qkv.notebooks.stored_form import normal_form
from tests.helpers.live_server import HOST, Server, free_port, run
from tests.helpers.waiting import until

PACKAGE = Path(qkv.live.__file__).parent
TOKEN = "toy-token-of-this-test"
BASE = "/user/me/"


@contextmanager
def jupyter(root: Path, book: Path | str, log: Path, base: str = BASE) -> Iterator[Server]:
    """A plain `jupyter server`; that the extension is on stands in the package's own file."""
    port = free_port()
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"]
    command += [f"--port={port}", f"--ServerApp.base_url={base}", f"--ServerApp.root_dir={root}"]
    command += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    home = {"HOME": str(log.parent), "XDG_DATA_HOME": str(log.parent / "data")}
    home |= {"JUPYTER_CONFIG_PATH": str(PACKAGE), "QKV_BOOK": str(book)}
    with (
        log.open("w") as written,
        subprocess.Popen(
            command, cwd=root, env=os.environ | home, stdout=written, stderr=written, text=True
        ) as process,
    ):
        try:
            server = Server(process, port, base, TOKEN)
            until(lambda: answers(port) or process.poll(), log.read_text)  # its log says so before
            assert process.poll() is None, log.read_text()
            yield server
        finally:
            process.kill()


def answers(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex((HOST, port)) == 0


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hub")
    (root / "chapters").mkdir()
    (root / "book").mkdir()
    (root / "book" / "index.html").write_text("<title>Toy</title><script>go()</script>")
    return root


@pytest.fixture(scope="module")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("log") / "log"
    with jupyter(root, root / "book", log) as running:
        running.sign_in()
        yield running


def test_shows_the_book_under_its_base(server: Server) -> None:
    page = server.ask("book/")
    assert page.text.startswith("<title>Toy</title>")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self' blob:;" in policy, "no script that no build named"
    assert f"ws://{HOST}:{server.port}" in policy
    assert "sandbox" not in policy
    assert server.ask("book").headers["Location"] == f"{BASE}book/"
    assert server.ask(f"book/?token={TOKEN}").headers["Location"] == f"{BASE}book/"


def test_says_that_it_is_live(server: Server) -> None:
    given = server.ask("book/_live/server.json").json
    assert given.pop("xsrf")
    assert given == {
        "live": True,
        "base": BASE,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def test_a_page_has_its_kernel_there(server: Server, root: Path) -> None:
    line = server.socket(server.session("chapters/03.ipynb")["kernel"]["id"])
    assert run(line, "import os; print(os.getcwd())") == f"{root / 'chapters'}\n"
    line.close()


def test_changes_are_kept_there(server: Server) -> None:
    """Under the address of the hub, whose pages are not the book's alone, the server keeps them."""
    address = "book/_live/edits/chapters/03"
    assert server.ask(address, "PATCH", server.xsrf, {"a": "b"}).status == 204
    assert server.ask(address).json == {"edits": {"a": "b"}}
    assert server.ask(address, "PATCH", server.xsrf, {"a": "x" * 2**16}).status == 413
    assert server.ask(address, "PATCH", body={"a": None}).status == 403
    assert server.ask(address, signed_in=False).status == 403
    assert server.ask(address).json == {"edits": {"a": "b"}}


def test_who_is_not_signed_in_is_sent_to_that_servers_own_page(server: Server) -> None:
    answer = server.ask("book/", signed_in=False)
    assert answer.status == 302
    assert answer.headers["Location"].startswith(f"{BASE}login?next=")
    assert server.ask("book/_live/server.json", signed_in=False).status == 403
    assert server.ask("book/", headers={"Origin": "http://evil.example"}).status == 403


def test_leaves_that_server_its_own_services(server: Server) -> None:
    assert server.ask("api/contents").json["type"] == "directory"
    assert server.ask("api/config/notebook").status == 200


def test_a_large_notebook_is_saved_there(server: Server, root: Path) -> None:
    """The limits of the book's own server are not for a Jupyter in which people write."""
    content = {"cells": [], "metadata": {"large": "x" * 2**22}, "nbformat": 4, "nbformat_minor": 5}
    body = {"type": "notebook", "format": "json", "content": content}
    assert server.ask("api/contents/large.ipynb", "PUT", server.xsrf, body).status == 201
    assert (root / "large.ipynb").stat().st_size > 2**22


def test_a_chapter_saved_there_keeps_its_stored_form(server: Server, root: Path) -> None:
    """Also in a copy elsewhere; a notebook that Jupyter made is saved as it comes."""
    stored = normal_form(toy("0.12345678"))
    for name, before in (("chapter.ipynb", stored), ("own.ipynb", nbformat.writes(toy("1")))):
        (root / name).write_text(before, "utf-8")
        content = toy("0.12345679", {"execution": {"iopub.status.idle": "2026-01-01T00:00:00Z"}})
        body = {"type": "notebook", "format": "json", "content": content}
        assert server.ask(f"api/contents/{name}", "PUT", server.xsrf, body).status == 200
    assert (root / "chapter.ipynb").read_text("utf-8") == stored
    own = (root / "own.ipynb").read_text("utf-8")
    assert all(text in own for text in ("0.12345679", "2026-01-01", "3.11.7"))


def test_a_save_in_the_middle_of_a_run_loses_no_stored_form(server: Server, root: Path) -> None:
    """Jupyter saves by itself every two minutes; a cell that runs has no output then."""
    stored = normal_form(toy("0.12345678"))
    (root / "running.ipynb").write_text(stored, "utf-8")
    running, done = toy("0.12345679"), toy("0.12345679")
    running.cells[0].outputs = []
    for content in (running, done):
        body = {"type": "notebook", "format": "json", "content": content}
        assert server.ask("api/contents/running.ipynb", "PUT", server.xsrf, body).status == 200
    assert (root / "running.ipynb").read_text("utf-8") == stored


def test_what_a_cell_wrote_to_stderr_is_saved_too(server: Server, root: Path) -> None:
    (root / "warns.ipynb").write_text(normal_form(toy("1")), "utf-8")
    body = {"type": "notebook", "format": "json", "content": toy("2", stderr="careful\n")}
    assert server.ask("api/contents/warns.ipynb", "PUT", server.xsrf, body).status == 200
    saved = (root / "warns.ipynb").read_text("utf-8")
    assert "careful" in saved
    assert "3.11.7" not in saved


def toy(printed: str, metadata: Mapping[str, Any] | None = None, stderr: str = "") -> Any:
    """A notebook as JupyterLab sends it: with the Python's version, and text in pieces."""
    outputs = [new_output("stream", name="stdout", text=text) for text in ("loss ", printed)]
    outputs += [new_output("stream", name="stderr", text=stderr)] if stderr else []
    cell = new_code_cell("train()", id="toy-01", outputs=outputs, metadata=dict(metadata or {}))
    language = {"name": "python", "version": "3.11.7"}
    return new_notebook(cells=[cell], metadata={"language_info": language})


def test_a_jupyter_without_the_book_is_unharmed(tmp_path: Path) -> None:
    """It starts as ever, and says at the book's address what builds the book."""
    root, log = tmp_path / "empty", tmp_path / "log"
    root.mkdir()
    with jupyter(root, tmp_path / "none", log, base="/") as server:
        token = {"Authorization": f"token {TOKEN}"}
        assert server.ask("api/contents", headers=token).json["content"] == []
        answer = server.ask("book/", headers=token)
        assert answer.status == 404
        assert "make html builds it" in answer.text
        assert str(tmp_path / "none") in answer.text
        assert list(root.iterdir()) == []
    assert "qkv.live | extension was successfully loaded" in log.read_text()
    assert "Traceback" not in log.read_text()


def test_the_folder_is_named_or_beside_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the folder of the server, whose pages may be anybody's."""
    monkeypatch.delenv("QKV_BOOK", raising=False)
    monkeypatch.chdir("/")
    assert book_folder() == CHECKOUT / "_build" / "html"
    assert (CHECKOUT / "src" / "qkv" / "live").samefile(PACKAGE)
    monkeypatch.setenv("QKV_BOOK", "srv/../srv/book")
    assert book_folder() == Path("/srv/book")


def test_importing_it_loads_nothing() -> None:
    """Every Jupyter of the environment does, at its start."""
    code = (
        "import sys; old = set(sys.modules); import qkv.live; print(sorted(set(sys.modules) - old))"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert "'qkv.live'" in output
    for heavy in ("tornado", "jupyter_server", "numpy", "torch", "asyncio"):
        assert f"'{heavy}'" not in output


def test_what_an_installation_puts_where_jupyter_looks() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    files = project["tool"]["setuptools"]["data-files"]["etc/jupyter/jupyter_server_config.d"]
    assert [CHECKOUT / file for file in files] == list(PACKAGE.glob("jupyter_server_config.d/*"))


def test_an_editable_installation_brings_it_too(tmp_path: Path) -> None:
    """The kind of installation that `make` and Binder do."""
    pytest.importorskip("setuptools", minversion="77")
    copy = tmp_path / "copy"
    shutil.copytree(CHECKOUT / "src", copy / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(CHECKOUT / name, copy)
    code = f"from setuptools import build_meta; build_meta.build_editable({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("/etc/jupyter/jupyter_server_config.d/qkv.json") for name in held)
    (entries,) = [name for name in held if name.endswith("entry_points.txt")]
    assert "qkv = qkv.commands:main" in zipfile.ZipFile(wheel).read(entries).decode()
