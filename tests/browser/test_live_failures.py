"""Live cells without what they need: the bar says what is the matter and what to do about it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect

from tests.browser.conftest import Watch
from tests.browser.live import CHAPTER, NO_ANSWER, UNANSWERED, LivePage, Reader, sessions
from tests.helpers.live_server import Server, kernels, serving
from tests.helpers.waiting import WAIT_SECONDS, until

# What jupyterlab's services write when their socket closes.
SOCKET = r"Connection lost|reconnecting|Kernel: "


@pytest.fixture
def private() -> Iterator[str]:
    """A folder for what a killed server cannot clear away; short, as its sockets' paths must be."""
    folder = tempfile.mkdtemp(prefix="qkv-test-")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def mortal(book: Path, private: str) -> Iterator[Server]:
    """A server of this test alone."""
    with serving(book, data=private, env=os.environ | {"TMPDIR": private}) as server:
        yield server


@contextmanager
def without_an_answer(live: LivePage) -> Iterator[None]:
    """While this is open, the page asks in vain whether its server is there, and stays lost."""
    held: list[Route] = []
    address = "**/_live/server.json"
    live.page.route(address, lambda route: held.append(route))
    yield
    live.page.unroute(address)
    for route in held:
        route.continue_()


def test_a_killed_server_is_told_and_a_new_one_on_its_port(
    readers: Callable[..., Reader], mortal: Server, book: Path, private: str
) -> None:
    reader = readers(mortal)
    reader.forgive(NO_ANSWER, SOCKET, UNANSWERED, "404|403")
    live = reader.open().start()
    first, second = live.plain()[:2]
    assert live.prints(first, "print('before')") == "before"
    kept = f"book/_live/edits/{CHAPTER.removesuffix('.html')}"
    until(lambda: mortal.ask(kept).json["edits"], "the edit is not kept")
    children = kernels(mortal.process)
    with without_an_answer(live):
        mortal.process.send_signal(signal.SIGKILL)
        mortal.process.wait(WAIT_SECONDS)
        live.wait("lost", "lost")
        live.cell(second).locator(".qkv-run").click()  # nobody is there to run it
    live.wait("failed", "make serve")
    expect(live.message).to_contain_text("open the link that it prints")
    live.ends(second, "lost")
    assert live.text(first) == "print('before')"
    expect(live.output(first)).to_have_text("before")
    expect(live.button).to_be_enabled()

    live.press()  # nothing answers
    live.wait("failed", "make serve")
    port = str(mortal.port)
    with serving(book, "--port", port, data=private, env=os.environ | {"TMPDIR": private}) as anew:
        live.press()
        live.wait("failed", "started anew")
        expect(live.message).to_contain_text("Open the link that it printed last")
        live.page.close()
        reader.watch.homes = [anew.origin]
        page = reader.context.new_page()
        page.goto(anew.link(CHAPTER))
        again = LivePage(page).start()
        assert again.text(first) == "print('before')", "the edits are lost"
        assert again.prints(first, "print('after')") == "after"
    until(lambda: not any(k.is_running() for k in children), "the dead server's kernel lives on")


def test_a_server_that_ends_while_a_cell_runs(
    readers: Callable[..., Reader], mortal: Server
) -> None:
    """As by Ctrl-C in its terminal."""
    reader = readers(mortal)
    reader.forgive(NO_ANSWER, SOCKET, UNANSWERED, "404|403")
    live = reader.open().start()
    first = live.plain()[0]
    live.run_calmly(first)
    mortal.process.send_signal(signal.SIGINT)
    live.wait("failed")
    expect(live.message).to_contain_text(re.compile("make serve|Press Live code"))
    live.ends(first, "lost")
    expect(live.cell(first)).to_contain_text("not finished")


def test_stop_without_a_server_leaves_a_way_to_start(
    readers: Callable[..., Reader], mortal: Server
) -> None:
    reader = readers(mortal)
    reader.forgive(NO_ANSWER, SOCKET, UNANSWERED, "Failed to fetch")
    live = reader.open().start()
    with without_an_answer(live):
        mortal.process.send_signal(signal.SIGKILL)
        mortal.process.wait(WAIT_SECONDS)
        live.wait("lost", "lost")
        live.act("stop")
    live.wait("failed", "Press Live code")
    live.press()
    live.wait("failed", "make serve")


