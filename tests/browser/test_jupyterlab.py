"""A chapter in JupyterLab, run from top to bottom: its explorer moves, and the kernel computes."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from tests.browser.live import CHAPTER
from tests.browser.shown import SNAPSHOT, compare
from tests.explorers import CHAPTERS, explorers_in_chapter, function_of

PATIENCE = 90_000  # ms; a cold kernel on a busy machine


def chapter_with_numbers():
    """The first chapter whose first explorer has a slider over numbers."""
    for path in CHAPTERS:
        for state in explorers_in_chapter(path)[:1]:
            if any(
                isinstance(v, int) and v is not True for a in state["axes"] for v in a["values"]
            ):
                return path, state
    pytest.fail("no chapter has an explorer with a numeric axis")


@pytest.fixture
def jupyterlab(tmp_path):
    """The address of a JupyterLab of its own, with a copy of one chapter in it."""
    path, _ = chapter_with_numbers()
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(path, work)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    places = ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    home = {name: str(tmp_path / name.lower()) for name in (*places, "JUPYTER_RUNTIME_DIR")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1"]
    options = [f"--port={port}", f"--ServerApp.root_dir={work}", "--allow-root"]
    options += [f"--IdentityProvider.token={token}", "--LabApp.expose_app_in_browser=True"]
    # By default cells out of sight are not in the page at all.
    notebook = tmp_path / "jupyterlab_settings_dir" / "@jupyterlab" / "notebook-extension"
    notebook.mkdir(parents=True)
    (notebook / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, *options], env={**os.environ, **home}, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/api?token={token}", server, tmp_path / "log")
        yield f"http://127.0.0.1:{port}/lab/tree/{path.name}?token={token}"
    finally:
        server.terminate()
        server.wait(20)


def wait_for(url, server, log):
    for _ in range(240):
        if server.poll() is not None:
            pytest.fail(f"JupyterLab ended at its start:\n{log.read_text()}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.25)
    pytest.fail(f"JupyterLab did not answer:\n{log.read_text()}")


def test_an_explorer_lives_in_jupyterlab(browser, jupyterlab):
    _, state = chapter_with_numbers()
    fn = function_of(state["source"])
    context = browser.new_context(viewport={"width": 1300, "height": 1000}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(jupyterlab)
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    # The status bar says so once the kernel is there to run anything.
    page.wait_for_selector(".jp-StatusBar-TextItem:has-text('Idle')")
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells').then(() => null)")

    box = page.locator(f".qkv-explore[aria-label='{state['title']}']")
    root = box.locator(".qkv-explorer")
    box.scroll_into_view_if_needed()
    root.locator("[data-panel]").first.wait_for()
    page.wait_for_function(
        "root => root.querySelector('.qkv-kernel:not([hidden])')", arg=root.element_handle()
    )

    before = root.evaluate(SNAPSHOT)
    compare(before, fn(**before["values"]))
    moved = by_keyboard(page, box, root, before)
    compare(moved, fn(**moved["values"]))
    assert moved["panels"] != before["panels"]

    axis = next(
        a for a in state["axes"] if isinstance(a["values"][-1], int) and a["values"][-1] is not True
    )
    number = root.locator(f".qkv-kernel input[data-axis={axis['name']}]")
    off_grid = next(n for n in range(2, 1000) if n not in axis["values"])
    number.fill(str(off_grid))
    number.press("Enter")
    wanted = {**moved["values"], axis["name"]: off_grid}
    note = root.locator(".qkv-note:not(:empty)")  # the kernel's answer, or its error
    note.wait_for()
    assert f"{axis['label']} {off_grid}" in note.text_content()
    computed = root.evaluate(SNAPSHOT)
    assert computed["values"] == wanted
    compare(computed, fn(**wanted))
    context.close()


def by_keyboard(page, box, root, before):
    """Move the first slider one place with an arrow key, and wait for its picture."""
    handle = box.locator(".noUi-handle").first
    handle.focus()
    for key in ("ArrowRight", "ArrowLeft"):  # one of them has room
        handle.press(key)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            shown = root.evaluate(SNAPSHOT)
            if shown["values"] != before["values"]:
                return shown
            page.wait_for_timeout(100)
    pytest.fail("the arrow keys moved nothing: JupyterLab may have taken them")


def test_the_book_s_cells_live_beside_jupyterlab(jupyterlab, readers, live_server):
    """Both set cookies for one host: in one browser, before and after the button is pressed."""
    reader = readers(live_server)
    reader.watch.home = "http://127.0.0.1:"
    before = reader.open(CHAPTER).start()
    lab = reader.context.new_page()
    lab.set_default_timeout(PATIENCE)
    lab.goto(jupyterlab)
    lab.wait_for_selector(".jp-Notebook .jp-Cell")
    kept = {cookie["name"]: cookie["path"] for cookie in reader.context.cookies()}
    assert kept["_xsrf"] == "/", "JupyterLab does not do what this test is for"
    reader.watch.errors.clear()  # what JupyterLab writes is its own
    lab.close()
    reader.forgive("jupyterlab", "Comm not found", "Connection lost, reconnecting")
    assert before.prints(before.plain()[0], "print(6 * 7)") == "42"
    before.act("restart")
    before.wait("ready", "started afresh")
    after = reader.open(CHAPTER).start()
    assert after.prints(after.plain()[0], "print(6 * 7)") == "42"
    after.act("stop")
    after.wait("off")
