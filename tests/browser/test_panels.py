"""Points, trees and diagrams on a page: numbers, keyboard, pointer, phone, both themes."""

import pytest

from qkv.explore import Scatter, Table, explore
from tests.browser.axe import violations
from tests.browser.computing import computing
from tests.browser.shown import compare, snapshot
from tests.browser.test_explorers import STILL, mount, open_alone, settings
from tests.helpers.panels import MIXES, WIDTHS, every_panel
from tests.helpers.waiting import view

PHONE = {"width": 375, "height": 700}


def make_box(**changes):
    start = {"width": 2, "mix": 0.5}
    axes = {"width": WIDTHS, "mix": MIXES}
    return explore(every_panel, title="Panels", hint="Move mix.", start=start, **axes, **changes)


@pytest.fixture(scope="module")
def page(browser, book_url):
    context = browser.new_context(**STILL)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def opened(page, book, book_url):
    """The explorer on a page of the book, opened once."""
    return open_alone(page, book, book_url, make_box())


@pytest.fixture
def explorer(opened, page):
    view(page, STILL["viewport"], color_scheme="light", reduced_motion="reduce")
    page.mouse.move(0, 0)  # away from any picture, which would lose its selection as the page moves
    opened.move(opened.start())
    return opened


def panel(explorer, name):
    figure = explorer.root.locator(f"figure[data-panel={name}]")
    return figure.locator(".qkv-picture"), figure.locator(".qkv-readout"), figure


