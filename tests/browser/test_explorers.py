"""Every explorer of the book: each control through all its values, each pair at its corners.

A page is opened once for all tests of its explorers, and put back to its start before each.
"""

import base64
import functools
import itertools
import json
import re
import threading
from http.server import ThreadingHTTPServer

import pytest
from ipywidgets import Widget

from qkv.explore import Bars, explore
from qkv.explore.framework.bundle import plain_script, style_sheet
from qkv.explore.framework.ranges import is_numeric
from qkv.language import using_language
from qkv.notebooks.widget_state import STATE_MIME, VIEW_MIME, normalize_notebook
from tests.browser.choices import press_every_button
from tests.browser.conftest import BOOK
from tests.browser.editions import looked_at
from tests.browser.shown import AS_TEXT, compare, snapshot
from tests.browser.web_server import QuietHandler
from tests.helpers.explorers import (
    CHAPTERS,
    explorers_in_chapter,
    explorers_of,
    function_of,
)
from tests.helpers.waiting import WAIT_SECONDS, view

LOADS = "explorers.js"
EXPLORER, PLAYGROUND = (f".qkv-explore:has(.qkv-{kind})" for kind in ("explorer", "playground"))
STILL = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}


def pages_of(book):
    """Addresses of the pages that hold an explorer, relative to the book."""
    pages = [path for path in sorted(book.rglob("*.html")) if LOADS in path.read_text("utf-8")]
    return looked_at(path.relative_to(book).as_posix() for path in pages)


MOVE = f"""(box, moves) => {{
  const controls = box.querySelector(".qkv-controls").children;
  for (const [i, place] of moves) {{
    const buttons = controls[i].querySelectorAll("input[type=radio]");
    if (buttons.length) {{
      buttons[place].click();
      continue;
    }}
    const slider = controls[i].querySelector("input[type=range]");
    slider.value = place;
    slider.dispatchEvent(new Event("input"));
  }}
  return ({AS_TEXT})(box.querySelector(".qkv-explorer"));
}}"""


class OnPage:
    """One explorer on a page: its axes from the state stored there, its controls, its picture."""

    def __init__(self, page, index, states):
        self.page = page
        self.box = page.locator(EXPLORER).nth(index)
        self.root = self.box.locator(".qkv-explorer")
        self.function = function_of(self.root.get_attribute("data-source"))
        self.language = page.locator("html").get_attribute("lang")
        title = self.box.get_attribute("aria-label")
        self.state = next(state for state in states if state["title"] == title)
        self.axes = self.state["axes"]
        self.controls = self.box.locator(".qkv-controls > *")
        self.opened = snapshot(self.root)

    def move(self, places):
        """Put the controls of {axis: place} there, as a hand would, and return what is shown."""
        names = [axis["name"] for axis in self.axes]
        moves = [[names.index(name), place] for name, place in places.items()]
        return json.loads(self.box.evaluate(MOVE, moves))

    def fn(self, **values):
        """What its function returns, in the language of the page."""
        with using_language(self.language):
            return self.function(**values)

    def start(self):
        return {axis["name"]: int(self.state[f"i_{axis['name']}"]) for axis in self.axes}

    def sliders(self):
        """(axis, its slider) for every axis of numbers; the others have buttons."""
        for i, axis in enumerate(self.axes):
            if is_numeric(axis["values"]):
                yield axis, self.controls.nth(i).locator("input[type=range]")

    def values(self, places):
        return {a["name"]: a["values"][places[a["name"]]] for a in self.axes}

    def check(self, places, dark=False):
        shown, values = self.move(places), self.values(places)
        assert shown["values"] == values
        for axis in self.axes:
            assert f"{axis['label']} {axis['texts'][places[axis['name']]]}" in shown["live"]
        compare(shown, self.fn(**values), dark)


def stored_on(page):
    texts = page.locator(f'script[type="{STATE_MIME}"]').all_text_contents()
    return [state for text in texts for state in explorers_of(json.loads(text)["state"])]


