"""Every page of the built book, as a reader's browser sees it with no other host in reach."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from playwright.sync_api import Browser, BrowserContext, Page, expect

import qkv.numpy as qn
import qkv.torch as qt
from qkv.language import ENGLISH
from tests.browser.conftest import BOOK, LARGE, Watch
from tests.browser.editions import language_of, looked_at
from tests.helpers.waiting import after_frames, after_timers, view

ROOT = Path(__file__).parents[2]
PHONE = {"width": 375, "height": 800}
UNSET_FORMULA = re.compile(r"\$[^$\n]+\$|\\\(|\\\[|\\(?:frac|sqrt|begin|operatorname)\b")
MARKDOWN = (
    MarkdownIt("commonmark")
    .use(dollarmath_plugin, allow_labels=True, double_inline=True)
    .use(amsmath_plugin)
    .enable("table")
)
# What a screen reader would announce, as the browser computes it for the accessibility tree.
NAMELESS = """() => {
  const name = (e) => e.getAttribute("aria-label") || e.title || e.textContent.trim()
    || [...(e.labels ?? [])].map((l) => l.textContent.trim()).join(" ")
    || (e.getAttribute("aria-labelledby") ?? "").split(" ")
         .map((id) => document.getElementById(id)?.textContent ?? "").join("").trim()
    || [...e.querySelectorAll("img")].map((i) => i.alt).join("");
  return [...document.querySelectorAll("a[href], button, input, select, summary, [role=button]")]
    .filter((e) => e.checkVisibility() && !name(e)).map((e) => e.outerHTML.slice(0, 200));
}"""


class Opened(NamedTuple):
    page: Page
    name: str  # its address in the book


def built_pages() -> list[str]:
    """Pages of the book by address; the front door only sends on to the first of them."""
    pages = [page.relative_to(BOOK).as_posix() for page in BOOK.rglob("*.html")]
    return looked_at(p for p in pages if p != "index.html" and not p.startswith("_"))


def with_source() -> list[str]:
    return [page for page in built_pages() if source_of(page).exists()]


def source_of(page: str) -> Path:
    language, name = language_of(page), Path(page)
    if language != ENGLISH:  # its pages around the chapters are stored as catalogues
        name = Path("chapters", language, name.name)
    source = ROOT / name
    notebook = source.with_suffix(".ipynb")
    return notebook if notebook.exists() else source.with_suffix(".md")


def formulas_in(source: Path) -> int:
    """Formulas of a page's Markdown, counted by a parser that knows nothing of the book's build."""
    texts = [source.read_text(encoding="utf-8")]
    if source.suffix == ".ipynb":
        cells = json.loads(texts[0])["cells"]
        texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    return sum(count_formulas(text) for text in texts)


def count_formulas(text: str) -> int:
    count = 0
    for token in MARKDOWN.parse(text):
        if token.type == "fence" and token.info.startswith("{glossary}"):
            count += count_formulas(re.sub(r"(?m)^ +", "", token.content))
        for one in [token, *(token.children or [])]:
            count += one.type.startswith(("math_", "amsmath"))
    return count


@pytest.fixture(scope="module", params=built_pages() or ["the book is not built"])
def opened(request: pytest.FixtureRequest, browser: Browser, book_url: str) -> Iterator[Opened]:
    """A page of the book, opened once for all that is asked of it at the width of a desk."""
    context, watch = browser.new_context(**LARGE), Watch(book_url)
    context.on("page", watch.follow)
    page = context.new_page()
    page.goto(f"{book_url}/{request.param}")
    after_frames(page)  # its explorers are drawn
    yield Opened(page, request.param)
    context.close()
    watch.check()


def test_a_page_is_whole(opened: Opened) -> None:
    """One title, a language, alt texts, names for the hand and the ear, formulas set."""
    page, name = opened
    assert page.locator("html").get_attribute("lang") == language_of(name)
    assert page.locator("h1:visible").count() == 1
    assert page.locator("img:not([alt]), img[alt='']").count() == 0
    assert page.evaluate(NAMELESS) == []
    assert page.locator(".katex-error, .problematic").count() == 0
    text = page.evaluate(
        """() => { const copy = document.querySelector("main").cloneNode(true);
          copy.querySelectorAll("script, style, pre, code, .katex").forEach((e) => e.remove());
          return copy.textContent; }"""
    )
    assert not UNSET_FORMULA.findall(text)
    if name in with_source():
        on_page = page.locator("article .math > .katex, article .math .qkv-formula").count()
        assert on_page == formulas_in(source_of(name))
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


# What sticks out of the window.
WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("main *")]
    .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
    .map((e) => e.tagName + "." + e.className).slice(0, 8)"""
