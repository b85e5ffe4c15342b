"""Decks of slides in a browser: everything fits, can be read, answers, and is the book's own."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.conftest import Watch
from tests.helpers.waiting import until
from tools.slides.__main__ import MOST_SLIDES, ROOT, build

ALL = sorted(path.stem for path in ROOT.glob("chapters/[0-9][0-9]_*.ipynb"))
ALWAYS = {"03_attention", "05_masks", "06_multi_head"}
DECKS = [pytest.param(d, marks=[] if d in ALWAYS else pytest.mark.release) for d in ALL]
SCREEN = {"viewport": {"width": 1280, "height": 720}}
LEAST = 28  # px
LEAST_MOVED = 16  # where an explorer was moved to a table that is longer than its slide

GO_TO = """(n) => {
  const slide = Reveal.getSlides()[n];
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v ?? 0);
  for (const step of slide.querySelectorAll(".fragment")) step.classList.add("visible");
}"""
FITTED = """() => [...Reveal.getCurrentSlide().querySelectorAll(".qkv-explorer")]
  .every((explorer) => explorer.dataset.fit)"""
# Words in drawings are enlarged with them; those of formulas are smaller where they are indices.
PROBLEMS = """(least) => {
  const slide = Reveal.getCurrentSlide();
  const found = [];
  const say = (what, { tagName, className, textContent }) =>
    found.push(`${what}: ${tagName} ${className} ${textContent.trim().slice(0, 40)}`);
  for (const element of slide.querySelectorAll("*")) {
    if (element.closest("aside, noscript, script, .qkv-announcement")) continue;
    if (element.parentElement.closest("svg, .katex") && !element.matches(".base")) continue;
    const { left, top, right, bottom, width } = element.getBoundingClientRect();
    if (!width) continue;
    if (left < -0.5 || top < -0.5 || right > 1280.5 || bottom > 720.5) say("outside", element);
    if (element.tagName === "IMG" && !element.alt.trim()) say("no alt", element);
    if (element.matches("svg, .base")) continue;
    const style = getComputedStyle(element);
    const more = element.scrollWidth > element.clientWidth + 1
      || element.scrollHeight > element.clientHeight + 1;
    if (more && style.overflow !== "visible" && style.display !== "inline") say("scrolls", element);
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if ((words || element.matches(".katex")) && !element.matches("input")) {
      const size = parseFloat(style.fontSize) * element.currentCSSZoom * Reveal.getScale();
      if (size < least - 0.01) say(`${size.toFixed(1)} px`, element);
    }
  }
  return found;
}"""
FONTS = """() => [...document.fonts].filter((font) => font.status === "loaded")
  .map((font) => font.family)"""
EXPLORER_SLIDES = """() => Reveal.getSlides()
  .flatMap((slide, n) => slide.querySelector(".qkv-explorer") ? [n] : [])"""
WHERE = "() => JSON.stringify(Reveal.getIndices())"
ELSEWHERE = "(where) => JSON.stringify(Reveal.getIndices()) !== where"


@pytest.fixture(scope="session")
def slides(book, tmp_path_factory):
    """The folder of the decks."""
    folder = tmp_path_factory.mktemp("decks") / "slides"
    build(ALL, book, folder, "..")
    return folder


@pytest.fixture
def open_deck(browser, slides):
    """Opens a deck from its file; nothing may go wrong on it unseen."""
    context = browser.new_context(**SCREEN)
    watch = Watch(slides.as_uri())
    context.on("page", watch.follow)

    def open_page(deck, more=""):
        page = context.new_page()
        page.goto((slides / f"{deck}.html").as_uri() + more)
        page.wait_for_function("() => globalThis.Reveal?.isReady()")
        return page

    yield open_page
    context.close()
    watch.check()


def show(page, n):
    """Go to a slide, all its steps shown, its explorer at its size, and nothing fading any more."""
    page.evaluate(GO_TO, n)
    page.evaluate(
        "() => Promise.all(document.getAnimations().map((fade) => fade.finished.catch(() => {})))"
    )
    page.wait_for_function(FITTED)
    page.evaluate("() => document.fonts.ready")


def problems_now(page, where):
    """What is wrong with the slide as it is, once its explorer has its size."""
    page.wait_for_function(FITTED)
    return [f"{where}: {one}" for one in page.evaluate(PROBLEMS, LEAST_MOVED)]


def explorer_slide(page):
    """The number of the first slide with an explorer."""
    return next(iter(page.evaluate(EXPLORER_SLIDES)), -1)


@pytest.mark.parametrize("deck", DECKS)
def test_every_slide_fits_and_can_be_read(open_deck, deck):
    page = open_deck(deck)
    count = page.evaluate("() => Reveal.getTotalSlides()")
    assert 5 < count <= MOST_SLIDES, f"{deck}: {count} slides, at most {MOST_SLIDES}"
    problems = []
    for n in range(count):
        show(page, n)
        problems += [f"{deck}, slide {n + 1}: {one}" for one in page.evaluate(PROBLEMS, LEAST)]
    assert not problems, "\n".join(problems)
    fonts = page.evaluate(FONTS)
    formulas = page.locator(".slides .katex").count()
    assert not formulas or any(font.startswith("KaTeX") for font in fonts)
    assert "Inconsolata" in fonts


@pytest.mark.parametrize("deck", DECKS)
def test_an_explorer_takes_mouse_and_keys_and_a_clicker_goes_on(open_deck, deck):
    page = open_deck(deck)
    n = explorer_slide(page)
    if n < 0:
        assert deck == "18_backward", f"{deck}: no slide has an explorer"
        return
    show(page, n)
    where = page.evaluate(WHERE)
    slide = page.locator("section.present:not(.stack)").filter(has=page.locator(".qkv-explorer"))
    drawing = slide.locator(".qkv-explorer")
    seen = [drawing.get_attribute("data-values")]

    def answered():
        seen.append(drawing.get_attribute("data-values"))
        return seen[-1] != seen[-2]

    buttons = slide.locator(".qkv-buttons input:not(:checked)")
    slider = slide.locator("input[type=range]").first
    if buttons.count():
        buttons.first.click()
        until(answered, "a button changes nothing", page)
    if slider.count():
        at_end = slider.evaluate("(input) => input.value === input.max")
        box = slider.bounding_box()
        x = box["x"] + (0.02 if at_end else 0.98) * box["width"]
        page.mouse.click(x, box["y"] + box["height"] / 2)
        until(answered, "the mouse moves no slider", page)
        page.keyboard.press("ArrowRight" if at_end else "ArrowLeft")
    else:
        page.keyboard.press("ArrowRight")
    until(answered, "an arrow key moves no control", page)
    assert page.evaluate(WHERE) == where, "an arrow in a control moved the slides"
    page.keyboard.press("PageDown")
    page.wait_for_function(ELSEWHERE, arg=where)


@pytest.mark.parametrize("deck", DECKS)
def test_an_explorer_keeps_to_its_slide_wherever_it_is_moved(open_deck, deck):
    page = open_deck(deck)
    problems = []
    for n in page.evaluate(EXPLORER_SLIDES):
        show(page, n)
        slide = page.locator("section.present:not(.stack)")
        buttons = slide.locator(".qkv-buttons input")
        for button in buttons.all():
            button.check(force=True)
            problems += problems_now(
                page, f"{deck}, slide {n + 1}, {button.get_attribute('value')}"
            )
        for slider in slide.locator("input[type=range]").all():
            for key in ("Home", "End"):
                slider.press(key)
                problems += problems_now(page, f"{deck}, slide {n + 1}, {key}")
    assert not problems, "\n".join(problems)


def test_axe_finds_nothing_on_the_list_and_on_slides(browser, slides):
    page = browser.new_page(**SCREEN)  # unwatched: axe asks for the style sheets once more
    page.goto((slides / "05_masks.html").as_uri())
    page.wait_for_function("() => globalThis.Reveal?.isReady()")
    count = page.evaluate("() => Reveal.getTotalSlides()")
    found = []
    for n in (0, 1, explorer_slide(page), count - 2, count - 1):  # to the summary and the exercises
        show(page, n)
        found += violations(page)
    page.goto((slides / "index.html").as_uri())
    assert not found + violations(page)
    page.close()


def test_arrows_move_the_slides_and_escape_gives_them_back(open_deck):
    page = open_deck("05_masks")
    show(page, explorer_slide(page))
    where = page.evaluate(WHERE)
    page.locator("section.present input").first.focus()
    page.keyboard.press("Escape")
    assert not page.evaluate("() => Reveal.isOverview()")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(ELSEWHERE, arg=where)


def test_a_guess_waits_for_the_next_step(open_deck):
    page = open_deck("05_masks")
    answer = page.locator(".guess .fragment").first
    page.keyboard.press("Space")
    expect(answer).to_be_hidden()
    page.keyboard.press("Space")
    expect(answer).to_be_visible()


def test_the_speaker_sees_the_notes(open_deck):
    page = open_deck("05_masks")
    told = '() => Reveal.getSlides().findIndex((slide) => slide.querySelector("aside.notes"))'
    show(page, page.evaluate(told))
    notes = page.evaluate('() => Reveal.getCurrentSlide().querySelector("aside p").textContent')
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    expect(popup.value.locator(".speaker-controls-notes .value")).to_contain_text(notes)


def test_each_slide_is_one_page_of_paper(open_deck):
    page = open_deck("05_masks", "?print-pdf")
    page.wait_for_function("() => document.querySelectorAll('.pdf-page').length > 0")
    page.wait_for_function(
        '() => [...document.querySelectorAll(".qkv-explorer")].every((e) => e.dataset.fit)'
    )
    sheets = page.evaluate("() => document.querySelectorAll('.pdf-page').length")
    assert sheets == page.evaluate("() => Reveal.getTotalSlides()")
    paper = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == sheets


def test_the_list_leads_to_every_deck(open_deck, slides):
    listed = re.findall(r'href="(\d\d_\w+)\.html"', (slides / "index.html").read_text())
    assert listed == ALL