def explorers_on(page):
    page.wait_for_selector(".qkv-explore[aria-label] [data-panel]")
    views = page.locator(f'script[type="{VIEW_MIME}"]').count()
    explorers, playgrounds = (page.locator(kind).count() for kind in (EXPLORER, PLAYGROUND))
    assert explorers + playgrounds == views
    for box in page.locator(EXPLORER).all():
        box.locator("[data-panel]").first.wait_for()
    states = stored_on(page)
    return [OnPage(page, i, states) for i in range(explorers)]


def one_by_one(axes, start):
    """Every value of each control, the others as at the start."""
    for axis in axes:
        for place in range(len(axis["values"])):
            yield {**start, axis["name"]: place}


def settings(axes, start):
    """… and every pair of controls at its four corners."""
    yield from one_by_one(axes, start)
    ends = {axis["name"]: len(axis["values"]) - 1 for axis in axes}
    for one, two in itertools.combinations(ends, 2):
        for a, b in itertools.product((0, ends[one]), (0, ends[two])):
            yield {**start, one: a, two: b}


@pytest.fixture
def still(browser, book_url):
    """A page without motion, so that a colour read is a colour reached."""
    context = browser.new_context(**STILL)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module", params=pages_of(BOOK))
def opened(request, browser, book_url):
    """A page with explorers, and these."""
    context = browser.new_context(**STILL)
    page = context.new_page()
    page.goto(f"{book_url}/{request.param}")
    yield page, explorers_on(page)
    context.close()


@pytest.fixture
def explorers(opened):
    """The explorers of a page, each at its start."""
    page, found = opened
    view(page, STILL["viewport"])
    show_in(page, "light")
    page.mouse.move(0, 0)  # away from any picture, which would lose its selection as the page moves
    for explorer in found:
        explorer.move(explorer.start())
    return found


def show_in(page, theme):
    view(page, color_scheme=theme, reduced_motion="reduce")
    page.locator(f"html[data-theme={theme}]").wait_for()


def test_every_page_with_an_explorer_is_opened(book):
    assert pages_of(book), "no page of the book has an explorer"
    for notebook in CHAPTERS:
        assert bool(explorers_in_chapter(notebook)) == (
            f"chapters/{notebook.stem}.html" in pages_of(book)
        )


def test_every_position_shows_what_the_function_returns(explorers):
    for explorer in explorers:
        for places in settings(explorer.axes, explorer.start()):
            explorer.check(places)


def test_the_dark_theme_turns_the_scale_round(explorers):
    for explorer in explorers:
        show_in(explorer.page, "dark")
        for places in one_by_one(explorer.axes, explorer.start()):
            explorer.check(places, dark=True)


def test_an_explorer_is_drawn_while_the_rest_of_its_page_is_still_sent(browser, book):
    """The server keeps what stands behind the first explorer until it is drawn."""
    path = "chapters/04_scaling.html"
    text = (book / path).read_bytes()
    first = text.index(b"</noscript>", text.index(VIEW_MIME.encode())) + len(b"</noscript>")
    drawn = threading.Event()

    class Slow(QuietHandler):
        def do_GET(self):
            if not self.path.endswith(path):
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text[:first])
            self.wfile.flush()
            drawn.wait(WAIT_SECONDS)
            self.wfile.write(text[first:])

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Slow, directory=str(book)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = browser.new_page(**STILL)
    page.goto(f"http://127.0.0.1:{server.server_port}/{path}", wait_until="commit")
    page.wait_for_selector(".qkv-explore[aria-label] [data-panel]")
    assert page.evaluate("document.readyState") == "loading"
    drawn.set()
    page.wait_for_load_state()
    assert len(explorers_on(page)) == text.count(VIEW_MIME.encode())
    page.close()
    server.shutdown()


def test_an_explorer_opens_at_its_start(explorers):
    for explorer in explorers:
        compare(explorer.opened, explorer.fn(**explorer.values(explorer.start())))


def test_from_a_file(still, book):
    path = pages_of(book)[0]
    problems = []
    still.on("pageerror", lambda error: problems.append(str(error)))
    still.goto((book / path).as_uri())
    for explorer in explorers_on(still):
        start = explorer.start()
        for place in range(len(explorer.axes[0]["values"])):
            explorer.check({**start, explorer.axes[0]["name"]: place})
    assert not problems


