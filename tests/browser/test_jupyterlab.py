"""A chapter in JupyterLab: run, moved, computed off the grid, saved, and opened again."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tests.book.test_book import build, lay_out
from tests.browser.choices import press_every_button
from tests.browser.live import CHAPTER
from tests.browser.playground_page import translates
from tests.browser.shown import compare, snapshot
from tests.browser.test_explorers import STILL, explorers_on
from tests.helpers.explorers import (
    CHAPTERS,
    CHOICES,
    PLAYGROUND,
    explorers_in_chapter,
    function_of,
    run_choices,
)
from tests.helpers.waiting import WAIT_SECONDS, until

# What a notebook's author may do from another cell; Jupyter then makes the buttons anew.
MOVE_CHOICES = 'box.children[2].children[0].value = "mat"'
BIN = Path(sys.executable).parent


def chapter_with_numbers():
    """The first chapter whose first explorer takes numbers off its grid."""
    for path in CHAPTERS:
        for state in explorers_in_chapter(path)[:1]:
            if any("range" in axis for axis in state["axes"]):
                return path, state
    pytest.fail("no chapter has an explorer that takes numbers off its grid")


@dataclass
class JupyterLab:
    """A JupyterLab of the test's own, as `jupyter lab FOLDER` starts it."""

    browser: object
    folder: Path
    port: int
    token: str

    def address(self, path):
        return f"http://127.0.0.1:{self.port}/{path}?token={self.token}"

    def open(self, path):
        """A page with the copy of a chapter in it, and a kernel that answers."""
        context = self.browser.new_context(
            viewport={"width": 1300, "height": 1000}, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(self.address(f"lab/tree/{path.name}"))
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        # The status bar says so once the kernel is there to run anything.
        page.wait_for_selector(".jp-StatusBar-TextItem:has-text('Idle')")
        return page

    def end_kernels(self):
        with urllib.request.urlopen(self.address("api/kernels"), timeout=WAIT_SECONDS) as answer:
            for kernel in json.load(answer):
                url = self.address(f"api/kernels/{kernel['id']}")
                urllib.request.urlopen(urllib.request.Request(url, method="DELETE")).close()


def execute(page, command):
    page.evaluate("command => jupyterapp.commands.execute(command).then(() => null)", command)


@pytest.fixture
def jupyterlab(tmp_path, browser):
    """Started as the README says, with copies of the chapters and none of the user's settings."""
    work = tmp_path / "chapters"
    work.mkdir()
    for path in CHAPTERS:
        shutil.copy(path, work)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    places = ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    places += ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    home = {name: str(tmp_path / name.lower()) for name in places}
    command = [BIN / "jupyter", "lab", work, "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    options = ["--allow-root", f"--IdentityProvider.token={token}"]
    options += ["--LabApp.expose_app_in_browser=True"]
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
        yield JupyterLab(browser, work, port, token)
    finally:
        server.terminate()
        server.wait(WAIT_SECONDS)


def wait_for(url, server, log):
    def answers():
        assert server.poll() is None, f"JupyterLab ended at its start:\n{log.read_text()}"
        try:
            with urllib.request.urlopen(url, timeout=WAIT_SECONDS):
                return True
        except OSError:
            return False

    until(answers, lambda: f"JupyterLab did not answer:\n{log.read_text()}")


def drawn(page, state):
    """An explorer's box and picture, once they are there."""
    box = page.locator(f".qkv-explore[aria-label='{state['title']}']")
    root = box.locator(".qkv-explorer")
    box.scroll_into_view_if_needed()
    root.locator("[data-panel]").first.wait_for()
    return box, root


def test_an_explorer_lives_in_jupyterlab(jupyterlab):
    path, state = chapter_with_numbers()
    fn = function_of(state["source"])
    page = jupyterlab.open(path)
    execute(page, "notebook:run-all-cells")
    box, root = drawn(page, state)
    page.wait_for_function(
        "root => root.querySelector('.qkv-kernel-inputs:not([hidden])')", arg=root.element_handle()
    )

    before = snapshot(root)
    compare(before, fn(**before["values"]))
    moved = by_keyboard(page, box, root, before)
    compare(moved, fn(**moved["values"]))
    assert moved["panels"] != before["panels"]

    axes = state["axes"]
    axis = next(a for a in axes if isinstance(a["values"][-1], int) and a["values"][-1] is not True)
    number = root.locator(f".qkv-kernel-inputs input[data-axis={axis['name']}]")
    off_grid = next(n for n in range(2, 1000) if n not in axis["values"])
    number.fill(str(off_grid))
    number.press("Enter")
    wanted = {**moved["values"], axis["name"]: off_grid}
    note = root.locator(".qkv-note")  # the kernel's answer, or its error
    expect(note).to_contain_text(f"{axis['label']} {off_grid}")
    computed = snapshot(root)
    assert computed["values"] == wanted
    compare(computed, fn(**wanted))
    until(lambda: readouts(box)[axis["label"]] == str(off_grid), "the readout stays", page=page)

    number.fill("2000000000")
    number.press("Enter")
    root.locator(".qkv-note", has_text="whole numbers from").wait_for()
    assert snapshot(root)["panels"] == computed["panels"]
    on_grid = by_keyboard(page, box, root, computed)  # the whole picture is on its sliders again
    compare(on_grid, fn(**on_grid["values"]))
    shown = {a["label"]: a["texts"][a["values"].index(on_grid["values"][a["name"]])] for a in axes}
    until(lambda: readouts(box).items() <= shown.items(), "the readouts stay", page=page)
    page.context.close()


def test_a_chapter_saved_in_jupyterlab_keeps_its_sliders(browser, jupyterlab, tmp_path):
    """Opened again without its kernel, and in the book; not a byte of its file has changed."""
    path = max(CHAPTERS, key=lambda path: len(explorers_in_chapter(path)))
    states = explorers_in_chapter(path)
    saved = jupyterlab.folder / path.name
    written = saved.stat().st_mtime_ns
    page = jupyterlab.open(path)
    for state in states:  # nobody has run it here, so JupyterLab does not trust its outputs
        said = f"Explorer, “{state['title']}”: run this cell in Jupyter"
        expect(page.locator(".jp-OutputArea-output", has_text=said)).to_have_count(1)
    execute(page, "notebook:run-all-cells")
    for state in states:
        drawn(page, state)
    execute(page, "docmanager:save-all")  # it returns when it has saved
    page.context.close()
    assert saved.stat().st_mtime_ns > written
    assert saved.read_text("utf-8") == path.read_text("utf-8")

    jupyterlab.end_kernels()
    page = jupyterlab.open(path)
    for state in states:
        box, root = drawn(page, state)
        before = snapshot(root)
        moved = by_keyboard(page, box, root, before)
        compare(moved, function_of(state["source"])(**moved["values"]))
        assert moved["panels"] != before["panels"]
    page.context.close()

    folder = tmp_path / "book"
    folder.mkdir()
    lay_out(folder)
    notebook = nbformat.read(saved, as_version=4)
    # Without the text: it links to chapters that this book does not have.
    notebook.cells = [c for n, c in enumerate(notebook.cells) if n == 0 or c.cell_type == "code"]
    nbformat.write(notebook, folder / "chapters" / "tiny.ipynb")
    built = build(folder)
    assert built.returncode == 0, built.stderr
    page = browser.new_context(**STILL).new_page()
    page.goto((folder / "_build" / "html" / "chapters" / "tiny.html").as_uri())
    found = explorers_on(page)
    assert [explorer.state["title"] for explorer in found] == [s["title"] for s in states]
    for explorer in found:
        explorer.check(explorer.start())
        explorer.check(dict.fromkeys(explorer.start(), 0))
    page.context.close()


def at_mat(shown):
    return shown if shown["values"]["word"] == "mat" else None


def test_choices_are_buttons_in_jupyterlab(jupyterlab):
    """By mouse and by keyboard; and wherever the kernel puts them."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code) for code in (CHOICES, MOVE_CHOICES)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    path = jupyterlab.folder / "choices.ipynb"
    nbformat.write(notebook, path)
    page = jupyterlab.open(path)
    execute(page, "notebook:run-all-cells")
    chosen, state = run_choices()
    box, root = drawn(page, state)
    words = box.get_by_role("radiogroup", name="word").get_by_role("radio")
    expect(words.nth(2)).to_be_checked()
    moved = until(lambda: at_mat(snapshot(root)), "the picture stays", page=page)
    compare(moved, chosen(**moved["values"]))
    press_every_button(box, chosen, state["axes"])
    page.context.close()


def test_a_question_of_letters_is_a_cell_in_jupyterlab(jupyterlab):
    """What is stored for the page, with the verdict, does not take its place."""
    page = jupyterlab.open(next(path for path in CHAPTERS if path.stem == "05_masks"))
    cell = page.locator(".jp-CodeCell", has_text='check("masks-3", answer_3)')
    expect(cell.locator(".jp-OutputArea-output")).to_have_count(1)
    expect(cell.locator(".jp-OutputArea-output .qkv-verdict")).to_have_text(
        "○ masks-3: not answered yet."
    )
    page.context.close()


def test_a_playground_translates_in_jupyterlab(jupyterlab):
    """The kernel sends the model, and JupyterLab leaves the box its keys."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(PLAYGROUND)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    path = jupyterlab.folder / "playground.ipynb"
    nbformat.write(notebook, path)
    page = jupyterlab.open(path)
    execute(page, "notebook:run-all-cells")
    field = page.get_by_role("combobox", name="An English sentence")
    field.click()
    page.keyboard.type("The cat sat on the mat")
    field.press("Enter")
    translates(page.locator(".qkv-playground"))
    page.context.close()


def test_attention_maps_show_themselves_in_jupyterlab(jupyterlab):
    """Twice the same sentence: each view answers for itself, in the theme that is chosen."""
    code = "from qkv.pretrained import pretrained; pretrained().attention('The cat sat on the mat')"
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code) for _ in range(2)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    path = jupyterlab.folder / "maps.ipynb"
    nbformat.write(notebook, path)
    page = jupyterlab.open(path)
    execute(page, "notebook:run-all-cells")
    views = page.locator(".jp-OutputArea-output .qkv-attention:has(> template)")
    first, second = (views.nth(n).locator("#queries button") for n in range(2))
    second.first.wait_for()
    second.first.press("ArrowRight")
    for buttons, pressed in ((first, 0), (second, 1)):
        expect(buttons).to_have_text(["고양이가", "매트", "위에", "앉았다", "<eos>"])
        expect(buttons.nth(pressed)).to_have_attribute("aria-pressed", "true")
    for theme, light, ground in (
        ("JupyterLab Light", "true", "rgb(252, 252, 254)"),
        ("JupyterLab Dark", "false", "rgb(20, 22, 31)"),
    ):
        page.evaluate(
            "theme => jupyterapp.commands.execute('apputils:change-theme', {theme}).then(() => 0)",
            theme,
        )
        page.wait_for_selector(f"body[data-jp-theme-light={light}]", state="attached")
        expect(views.first.locator(".view:not(.still)")).to_have_css("background-color", ground)
    page.context.close()


def test_a_box_of_the_map_opens_the_notebook_beside_it(jupyterlab):
    path = next(path for path in CHAPTERS if path.stem == "01_start")
    page = jupyterlab.open(path)
    execute(page, "notebook:run-all-cells")
    links = page.locator("figure[data-panel=map] a.qkv-box")
    links.first.wait_for()
    link = links.filter(has_text="3 · query")
    assert link.get_attribute("href") == "03_attention.ipynb"
    link.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/03_attention.ipynb"))
    page.get_by_role("tab", name="03_attention.ipynb").wait_for()


def readouts(box):
    """{label: the number that stands beside it} of every slider."""
    sliders = box.locator(".qkv-controls .widget-slider")
    labels = sliders.locator(".widget-label").all_text_contents()
    return dict(zip(labels, sliders.locator(".widget-readout").all_text_contents(), strict=True))


def by_keyboard(page, box, root, before):
    """Move the first slider, or choice, one place with an arrow key, and wait for its picture."""
    handles = box.locator(".noUi-handle")
    handle = handles.first if handles.count() else box.locator("input[type=radio]:checked").first
    # Buttons go round; a slider's handle tells where it ends.
    place, last = (handle.get_attribute(f"aria-value{one}") for one in ("now", "max"))
    handle.press("ArrowLeft" if place and place == last else "ArrowRight")

    def moved():
        shown = snapshot(root)
        return shown if shown["values"] != before["values"] else None

    words = "the arrow key moved nothing: JupyterLab may have taken it"
    return until(moved, words, page=page)


def test_the_book_s_cells_live_beside_jupyterlab(jupyterlab, readers, live_server):
    """In one browser, before and after the button is pressed; each has a host for its cookies."""
    reader = readers(live_server)
    reader.watch.homes.append(f"http://127.0.0.1:{jupyterlab.port}/")
    before = reader.open(CHAPTER).start()
    lab = reader.context.new_page()
    lab.goto(jupyterlab.address(f"lab/tree/{CHAPTERS[0].name}"))
    lab.wait_for_selector(".jp-Notebook .jp-Cell")
    hosts = {cookie["domain"] for cookie in reader.context.cookies()}
    assert hosts == {"127.0.0.1", live_server.name}
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
