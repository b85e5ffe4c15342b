"""Questions of letters on a page: pressed, judged, by keyboard, on a phone, on paper, live."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from qkv.exercises import check
from qkv.exercises.checks import check_choice, choices_of
from qkv.exercises.choices import VERDICTS_MIME, Letters, Number
from tests.browser.live import LivePage, Reader
from tests.browser.test_accessible import everywhere
from tests.browser.test_pages import PHONE
from tests.helpers.choices import CHAPTERS, CHOSEN, right_keys
from tests.helpers.waiting import view

PAGES = {path.stem[3:]: f"chapters/{path.stem}.html" for path in CHAPTERS}
MASKS, QUESTION = PAGES["masks"], "masks-3"
NOTE_EVENTS = """() => {
  window.judged = [];
  document.addEventListener("exercise-checked", ({ detail }) => window.judged.push(detail));
}"""

# As the pages of a book without solutions are, before a script of theirs runs.
WITHOUT_VERDICTS = """document.addEventListener("readystatechange", () => {
  for (const form of document.querySelectorAll("[data-verdicts]")) delete form.dataset.verdicts;
}, { once: true });"""


def page_with(name: str) -> str:
    return PAGES[name.rpartition("-")[0]]


@pytest.fixture
def masks(page: Page, book_url: str) -> Page:
    page.goto(f"{book_url}/{MASKS}")
    page.evaluate(NOTE_EVENTS)
    return page


def form_of(page: Page, name: str = QUESTION) -> Locator:
    return page.locator(f"form[data-exercise='{name}']")


def button(form: Locator, letter: str) -> Locator:
    return form.get_by_role("button", name=letter, exact=True)


def choose(form: Locator, name: str, keys: tuple[str, ...]) -> None:
    """Click until the form holds what the keys say."""
    for part, key, shown in zip(
        choices_of(name), keys, form.locator(".qkv-part").all(), strict=True
    ):
        if isinstance(part, Number):
            shown.get_by_role("spinbutton").fill(key)
        elif isinstance(part, Letters):
            for letter in part.letters:
                pressed = button(shown, letter).get_attribute("aria-pressed") == "true"
                if pressed != (letter in key):
                    button(shown, letter).click()
        else:
            for group, value in zip(shown.get_by_role("group").all(), key.split(","), strict=True):
                group.get_by_label(value, exact=True).click()


def verdict(form: Locator) -> str:
    expect(form.locator(".qkv-verdict")).to_be_visible()
    return form.get_by_role("status").inner_text().replace("\n", " ")


@pytest.mark.parametrize("address", dict.fromkeys(map(page_with, CHOSEN)))
def test_every_question_is_judged_in_the_words_of_python(
    address: str, page: Page, book_url: str
) -> None:
    """What is stored in the page is what Python says today; a wrong and the right choice say it."""
    page.goto(f"{book_url}/{address}")
    names = [name for name in CHOSEN if page_with(name) == address]
    expect(page.locator(".qkv-choices")).to_have_count(len(names))
    for name in names:
        form = form_of(page, name)
        stored = json.loads(form.get_attribute("data-verdicts") or "")
        assert {"exercise": name, **stored} == check(name)._repr_mimebundle_()[VERDICTS_MIME]
        wrong = tuple(max(part.every_key()) for part in choices_of(name))
        for keys in (wrong, right_keys(name)):
            choose(form, name, keys)
            expect(form.get_by_role("status")).to_be_empty()
            button(form, "Check").click()
            assert verdict(form) == repr(check_choice(name, keys))
        cell = page.locator(".cell", has=form)
        assert cell.locator(".cell_input").is_visible() == (name == "transformer-5")
        expect(cell.locator(".cell_output")).to_be_hidden()


def test_nothing_is_said_before_check_and_nothing_stays_beside_another_choice(masks: Page) -> None:
    form = form_of(masks)
    for letter in "AB":
        button(form, letter).click()
        expect(button(form, letter)).to_have_attribute("aria-pressed", "true")
        expect(form.get_by_role("status")).to_be_empty()
    button(form, "Check").click()
    assert verdict(form) == repr(check(QUESTION, "AB"))
    button(form, "B").click()
    expect(button(form, "B")).to_have_attribute("aria-pressed", "false")
    expect(form.get_by_role("status")).to_be_empty()
    button(form, "E").click()
    button(form, "Check").click()
    assert verdict(form) == repr(check(QUESTION, "AE"))
    assert masks.evaluate("window.judged") == [
        {"name": QUESTION, "state": "wrong"},
        {"name": QUESTION, "state": "right"},
    ]


def test_letters_by_keyboard(masks: Page) -> None:
    form, keyboard = form_of(masks), masks.keyboard
    button(form, "A").focus()
    for key in ("Space", "Tab", "Tab", "Tab", "Tab", "Enter", "Tab", "Enter"):
        keyboard.press(key)
    assert verdict(form) == repr(check(QUESTION, "AE"))
    expect(button(form, "Check")).to_be_focused()


def test_one_of_several_by_keyboard_and_none_can_be_left_out(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/{PAGES['results']}")
    page.evaluate(NOTE_EVENTS)
    form = form_of(page, "results-3")
    groups = form.locator(".qkv-values").all()
    button(form, "Check").click()
    expect(groups[0].get_by_label("Y")).to_be_focused()
    page.keyboard.press("Space")
    for group, arrow in zip(groups[1:], (1, 0, 1, 1), strict=True):
        button(form, "Check").press("Enter")
        expect(group.get_by_label("Y")).to_be_focused()
        expect(form.get_by_role("status")).to_be_empty()
        page.keyboard.press("ArrowRight" if arrow else "Space")
    assert page.evaluate("window.judged") == []
    button(form, "Check").press("Enter")
    assert verdict(form) == repr(check("results-3", "YNYNN"))


def test_a_number_beside_letters(page: Page, book_url: str) -> None:
    """Enter in its field checks; what is no weight with two decimals is not judged."""
    page.goto(f"{book_url}/{PAGES['start']}")
    form = form_of(page, "start-1")
    number = form.get_by_role("spinbutton")
    for letter in "AD":
        button(form, letter).click()
    for refused in ("", "0.535", "3"):
        number.fill(refused)
        number.press("Enter")
        assert number.evaluate("field => !field.validity.valid")
        expect(form.get_by_role("status")).to_be_empty()
    for said in ("0.07", "0.4", ".53"):
        number.fill(said)
        number.press("Enter")
        assert verdict(form) == repr(check("start-1", (float(said), "AD")))


@pytest.mark.parametrize("name", ["masks-3", "devices-2", "start-1", "cost-7"])
def test_on_a_phone_each_target_is_large_and_nothing_is_cut(
    name: str, page: Page, book_url: str
) -> None:
    view(page, PHONE)
    page.goto(f"{book_url}/{page_with(name)}")
    form = form_of(page, name)
    boxes = [e.bounding_box() for e in form.locator("button, label, [type=number]").all()]
    assert len(boxes) >= 6
    for box in boxes:
        assert box
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    assert form.evaluate("form => form.scrollWidth <= form.clientWidth")


def test_without_javascript_the_question_stands_with_its_cell(
    browser: Browser, book_url: str
) -> None:
    context = browser.new_context(base_url=book_url, java_script_enabled=False)
    page = context.new_page()
    page.goto(MASKS)
    as_in_the_notebook(page)
    context.close()


def test_on_paper_the_question_stands_with_its_cell(masks: Page) -> None:
    expect(form_of(masks)).to_be_visible()
    view(masks, media="print")
    as_in_the_notebook(masks)


def as_in_the_notebook(page: Page) -> None:
    cell = page.locator("#masks-51")
    expect(form_of(page)).to_be_hidden()
    expect(cell.locator(".cell_input")).to_contain_text("answer_3 = ...")
    expect(cell.locator(".cell_input")).to_be_visible()
    expect(cell.locator(".cell_output")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_pressed_is_seen_in_forced_colours(masks: Page, theme: Any) -> None:
    view(masks, forced_colors="active", color_scheme=theme)
    form = form_of(masks)
    button(form, "A").click()
    ground = "e => getComputedStyle(e).backgroundColor"
    assert button(form, "A").evaluate(ground) != button(form, "B").evaluate(ground)


@pytest.mark.parametrize("name", ["start-1", "devices-2"])
def test_axe_finds_nothing_on_a_form_that_is_filled_in_and_judged(
    name: str, browser: Browser, book_url: str
) -> None:
    context = browser.new_context(reduced_motion="reduce", base_url=book_url)
    page = context.new_page()
    page.goto(page_with(name))
    form = form_of(page, name)
    choose(form, name, right_keys(name))
    button(form, "Check").click()
    verdict(form)
    found = everywhere(page)
    context.close()
    assert not found, "\n".join(found)


SAYS_SO = """
import qkv.exercises.checks as checks
checks.check_choice = lambda name, keys: checks.Verdict(name, "wrong", f"asked {keys}", "So.")
"""


@pytest.fixture
def live_masks(reader: Reader) -> Iterator[LivePage]:
    live = reader.open(MASKS)
    live.page.evaluate(NOTE_EVENTS)
    yield live.start()
    live.leave_edits()


def test_with_live_code_the_buttons_ask_the_kernel(live_masks: LivePage) -> None:
    """Its cell is there too; without Python the stored words are back."""
    form = form_of(live_masks.page)
    expect(live_masks.page.locator("#masks-51 .cell_input")).to_be_visible()
    button(form, "A").click()
    button(form, "Check").click()
    assert verdict(form) == repr(check(QUESTION, "A"))
    live_masks.run(live_masks.plain()[0], SAYS_SO)
    button(form, "Check").click()
    expect(form.get_by_role("status")).to_have_text(f"✗ {QUESTION}: asked ['A']Hint: So.")
    live_masks.act("stop")
    live_masks.wait("off")
    button(form, "Check").click()
    expect(form.get_by_role("status")).to_contain_text("This choice is not right.")


def test_a_busy_kernel_keeps_nobody_waiting(live_masks: LivePage) -> None:
    live_masks.run_calmly(live_masks.plain()[0])
    form = form_of(live_masks.page)
    button(form, "A").click()
    button(form, "Check").click()
    assert verdict(form) == repr(check(QUESTION, "A"))
    live_masks.act("interrupt")
    live_masks.ends(live_masks.plain()[0], "done")


def test_what_check_says_of_an_answer_that_was_run_is_told_to_the_page(
    live_masks: LivePage,
) -> None:
    """Of code exercises too, and not what it says of a solution."""
    page = live_masks.page
    answered = {"masks-1": "masks-45", "masks-3": "masks-51"}
    cells = {name: cell_number(page, cell) for name, cell in answered.items()}
    solution = cell_number(page, "masks-52")
    set_up = "from qkv.exercises import check\n"
    live_masks.run(cells["masks-3"], f'{set_up}check("masks-3", "AE")')
    page.locator("#masks-52 > details").evaluate("fold => { fold.open = true; }")
    live_masks.run(solution)
    live_masks.run(cells["masks-1"], 'check("masks-1", 7)')
    live_masks.run(cells["masks-1"], 'check("masks-1", ...)')
    live_masks.run(cells["masks-3"], 'print(check("masks-3", "A"))\nprint("nothing: else")')
    assert page.evaluate("window.judged") == [
        {"name": "masks-3", "state": "right"},
        {"name": "masks-1", "state": "wrong"},
        {"name": "masks-1", "state": "open"},
        {"name": "masks-3", "state": "wrong"},
    ]


def cell_number(page: Page, anchor: str) -> int:
    return int(page.locator(f"#{anchor}").get_attribute("data-qkv-cell") or "")


def test_without_stored_verdicts_the_buttons_are_there_with_live_code_alone(
    reader: Reader,
) -> None:
    page = reader.context.new_page()
    page.add_init_script(WITHOUT_VERDICTS)
    page.goto(reader.link(MASKS))
    form = form_of(page)
    expect(form).to_be_hidden()
    expect(page.locator("#masks-51 .cell_input")).to_be_visible()
    live = LivePage(page).start()
    expect(form).to_be_visible()
    button(form, "A").click()
    button(form, "Check").click()
    assert verdict(form) == repr(check(QUESTION, "A"))
    live.act("stop")
    live.wait("off")
    button(form, "Check").click()
    expect(form.get_by_role("status")).to_contain_text("Press Live code")