def test_controls_have_names_values_and_room(explorers):
    for explorer in explorers:
        assert explorer.box.get_attribute("role") == "group"
        assert explorer.box.get_attribute("aria-label") == explorer.state["title"]
        start = explorer.start()
        for axis, slider in explorer.sliders():
            assert slider.evaluate("e => e.labels[0].textContent") == axis["label"]
            assert slider.get_attribute("aria-valuetext") == axis["texts"][start[axis["name"]]]
            assert slider.bounding_box()["height"] >= 24
        for i in range(explorer.controls.count()):
            for control in explorer.controls.nth(i).locator("input").all():
                assert control.get_attribute("data-lm-suppress-shortcuts") == "true"
        assert explorer.box.locator(".qkv-kernel-inputs").is_hidden()


def test_arrow_keys_move_sliders(explorers):
    for explorer in explorers:
        for axis, slider in explorer.sliders():
            places = explorer.start()
            explorer.move(places)
            slider.focus()
            back = places[axis["name"]] > 0
            slider.press("ArrowLeft" if back else "ArrowRight")
            places[axis["name"]] += -1 if back else 1
            said = axis["texts"][places[axis["name"]]]
            assert slider.get_attribute("aria-valuetext") == said
            shown = snapshot(explorer.root)
            compare(shown, explorer.fn(**explorer.values(places)))


def test_every_button_is_pressed_by_mouse_and_by_keyboard(explorers):
    for explorer in explorers:
        press_every_button(explorer.box, explorer.fn, explorer.axes)


def test_every_button_is_pressed_on_a_phone(explorers):
    for explorer in explorers:
        view(explorer.page, {"width": 375, "height": 700})
        press_every_button(explorer.box, explorer.fn, explorer.axes, keyboard=False)


