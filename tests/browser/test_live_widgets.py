"""What live cells show beside text: explorers, Jupyter's widgets, figures, formulas, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from qkv.explore.framework.ranges import is_numeric
from tests.browser.choices import press_every_button
from tests.browser.live import CHAPTERS, CONTRAST, LivePage, Reader
from tests.browser.playground_page import translates
from tests.browser.shown import compare, snapshot
from tests.helpers.explorers import CHAPTERS as NOTEBOOKS
from tests.helpers.explorers import (
    CHOICES,
    PLAYGROUND,
    explorers_in_chapter,
    function_of,
    run_choices,
)
from tests.helpers.live_server import Server
from tests.helpers.waiting import until, view

ANSI = """
for code in (*range(30, 38), *range(90, 98)):
    print(f"\\x1b[{code}mcolour {code}\\x1b[0m")
for code in range(31, 38):
    print(f"\\x1b[1;{code}mbold {code}\\x1b[0m")
raise ValueError("an error on purpose")
"""
DISPLAY = "from IPython.display import HTML, Markdown, Math, display\n"
WIDGETS = """
import ipywidgets
source = ipywidgets.IntSlider(value=3, max=10, description="number")
square = ipywidgets.Label("9")
source.observe(lambda change: setattr(square, "value", str(change["new"] ** 2)), "value")
ipywidgets.VBox([source, square])
"""


def with_numbers() -> tuple[str, dict[str, Any]]:
    """The first chapter whose first explorer takes numbers off its grid, and that explorer."""
    for page, notebook in zip(CHAPTERS, NOTEBOOKS, strict=True):
        for state in explorers_in_chapter(notebook)[:1]:
            if any("range" in axis for axis in state["axes"]):
                return page, state
    pytest.fail("no chapter has an explorer that takes numbers off its grid")


def moved(root: Locator, before: Any) -> Any:
    """What is shown once a slider's move has arrived."""

    def other() -> Any:
        shown = snapshot(root)
        return shown if shown["values"] != before["values"] else None

    return until(other, "the slider moves nothing", page=root.page)


def drag(handle: Locator, right: int) -> None:
    handle.hover()  # once it stands still
    box = handle.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = handle.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + right, y, steps=8)
    mouse.up()


def test_an_explorer_lives(readers: Callable[..., Reader], live_server: Server) -> None:
    """Before its cell runs it is the stored one; then Python is behind it, off the grid too."""
    reader = readers(live_server, reduced_motion="reduce")  # a colour read is a colour reached
    page, state = with_numbers()
    fn = function_of(state["source"])
    live = reader.open(page).start()
    box = live.page.locator(f".qkv-explore[aria-label='{state['title']}']")
    cell = live.page.locator("[data-qkv-cell]").filter(has=box)
    n = int(cell.get_attribute("data-qkv-cell") or "")

    static = live.stored(n).locator(".qkv-explorer")
    static.scroll_into_view_if_needed()
    static.locator("[data-panel]").first.wait_for()
    before = snapshot(static)
    control = live.stored(n).locator(".qkv-controls input[type=range]").first
    for key in ("ArrowRight", "ArrowLeft"):
        control.press(key)
    control.press("ArrowLeft" if control.input_value() != "0" else "ArrowRight")
    shown = moved(static, before)
    compare(shown, fn(**shown["values"]))

    live.run_before(n)
    live.run(n)
    expect(live.stored(n)).to_be_hidden()
    root = live.output(n).locator(".qkv-explorer")
    root.scroll_into_view_if_needed()
    root.locator("[data-panel]").first.wait_for()
    first = snapshot(root)
    compare(first, fn(**first["values"]))

    handle = live.output(n).locator(".noUi-handle").first
    room = float(handle.evaluate("e => e.closest('.noUi-origin').getBoundingClientRect().left"))
    place = handle.get_attribute("aria-valuenow")
    drag(handle, 60 if room else -60)
    if handle.get_attribute("aria-valuenow") == place:  # it stood at its end
        drag(handle, -60)
    dragged = moved(root, first)
    compare(dragged, fn(**dragged["values"]))

    handle.focus()
    ends = [handle.get_attribute(f"aria-value{one}") for one in ("now", "max")]
    handle.press("ArrowLeft" if ends[0] == ends[1] else "ArrowRight")
    by_key = moved(root, dragged)
    compare(by_key, fn(**by_key["values"]))
    slid = next(a for a in state["axes"] if is_numeric(a["values"]))
    said = slid["texts"][slid["values"].index(by_key["values"][slid["name"]])]
    expect(handle).to_have_attribute("aria-label", slid["label"])
    expect(handle).to_have_attribute("aria-valuetext", said)

    axis = next(a for a in state["axes"] if any(type(v) is int for v in a["values"]))
    off_grid = next(i for i in range(2, 1000) if i not in axis["values"])
    number = root.locator(f".qkv-kernel-inputs input[data-axis={axis['name']}]")
    number.fill(str(off_grid))
    number.press("Enter")
    note = root.locator(".qkv-note:not(:empty)")
    expect(note).to_contain_text(f"{axis['label']} {off_grid}")
    computed = snapshot(root)
    wanted = {**by_key["values"], axis["name"]: off_grid}
    assert computed["values"] == wanted
    compare(computed, fn(**wanted))