def press(picture, *keys):
    picture.focus()
    for key in keys:
        picture.press(key)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_every_position_shows_what_the_function_returns(explorer, page, width, theme):
    view(page, {"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce")
    for places in settings(explorer.axes, explorer.start()):
        explorer.check(places, dark=theme == "dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_points_are_walked_in_order(explorer):
    picture, readout, _ = panel(explorer, "words")
    press(picture, "ArrowRight")
    assert readout.text_content() == "cat (noun): (0.19, 0.43), from (0.30, 0.70)"
    press(picture, "ArrowRight", "ArrowRight")
    assert readout.text_content().startswith("Eiffel (name): (")
    press(picture, "End")
    assert readout.text_content().startswith("river (noun): (")
    explorer.move({"mix": 0})
    assert readout.text_content() == "river (noun): (−0.60, −0.10), from (−0.60, −0.10)"
    press(picture, "Escape")
    assert readout.text_content() == ""


def test_arrows_say_their_length_and_angle(explorer):
    picture, readout, figure = panel(explorer, "clocks")
    press(picture, "Home", "ArrowDown")
    assert readout.text_content() == "b · hand: (0.83, 0.56), length 1.00, angle 34°"
    box = figure.locator(".qkv-plane").nth(3).bounding_box()
    explorer.page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 0.5 * box["height"])
    assert readout.text_content().startswith("d · hand: (1.00, 0.01)")


def vectors(far):
    return {"p": Scatter([[0.3 + far, 0.7]], ["q"], groups=["query"], arrows=True, limits=(-2, 2))}


def test_beyond_its_axes_a_point_says_so(browser):
    context = browser.new_context(**STILL)
    box = explore(vectors, title="", hint="", far=[0.0, 9.0])
    root = mount(context.new_page(), box.explorer)
    press(root.locator(".qkv-picture"), "Home")
    assert root.locator(".qkv-readout").text_content() == (
        "q (query): (0.30, 0.70), length 0.76, angle 67°"
    )
    number = root.locator(".qkv-kernel-inputs input")
    number.fill("8")
    number.press("Enter")
    root.locator(".qkv-note:has-text('8')").wait_for()
    press(root.locator(".qkv-picture"), "Home")
    assert root.locator(".qkv-readout").text_content().endswith(", beyond the axis")
    context.close()


def test_a_tree_is_walked_from_parent_to_child_and_among_siblings(explorer):
    picture, readout, figure = panel(explorer, "tree")
    said = []
    for key in ("Home", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowRight"):
        press(picture, key)
        said.append(readout.text_content())
    assert said == [
        "<s>",
        "<s> → cat: −1.17, kept",
        "<s> → dog: −2.17, pruned",
        "<s> → cat: −1.17, kept",
        "<s> → cat → cat: −2.17, kept",
        "<s> → cat → cat → cat: −3.17, finished",
    ]
    assert figure.locator(".qkv-node.qkv-path").count() == 4
    assert figure.locator(".qkv-edge.qkv-path").count() == 3
    press(picture, "ArrowLeft")
    assert readout.text_content() == said[4]
    press(picture, "End")
    assert readout.text_content() == "<s> → 어텐션: merged"
    figure.locator(".qkv-node").nth(2).hover(force=True)
    assert readout.text_content() == said[2]
    press(picture, "Escape")
    assert (readout.text_content(), figure.locator(".qkv-path").count()) == ("", 0)


def test_states_differ_in_line_and_mark_without_colour(explorer):
    _, _, figure = panel(explorer, "tree")
    looks = """(nodes) => nodes.map((node) => {
      const { strokeDasharray, strokeWidth } = getComputedStyle(node.querySelector("rect"));
      return [node.dataset.state, strokeDasharray, strokeWidth].join(" ");
    })"""
    seen = set(figure.locator(".qkv-node").evaluate_all(looks))
    lines = {one.partition(" ")[0]: one.partition(" ")[2] for one in seen}
    assert len(seen) == len(lines) == 4
    assert len(set(lines.values())) == 4


def test_a_diagram_is_walked_to_the_nearest_part(explorer):
    picture, readout, figure = panel(explorer, "diagram")
    said = []
    for key in ("Home", "ArrowUp", "ArrowUp", "ArrowRight", "ArrowUp"):
        press(picture, key)
        said.append(readout.text_content())
    assert said == [
        "x: (8, 10, 128) · the input",
        "x → W_K: (B, T, 128) · one row a token",
        "W_K: 8,192 (level 0.25)",
        "W_V: 8,192",
        "W_V → scaled dot-product attention: (v)",
    ]
    assert figure.locator(".qkv-on").count() == 1
    widths = """(parts) => parts.map((part) => [part.matches(".qkv-on"),
      parseFloat(getComputedStyle(part.querySelector("rect, .qkv-wire")).strokeWidth)])"""
    drawn = figure.locator(".qkv-part").evaluate_all(widths)
    assert all((width >= 3) == chosen for chosen, width in drawn), drawn
    explorer.move({"width": 2})
    assert readout.text_content() == said[4]
    press(picture, "Escape")
    assert (readout.text_content(), figure.locator(".qkv-on").count()) == ("", 0)


def test_every_part_of_a_diagram_is_reached(explorer):
    picture, readout, figure = panel(explorer, "diagram")
    reached = {None}
    press(picture, "Home")
    for _ in range(figure.locator(".qkv-part").count()):
        reached.add(readout.text_content())
        press(picture, "PageDown")
    assert len(reached - {None}) == figure.locator(".qkv-part").count()
    for part in figure.locator(".qkv-box rect, .qkv-surround rect").all():
        part.hover(position={"x": 6, "y": 6}, force=True)
        assert part.evaluate("e => e.parentNode.matches('.qkv-on')")
    figure.locator(".qkv-link .qkv-wire").nth(1).hover(force=True)
    assert readout.text_content().startswith("x → W_K")


def test_the_picture_stays_where_it_is_while_parts_are_pointed_at(explorer, page):
    view(page, PHONE)
    for name in ("tree", "diagram"):
        picture, readout, _ = panel(explorer, name)
        press(picture, "Escape")
        before = picture.evaluate("e => e.getBoundingClientRect().top + scrollY")
        tops = []
        for _ in range(8):
            press(picture, "ArrowRight" if name == "tree" else "PageDown")
            assert readout.text_content()
            tops.append(picture.evaluate("e => e.getBoundingClientRect().top + scrollY"))
        assert tops == pytest.approx([before] * 8, abs=0.5)


def test_a_wide_picture_scrolls_inside_itself_to_the_chosen_part(explorer, page):
    view(page, PHONE)
    explorer.move({"width": 2})
    picture, _, figure = panel(explorer, "tree")
    press(picture, "Home", "ArrowRight", "ArrowRight", "ArrowRight")
    chosen, body = (
        node.bounding_box() for node in (figure.locator(".qkv-on"), figure.locator(".qkv-body"))
    )
    assert body["x"] - 1 <= chosen["x"]
    assert chosen["x"] + chosen["width"] <= body["x"] + body["width"] + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_pictures_say_in_words_what_they_show(explorer):
    said = [
        panel(explorer, name)[0].get_attribute("aria-label")
        for name in ("words", "clocks", "tree", "diagram")
    ]
    assert said[0].startswith("words: 7 points; cat (noun): (0.19, 0.43)")
    assert said[1].startswith("clocks: 5 × 1 points; a · hand: (")
    assert said[2] == "tree: 11 nodes; largest <s> → cat: −1.17, kept"
    assert said[3].startswith("diagram: 14 parts; x (8, 10, 128); W_Q 8,192; ")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(explorer, page, theme):
    for size in (PHONE, STILL["viewport"]):
        view(page, size, color_scheme=theme, reduced_motion="reduce")
        assert not violations(page)


def test_a_slider_s_move_is_drawn_within_200_ms(explorer):
    times = []
    for place in (0, 1, 2, 1, 0):
        with computing(explorer.page) as took:
            explorer.root.evaluate(
                """(root, place) => {
                  const slider =
                    root.closest(".qkv-explore").querySelectorAll("input[type=range]")[1];
                  slider.value = place;
                  slider.dispatchEvent(new Event("input"));
                  root.getBoundingClientRect();
                }""",
                place,
            )
        times.append(took.seconds)
    assert sorted(times)[2] < 0.2, times


def test_the_widget_with_a_kernel_draws_the_same(browser):
    context = browser.new_context(**STILL)
    root = mount(context.new_page(), make_box().explorer)
    shown = snapshot(root)
    compare(shown, every_panel(2, 0.5))
    number = root.locator(".qkv-kernel-inputs input[data-axis=mix]")
    number.fill("0.3")
    number.press("Enter")
    root.locator(".qkv-note:has-text('mix 0.3')").wait_for()
    compare(snapshot(root), every_panel(2, 0.3))
    context.close()


def korean_table(n):
    return {"t": Table(["best first", "tokens"], [["선생님이 의사를 만날 것이다 " * n, f"{n}"]])}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_a_table_breaks_korean_between_words_alone(browser, theme):
    context = browser.new_context(**{**STILL, "viewport": PHONE, "color_scheme": theme})
    box = explore(korean_table, title="", hint="", n=[3, 5])
    root = mount(context.new_page(), box.explorer)
    lines = """(cell) => {
      const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      const heights = [];
      while (text.nextNode())
      for (const { index, 0: word } of text.currentNode.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(text.currentNode, index);
        range.setEnd(text.currentNode, index + word.length);
        heights.push(range.getClientRects().length);
      }
      return heights;
    }"""
    cell = root.locator("td").first
    cell.wait_for()  # drawn once the width is known
    assert cell.evaluate(lines) == [1] * 12
    context.close()