# In each heading "Exercise attention-1 · By hand"; a browser would break it at its hyphen.
NAMES = "article section[id^='exercise-'] > h3 .qkv-nowrap"
LINES = "all => all.map((e) => e.getClientRects().length)"


@pytest.mark.parametrize("name", built_pages())
def test_a_page_works_from_the_disk_and_fits_a_phone(
    browser: Browser, book: Path, name: str
) -> None:
    """With every fold open; the name of an exercise stays on one line."""
    context, watch = browser.new_context(viewport=PHONE, color_scheme="dark"), Watch("file://")
    context.on("page", watch.follow)
    page = context.new_page()
    page.goto((book / name).as_uri())
    expect(page.locator("h1:visible")).to_have_count(1)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    names = page.locator(NAMES)
    assert names.count() == page.locator("article section[id^='exercise-'] > h3").count()
    for width in (375, 320):
        view(page, {"width": width, "height": 800})
        wide = page.evaluate(WIDE)
        assert not wide, f"wider than {width} px: {wide}"
        assert set(names.evaluate_all(LINES)) <= {1}
    text = page.locator("main").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    assert text >= 15
    context.close()
    watch.check()


def test_exercises_are_found_by_their_names(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/chapters/05_masks.html")
    assert page.locator(NAMES).count() > 3


# Text that holds Hangul and that a screen reader would take for another language. What KaTeX keeps
# of a formula's source is for the clipboard.
NOT_KOREAN = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const around = text.parentElement;
    if (!/\\p{Script=Hangul}/u.test(text.data)) continue;
    if (around.closest("script, style, annotation, noscript")) continue;
    if (around.closest("[lang]").getAttribute("lang") !== "ko") found.push(text.data);
  }
  return found;
}"""


def test_hangul_is_marked_as_korean(opened: Opened) -> None:
    page, name = opened
    assert page.evaluate(NOT_KOREAN) == []
    strangers = "all => all.map((e) => e.textContent).filter((t) => !/\\p{Script=Hangul}/u.test(t))"
    assert page.locator("[lang=ko]").evaluate_all(strangers) == []
    if name == "book/glossary.html":
        assert page.locator("[lang=ko]").count() > 40


def test_the_library_page_says_what_each_public_name_does(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/book/library.html")
    said = page.locator("dl.py > dt[id]").evaluate_all(
        "all => all.map((e) => [e.id, e.nextElementSibling.textContent.trim()])"
    )
    public = {f"{room.__name__}.{name}" for room in (qn, qt) for name in room.__all__}
    assert public <= {name for name, words in said if words}


def test_the_front_door_opens_the_book(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/")
    page.wait_for_url("**/book/index.html")
    expect(page.locator("h1:visible")).to_contain_text("The Runnable Transformer")


def test_roles_have_their_colour_in_both_themes(browser: Browser, book_url: str) -> None:
    seen = {}
    for theme in ("light", "dark"):
        context = browser.new_context(color_scheme=theme)
        page = context.new_page()
        page.goto(f"{book_url}/book/notation.html")
        seen[theme] = [
            page.locator(f".katex .qkv-{role}").first.evaluate("e => getComputedStyle(e).color")
            for role in ("query", "key", "value", "output")
        ]
        context.close()
    assert len(set(seen["light"] + seen["dark"])) == 8


def test_the_theme_button_goes_round(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/book/index.html")
    modes = []
    for _ in range(3):
        page.locator(".theme-switch-button:visible").click()
        modes.append(page.locator("html").get_attribute("data-mode"))
        icon = page.locator(".theme-switch-button:visible .theme-switch:visible")
        expect(icon).to_have_count(1)
        assert "url(" in icon.evaluate("e => getComputedStyle(e).maskImage")
    assert sorted(modes) == ["auto", "dark", "light"]
    assert modes[-1] == "auto", "auto is where a reader starts"


@pytest.mark.parametrize("from_disk", [False, True], ids=["http", "disk"])
def test_search_finds_softmax(
    context: BrowserContext, book: Path, book_url: str, from_disk: bool
) -> None:
    page = context.new_page()
    page.goto(f"{book.as_uri() if from_disk else book_url}/book/index.html")
    page.keyboard.press("Control+k")
    page.locator("#search-input:focus").fill("softmax")
    page.keyboard.press("Enter")
    results = page.locator("ul.search li a")
    expect(results.filter(has_text="Why")).not_to_have_count(0)
    results.first.click()
    page.wait_for_url(re.compile(r"/(book|chapters)/\w+\.html"))
    expect(page.locator("h1:visible")).to_have_count(1)


def test_excerpts_hold_formulas_as_one_would_type_them(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/search.html?q=softmax")
    result = page.locator("ul.search li").filter(has_text="The Runnable Transformer")
    expect(result.locator(".context")).to_contain_text("softmax⁡ ⁣(QK^⊤/√d_k)V")
    expect(page.locator(".search-summary")).to_contain_text("finished")
    texts = page.locator("ul.search .context").all_text_contents()
    assert not [text for text in texts if re.search(r"\\[a-z]+|d_kd|Print to PDF", text)]


@pytest.mark.parametrize("word", ["constructor", "__proto__", "toString", "hasOwnProperty"])
def test_a_word_of_the_language_is_searched_for_like_any_other(
    word: str, page: Page, book_url: str
) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{book_url}/search.html?q={word}")
    expect(page.locator(".search-summary")).to_contain_text("did not match any documents")
    assert "undefined" not in page.locator("#search-results").inner_text()
    assert errors == []


def test_marks_stand_on_the_result_alone(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/search.html?q=softmax")
    expect(page.locator(".search-summary")).to_contain_text("finished")
    page.locator("ul.search li a[href*='05_masks']").first.click()
    page.wait_for_url(re.compile(r"/05_masks\.html"))
    expect(page.locator(".highlighted").first).to_be_attached()
    page.go_back()
    expect(page.locator(".search-summary")).to_contain_text("finished")
    page.locator(".bd-sidebar-primary a[href*='05_masks']").click()
    page.wait_for_url("**/05_masks.html")
    page.wait_for_load_state()
    after_timers(page, 20)  # Sphinx marks a little later than the text is there
    expect(page.locator(".highlighted")).to_have_count(0)


def test_the_keyboard_reaches_the_text(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/book/index.html")
    page.keyboard.press("Tab")
    skip = page.locator("#pst-skip-link a")
    expect(skip).to_be_focused()
    # It slides in; where it would stay outside, this waits in vain.
    page.wait_for_function("a => a.getBoundingClientRect().y >= 0", arg=skip.element_handle())
    page.keyboard.press("Enter")
    after_frames(page)
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('article > section')"), "the toolbar"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_menus_open_and_sidebars_fold(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/chapters/05_masks.html")
    page.get_by_label("Download this page").click()
    expect(page.locator(".dropdown-menu.show a", has_text=".ipynb")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("button.primary-toggle:visible").click()
    expect(page.locator(".bd-sidebar-primary")).not_to_be_in_viewport()


def test_folds_open_by_keyboard(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/chapters/05_masks.html")
    fold = page.locator("article details").first
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(fold).to_have_attribute("open", "")
    solution = page.locator("details.qkv-collapsible summary", has_text="Solution").first
    solution.click()
    expect(solution.locator("..").locator("pre").first).to_be_visible()