def test_choices_are_buttons_in_a_live_cell(live: LivePage) -> None:
    chosen, state = run_choices()
    output = live.run(live.plain()[0], CHOICES)
    box = output.locator(".qkv-explore[aria-label='Choices']")
    box.locator("[data-panel]").first.wait_for()
    press_every_button(box, chosen, state["axes"])


def test_a_playground_translates_in_a_live_cell(live: LivePage) -> None:
    """On a page that holds no model of its own: the kernel sends it."""
    output = live.run(live.plain()[0], PLAYGROUND)
    assert live.page.evaluate("typeof qkvModel") == "undefined"
    field = output.get_by_role("combobox")
    field.fill("The cat sat on the mat")
    field.press("Enter")
    translates(output.locator(".qkv-playground"))


def test_a_slider_s_callback_runs_in_python(live: LivePage) -> None:
    first = live.plain()[0]
    output = live.run(first, WIDGETS)
    expect(output.get_by_text("number")).to_be_visible()
    label = output.locator(
        ".widget-vbox > .widget-label, .widget-vbox > .jupyter-widget-label"
    ).last
    expect(label).to_have_text("9")
    handle = output.locator(".noUi-handle")
    handle.focus()
    handle.press("ArrowRight")
    expect(label).to_have_text("16")
    drag(handle, 900)
    expect(label).to_have_text("100")
    assert live.prints(live.plain()[1], "print(source.value)") == "10"


def test_a_widget_s_cell_run_twice_shows_one(live: LivePage) -> None:
    first = live.plain()[0]
    live.run(first, WIDGETS)
    output = live.run(first)
    expect(output.locator(".noUi-handle")).to_have_count(1)


def test_a_figure_has_its_words(live: LivePage) -> None:
    """The stored ones as long as the code is the same."""
    figure = live.page.locator("[data-qkv-cell]").filter(
        has=live.page.locator(".cell_output img[alt]")
    )
    n = int(figure.first.get_attribute("data-qkv-cell") or "")
    stored = live.stored(n).locator("img").get_attribute("alt")
    live.run_before(n)
    image = live.run(n).locator("img")
    expect(image).to_have_attribute("alt", stored or "")
    drawn = "i => i.complete && i.naturalWidth > 100"
    until(lambda: image.evaluate(drawn), "the picture is not drawn", page=live.page)
    for fold in live.cell(n).locator("summary").all():
        fold.click()
    words = live.run(n, live.text(n) + "\nax.set_title('new')").locator("img").get_attribute("alt")
    assert words
    assert words != stored


def test_formulas_are_set(live: LivePage) -> None:
    first, second = live.plain()[:2]
    output = live.run(first, f"{DISPLAY}display(Math(r'\\frac{{Q}}{{\\sqrt{{d_k}}}}'))")
    expect(output.locator(".katex .mfrac")).to_have_count(1)
    expect(output.locator("math")).to_have_count(1)
    assert "\\frac" not in output.inner_text()
    output = live.run(
        second, "Markdown('So **bold**, $d_k$ and $$\\\\sum_i w_i$$ cost 5 dollars.')"
    )
    expect(output.locator(".katex")).to_have_count(2)
    expect(output.locator(".katex-display")).to_have_count(1)
    expect(output.locator("strong")).to_have_text("bold")
    assert "$" not in output.inner_text()


def test_dollars_in_printed_text_stay(live: LivePage) -> None:
    first, second = live.plain()[:2]
    assert live.prints(first, "print('$5 or $6')") == "$5 or $6"
    formula = live.run(second, f"{DISPLAY}display(Math('d_k'))")
    expect(formula.locator(".katex")).to_have_count(1)  # by then the other would be set too
    assert live.output(first).locator(".katex").count() == 0


def test_html_from_a_kernel_runs_no_script(
    started: tuple[Reader, LivePage], live: LivePage
) -> None:
    """The page's policy stands against it, and says so; the rest is shown."""
    started[0].forgive("violates the following Content Security Policy directive")
    first = live.plain()[0]
    html = "<p>shown</p><img src=data:, onerror='window.bad = 1'><script>window.bad = 2</script>"
    output = live.run(first, f"{DISPLAY}display(HTML({html!r}))")
    expect(output).to_contain_text("shown")
    refused = started[0].watch.errors
    until(lambda: len(refused) == 2, f"a script and a handler: {refused}", page=live.page)
    assert live.page.evaluate("window.bad") is None


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_error_is_readable(live: LivePage, theme: Any) -> None:
    """Type, message and line; every colour of a traceback with enough contrast."""
    view(live.page, color_scheme=theme)
    first = live.plain()[0]
    output = live.run(first, ANSI, state="error")
    expect(output).to_contain_text("ValueError: an error on purpose")
    expect(output).to_contain_text("Traceback")
    assert "\x1b" not in output.inner_text()
    expect(live.message).to_contain_text("an error on purpose")
    expect(live.note(first)).to_have_text("error", use_inner_text=True)
    parts = output.locator("pre, pre *")
    pale = [part for part in parts.evaluate_all(CONTRAST) if part[2] < 4.5]
    view(live.page, color_scheme="light")
    assert not pale, pale
    assert parts.count() > 20, "the colours are gone"