def test_a_connection_that_breaks_comes_back_to_the_same_kernel(reader: Reader) -> None:
    """As after a laptop's sleep."""
    reader.forgive(SOCKET, UNANSWERED)
    live = LivePage(reader.context.new_page())
    sockets: list[WebSocketRoute] = []

    def between(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    live.page.route_web_socket(re.compile("/channels"), between)
    live.page.goto(reader.link())
    live.start()
    first, second = live.plain()[:2]
    live.run(first, "kept = 1")
    before = len(sockets)
    sockets[-1].close(code=1011)
    until(lambda: len(sockets) > before, "it does not connect again", page=live.page)
    live.wait("ready")
    assert live.prints(second, "print(kept)") == "1"


def test_a_cell_that_ends_while_the_connection_is_broken_is_told_of(reader: Reader) -> None:
    reader.forgive(SOCKET, UNANSWERED)
    live = LivePage(reader.context.new_page())
    sockets: list[WebSocketRoute] = []

    def between(socket: WebSocketRoute) -> None:
        if len(sockets) == 1 and kernel_of(reader)["execution_state"] == "busy":
            socket.close(code=1011)  # not yet
            return
        socket.connect_to_server()
        sockets.append(socket)

    live.page.route_web_socket(re.compile("/channels"), between)
    live.page.goto(reader.link())
    live.start()
    first, second = live.plain()[:2]
    code = "import time\nfor i in range(9):\n    print('line', i, flush=True)\n    time.sleep(0.2)"
    live.write(first, code)
    live.cell(first).locator(".qkv-run").click()
    expect(live.output(first)).to_contain_text("line 0")
    sockets[0].close(code=1011)
    live.ends(first, "done")
    expect(live.output(first)).to_contain_text("line 8")
    live.wait("ready")
    assert live.prints(second, "print('next')") == "next"


def kernel_of(reader: Reader) -> Any:
    """The kernel of the page that this reader has opened; others' may be ending still."""
    own = CHAPTER.replace(".html", ".ipynb")
    (kernel,) = (s["kernel"] for s in sessions(reader.server) if s["path"] == own)
    return kernel


def test_a_plain_web_server_has_no_python(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/{CHAPTER}")
    live = LivePage(page)
    live.press()
    live.wait("failed", "no Python behind it")
    expect(live.message).to_contain_text("make serve")
    expect(live.message.locator("a")).to_have_count(0)
    expect(page.locator(".cell_output pre").first).to_be_visible()
    assert page.locator(".CodeMirror").count() == 0


def test_a_page_from_a_file_says_so(browser: Browser, book: Path) -> None:
    context = browser.new_context()
    watch = Watch("file://")
    context.on("page", watch.follow)
    page = context.new_page()
    page.goto((book / CHAPTER).as_uri())
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    live = LivePage(page)
    live.press()
    live.wait("failed", "opened from a file")
    expect(live.message).to_contain_text("make serve")
    assert not [url for url in asked if "/live" in url or not url.startswith("file:")]
    context.close()
    watch.check()


@pytest.mark.parametrize("how", ["refused", "broken off"])
def test_a_kernel_that_cannot_start(reader: Reader, how: str) -> None:
    reader.forgive("api/sessions", "status of 500", "ERR_FAILED", "could not start", "Error")
    live = reader.open()

    def fail(route: Route) -> None:
        if how == "refused":
            route.fulfill(status=500, json={"message": "No space left on device"})
        else:
            route.abort()

    live.page.route("**/api/sessions*", fail)
    live.press()
    live.wait("failed", "again")
    if how == "refused":
        expect(live.message).to_contain_text("No space left on device")
    live.page.unroute("**/api/sessions*")
    live.start()
    assert live.prints(live.plain()[0], "print('now')") == "now"


def test_a_kernel_that_dies_at_its_start(
    readers: Callable[..., Reader], book: Path, tmp_path: Path
) -> None:
    """As in an environment whose ipykernel is broken."""
    (tmp_path / "ipykernel_launcher.py").write_text("raise SystemExit('broken')")
    with serving(book, env=os.environ | {"PYTHONPATH": str(tmp_path)}) as server:
        reader = readers(server)
        reader.forgive(".")  # what the libraries say about it is theirs
        live = reader.open()
        live.press()
        expect(live.bar).to_have_attribute("data-state", "failed")
        expect(live.message).to_contain_text(re.compile("Python|kernel"))
        expect(live.message).to_contain_text(re.compile("Press Live code"))
        expect(live.button).to_be_enabled()


def test_a_page_for_which_there_is_no_kernel_left(
    readers: Callable[..., Reader], book: Path
) -> None:
    with serving(book, "--kernels", "1") as server:
        reader = readers(server)
        reader.forgive(".")  # the refusal, and a server that ends before its pages
        first = reader.open().start()
        second = reader.open("chapters/03_attention.html")
        second.press()
        second.wait("failed", "as many as qkv serve --kernels allows")
        expect(second.message).to_contain_text("press Stop on one of them")
        first.act("stop")
        first.wait("off")
        second.start()
        assert second.prints(second.plain()[0], "print('now')") == "now"


def test_an_editor_that_cannot_be_loaded(reader: Reader) -> None:
    reader.forgive("thebe/index.js", "status of 404", "could not be loaded", "Refused to execute")
    live = reader.open()
    live.page.route("**/thebe/index.js*", lambda route: route.fulfill(status=404))
    live.press()
    live.wait("failed", "could not be loaded")
    live.page.unroute("**/thebe/index.js*")
    live.start()