# A button's ground and letters, and the border that parts it from the card.
LOOKS = """(buttons) => buttons.map((e) => {
  const { color, backgroundColor, borderColor } = getComputedStyle(e);
  return [e.querySelector("input").checked, color, backgroundColor, borderColor].join(" ");
})"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_one_button_of_a_choice_looks_pressed(explorers, theme):
    looks = {True: set(), False: set()}
    for explorer in explorers:
        show_in(explorer.page, theme)
        for group in explorer.box.get_by_role("radiogroup").all():
            seen = group.locator("label").evaluate_all(LOOKS)
            pressed = [look for look in seen if look.startswith("true")]
            assert len(pressed) == 1
            looks[True] |= set(pressed)
            looks[False] |= set(seen) - set(pressed)
    if not looks[True]:
        return  # no choices on this page
    (pressed,), (loose,) = looks.values()
    assert pressed.partition(" ")[2] != loose.partition(" ")[2]


def heads_and_widths(d_k, n_heads):
    return {"sizes": Bars([d_k, n_heads], ["d_k", "heads"], limits=(0, 64))}


def open_alone(page, book, book_url, box):
    """Open a page of the book that shows this explorer in place of its own."""
    cell = {"outputs": [{"data": {VIEW_MIME: {"model_id": box.model_id}}}]}
    widgets = {STATE_MIME: Widget.get_manager_state()}
    notebook = normalize_notebook({"metadata": {"widgets": widgets}, "cells": [cell]})
    (output,) = notebook["cells"][0]["outputs"]
    scripts = {**notebook["metadata"]["widgets"], **output["data"]}
    path = pages_of(book)[0]
    text = (book / path).read_text("utf-8")
    for mime, content in scripts.items():
        script = f'<script type="{mime}">'
        first, *others = re.split(f"{re.escape(script)}.*?</script>", text, flags=re.DOTALL)
        text = (
            first
            + script
            + json.dumps(content).replace("</", "<\\/")
            + "</script>"
            + "".join(others)
        )
    page.route(f"**/{path}", lambda route: route.fulfill(body=text, content_type="text/html"))
    page.goto(f"{book_url}/{path}")
    (explorer,) = explorers_on(page)
    return explorer


def test_a_hand_on_the_follower_lets_go_of_the_switch(still, book, book_url):
    places_of_d_k = {1: 64, 2: 32, 4: 16}
    box = explore(
        heads_and_widths,
        title="Sizes of heads",
        hint="Move heads.",
        follow=("d_k", "n_heads", places_of_d_k),
        d_k=[8, 16, 32, 64],
        n_heads=[1, 2, 4],
    )
    explorer = open_alone(still, book, book_url, box)
    switch = explorer.controls.nth(len(explorer.axes)).locator("input[type=checkbox]")
    switch.check()
    for place, (heads, d_k) in enumerate(places_of_d_k.items()):
        shown = explorer.move({"n_heads": place})
        assert shown["values"] == {"d_k": d_k, "n_heads": heads}
        compare(shown, heads_and_widths(d_k, heads))
        assert switch.is_checked()
    shown = explorer.move({"d_k": 0})
    assert shown["values"] == {"d_k": 8, "n_heads": 4}
    assert not switch.is_checked()


def sizes(d_model, n_heads, d_k):
    return {"bars": Bars([d_model, n_heads, d_k], ["d_model", "n_heads", "d_k"])}


def test_a_follower_with_two_leaders_follows_each(still, book, book_url):
    models, heads = [8, 32, 128, 512], [1, 2, 4, 8]
    box = explore(
        sizes,
        title="Sizes of heads",
        hint="Move heads.",
        start={"d_model": 32, "n_heads": 2, "d_k": 16},
        follow=("d_k", ("d_model", "n_heads"), {(d, h): d // h for d in models for h in heads}),
        d_model=models,
        n_heads=heads,
        d_k=[2**n for n in range(10)],
    )
    explorer = open_alone(still, book, book_url, box)
    switch = explorer.controls.nth(len(explorer.axes)).locator("input[type=checkbox]")
    switch.check()
    for moved, values in (
        ({"n_heads": 3}, {"d_model": 32, "n_heads": 8, "d_k": 4}),
        ({"d_model": 3}, {"d_model": 512, "n_heads": 8, "d_k": 64}),
    ):
        shown = explorer.move(moved)
        assert shown["values"] == values
        compare(shown, sizes(**values))
        assert switch.is_checked()
    assert explorer.move({"d_k": 0})["values"] == {"d_model": 512, "n_heads": 8, "d_k": 1}
    assert not switch.is_checked()


def test_cells_are_read_by_keyboard_and_pointer(explorers):
    for explorer in explorers:
        panels = explorer.fn(**explorer.values(explorer.start()))
        for figure in explorer.root.locator("figure[data-kind=heatmap]").all():
            panel = panels[figure.get_attribute("data-panel")]
            picture, readout = figure.locator(".qkv-picture"), figure.locator(".qkv-readout")
            picture.focus()
            picture.press("Home")
            assert f"{panel.rows[0]} → {panel.columns[0]}: " in readout.text_content()
            picture.press("ArrowRight")
            assert f"{panel.rows[0]} → {panel.columns[1]}: " in readout.text_content()
            assert figure.locator(".qkv-across:visible").count()
            picture.press("Escape")
            assert readout.text_content() == ""
            row = min(1, len(panel.rows) - 1)
            cell = figure.locator(".qkv-cell rect").nth(row * len(panel.columns))
            cell.hover(force=True)
            assert f"{panel.rows[row]} → {panel.columns[0]}: " in readout.text_content()


def test_on_a_phone_nothing_is_wider_than_the_page(explorers):
    for explorer in explorers:
        page = explorer.page
        view(page, {"width": 375, "height": 700})
        for places in itertools.islice(settings(explorer.axes, explorer.start()), 0, None, 3):
            explorer.check(places)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        inner = explorer.box.locator(".qkv-controls").bounding_box()["width"]
        for _, slider in explorer.sliders():
            assert slider.bounding_box()["width"] == pytest.approx(inner, abs=1)


def test_a_widget_of_another_kind_says_so(still, book, book_url):
    path = pages_of(book)[0]

    def with_a_stranger(route):
        text = route.fetch().text()
        route.fulfill(
            body=text.replace('"SelectionSliderModel"', '"PlayModel"'), content_type="text/html"
        )

    still.route("**/*.html", with_a_stranger)
    still.goto(f"{book_url}/{path}")
    still.wait_for_selector(".qkv-explorer [data-panel]")
    assert "needs Jupyter (PlayModel)" in still.locator(".qkv-controls").first.text_content()


# An explorer on an empty page, with a Python that answers what is typed off the grid.
MOUNT = """async ([state, frames]) => {
  const bytes = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const heard = [];
  const model = {
    get: (key) => (key === "frames" ? bytes(frames) : state[key]),
    set() {}, save_changes() {}, off() {},
    on: (event, act) => { if (event === "msg:custom") heard.push(act); },
    send: async (message) => {
      for (const [content, buffers] of await ask(message)) {
        const views = buffers.map((text) => new DataView(bytes(text).buffer));
        for (const act of heard) act(content, views);
      }
    },
  };
  qkvExplore.render({ model, el: document.querySelector("#here") });
}"""


def mount(page, view):
    """Draw an explorer on the page, its kernel this process; returns its picture."""

    def ask(message):
        answers = []
        view.send = lambda content, buffers=(): answers.append((content, buffers))
        view._answer(view, message, [])
        return [(content, [base64.b64encode(b).decode() for b in bs]) for content, bs in answers]

    page.expose_function("ask", ask)
    page.set_content(f"<style>{style_sheet()}</style><div class=qkv-explore id=here></div>")
    page.add_script_tag(content=plain_script())
    state = {key: value for key, value in view.get_state().items() if type(value) is not bytes}
    page.evaluate(MOUNT, [state, base64.b64encode(view.frames).decode()])
    page.wait_for_selector(".qkv-kernel-inputs:not([hidden])")
    page.wait_for_selector(".qkv-explorer [data-panel]")
    return page.locator(".qkv-explorer")


def towers(height):
    return {"towers": Bars([height, -0.5, 1], ["x", "y", "z"], limits=(-1, 2))}


def test_a_bar_beyond_its_axis_is_broken_and_says_so(still):
    box = explore(towers, title="", hint="", ranges={"height": (-9, 9)}, height=[1, 2])
    root = mount(still, box.explorer)
    number, gaps = root.locator(".qkv-kernel-inputs input"), root.locator(".qkv-break")
    assert gaps.evaluate_all("gaps => gaps.map((gap) => gap.getAttribute('d'))") == ["", "", ""]
    for height, said in ((9, "9"), (-9, "−9")):
        number.fill(str(height))
        number.press("Enter")
        still.wait_for_selector(f".qkv-note:has-text('height {said}')")
        bar, gap = (
            node.bounding_box() for node in (root.locator(".qkv-bar rect").first, gaps.first)
        )
        assert gap["width"] > bar["width"], "from side to side, and a little further"
        assert bar["y"] < gap["y"] < gap["y"] + gap["height"] < bar["y"] + bar["height"]
        assert gaps.evaluate_all("gaps => gaps.slice(1).map((g) => g.getAttribute('d'))") == [
            "",
            "",
        ]
        assert root.locator(".qkv-amount").first.text_content() == said
        root.locator(".qkv-picture").focus()
        still.keyboard.press("Home")
        assert root.locator(".qkv-readout").text_content() == f"x: {said}, beyond the axis"
        still.keyboard.press("ArrowRight")
        assert root.locator(".qkv-readout").text_content() == "y: −0.5"


def test_a_value_out_of_range_is_refused_in_a_sentence(still):
    box = explore(towers, title="", hint="", height=[1, 3], labels={"height": "tower"})
    root = mount(still, box.explorer)
    number = root.locator(".qkv-kernel-inputs input")
    assert (number.get_attribute("min"), number.get_attribute("max")) == ("1", "3")
    before = snapshot(root)
    for wrong, said in (("2000000000", "2000000000"), ("-3", "−3"), ("1.5", "1.5")):
        number.fill(wrong)
        number.press("Enter")
        still.wait_for_selector(f".qkv-note:has-text('not {said}.')")
        shown = snapshot(root)
        assert shown["note"] == f"tower takes whole numbers from 1 to 3, not {said}."
        assert (shown["values"], shown["panels"]) == (before["values"], before["panels"])
    number.fill("2")
    number.press("Enter")
    still.wait_for_selector(".qkv-note:has-text('tower 2')")
    compare(snapshot(root), towers(2))
