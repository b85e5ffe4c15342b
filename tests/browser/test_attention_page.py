"""Attention maps in a browser: the page of `qkv translate --attention`, and views in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from qkv.translator import AttentionMaps, Translator, attention_page
from tests.browser.conftest import LARGE, Watch
from tests.browser.test_pages import NAMELESS
from tests.helpers.translators import SOURCES, checkpoint
from tests.helpers.waiting import until

PHONE = {"viewport": {"width": 375, "height": 800}}
HOSTILE = '<img src=x onerror="window.hit=1"> </script><script>window.hit=1</script> cat <b>'
# Contrast of text on its ground, as WCAG counts it; the browser resolves color-mix to sRGB.
CONTRAST = """(selector) => {
  ROOT
  const ctx = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    ctx.fillStyle = colour; ctx.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...ctx.getImageData(0, 0, 1, 1).data].slice(0, 3)
      .map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    if (!e) return "rgb(255, 255, 255)";
    const own = getComputedStyle(e).backgroundColor;
    return own === "rgba(0, 0, 0, 0)" ? ground(e.parentElement ?? e.getRootNode().host) : own;
  };
  const all = [...document.querySelectorAll(selector), ...root.querySelectorAll(selector)];
  return all.filter((e) => e.checkVisibility()).map((e) => {
    const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => x - y);
    return [(b + 0.05) / (a + 0.05), e.className || e.tagName];
  });
}"""

# What sticks out of the window, and what is too small for a fingertip.
CLIPPED = """() => {
  ROOT
  return [...root.querySelectorAll(":is(button, li, select, label, p, .scroll)")]
    .filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect())
    .filter(({ left, right }) => left < 0 || right > innerWidth);
}"""
SMALL = """() => {
  ROOT
  return [...root.querySelectorAll("button, select")].filter((e) => e.checkVisibility())
    .map((e) => e.getBoundingClientRect()).filter((r) => Math.min(r.width, r.height) < 40);
}"""
SHADES = """() => {
  ROOT
  [...root.querySelectorAll("#table td")].slice(0, 11)
    .forEach((cell, n) => { cell.className = `w${n}`; });
}"""


def evaluate(page: Page, script: str, *arguments: Any) -> Any:
    """Run a script whose `root` is the view's shadow tree, or the page where there is none."""
    root = "const root = document.querySelector('.qkv-attention').shadowRoot ?? document;"
    return page.evaluate(script.replace("ROOT", root), *arguments)


@pytest.fixture(scope="module")
def maps() -> list[AttentionMaps]:
    ours = Translator.from_checkpoint(checkpoint())
    return [*map(ours.attention, SOURCES), ours.attention(HOSTILE, truncate=True)]


@pytest.fixture(scope="module")
def path(maps: list[AttentionMaps], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("attention") / "out.html"
    file.write_text(attention_page(maps), "utf-8")
    return file


@pytest.fixture
def opened(browser: Browser, path: Path) -> Iterator[Callable[..., Page]]:
    """Opens the page in a context of its own; the test fails on what the page asked or reported."""
    made = []

    def open_page(**options: Any) -> Page:
        context = browser.new_context(**{**LARGE, **options})
        watch = Watch(path.as_uri())
        context.on("page", watch.follow)
        made.append((context, watch))
        page = context.new_page()
        page.goto(path.as_uri())
        return page

    yield open_page
    for context, watch in made:
        context.close()
        watch.check()


def numbers(page: Page) -> np.ndarray:
    rows = page.locator("#table tbody tr").all()
    return np.array([[float(t) for t in row.locator("td").all_text_contents()] for row in rows])


def test_it_opens_on_the_mean_of_the_first_sentence(
    opened: Callable[..., Page], maps: list[AttentionMaps]
) -> None:
    page, words = opened(), maps[0].merge_subwords()
    expect(page.locator(".still")).to_be_hidden()
    assert page.locator("#queries button").all_text_contents() == list(words.target)
    assert page.locator("#table thead th").all_text_contents() == list(words.source)
    assert page.locator("#table tbody th").all_text_contents() == list(words.target)
    np.testing.assert_allclose(numbers(page), words.stack("cross").mean((0, 1)), atol=0.0051)
    expect(page.get_by_role("button", pressed=True)).to_have_text(words.target[0])


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
@pytest.mark.parametrize("whole", [True, False], ids=["words", "pieces"])
def test_every_layer_and_head_can_be_chosen(
    opened: Callable[..., Page], maps: list[AttentionMaps], kind: str, whole: bool
) -> None:
    page, place = opened(), 3
    each = maps[place].merge_subwords() if whole else maps[place]
    page.get_by_label("Sentence").select_option(index=place)
    page.get_by_label("Who looks at whom").select_option(value=kind)
    page.get_by_label("whole words").set_checked(whole)
    of = each.stack(kind)
    for layer in (-1, 0, 1):
        for head in (-1, 0, 1):
            page.get_by_label("Layer").select_option(index=layer + 1)
            page.get_by_label("Head").select_option(index=head + 1)
            chosen = of if layer < 0 else of[layer : layer + 1]
            chosen = chosen if head < 0 else chosen[:, head : head + 1]
            np.testing.assert_allclose(numbers(page), chosen.mean((0, 1)), atol=0.0051)
    assert page.locator("#table thead th").all_text_contents() == list(each.keys(kind))
    assert page.locator("#queries button").all_text_contents() == list(each.queries(kind))


def test_by_keyboard_a_word_says_what_it_looked_at(
    opened: Callable[..., Page], maps: list[AttentionMaps]
) -> None:
    page, words = opened(), maps[0].merge_subwords()
    page.get_by_role("button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("button:focus")).to_have_text(words.target[1])
    expect(page.get_by_role("button", pressed=True)).to_have_text(words.target[1])
    row = words.stack("cross").mean((0, 1))[1]
    best = int(row.argmax())
    expected = f"To say “{words.target[1]}”, the model looked at “{words.source[best]}” "
    expect(page.get_by_role("status")).to_contain_text(expected + f"{row[best]:.2f}")
    seen = page.locator("#keys li small").all_text_contents()
    np.testing.assert_allclose([float(t) for t in seen], row, atol=0.0051)
    expect(page.locator("#table tr.chosen th")).to_have_text(words.target[1])
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", pressed=True)).to_have_text(words.target[2])
    nameless = NAMELESS.replace("document.", "root.").replace("() => {", "() => { ROOT", 1)
    assert evaluate(page, nameless) == []


def test_what_a_sentence_holds_is_shown_and_never_run(opened: Callable[..., Page]) -> None:
    for options in ({}, {"java_script_enabled": False}):
        page = opened(**options)
        assert page.locator("img, main b").count() == 0
        assert page.locator("main script").count() == 2  # its data and its own
    page = opened()
    page.get_by_label("Sentence").select_option(label=f"8. {HOSTILE}")
    assert page.evaluate("window.hit") is None
    assert page.locator("img, main b").count() == 0
    assert page.locator("main script").count() == 2  # its data and its own


def test_its_policy_stops_what_is_not_its_own(browser: Browser, path: Path) -> None:
    """A script or a picture that slips in does nothing."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    page.evaluate(
        """() => {
          window.stopped = [];
          addEventListener("securitypolicyviolation", (e) => stopped.push(e.effectiveDirective));
          const script = document.createElement("script");
          script.text = "window.hit = 1";
          const image = Object.assign(new Image(), { src: "https://evil.example/x.png" });
          document.body.append(script, image);
        }"""
    )
    stopped = ["img-src", "script-src-elem"]
    until(lambda: sorted(page.evaluate("stopped")) == stopped, "they are not stopped", page=page)
    assert page.evaluate("window.hit") is None
    context.close()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "still"])
def test_nothing_is_clipped_on_a_phone(opened: Callable[..., Page], scripts: bool) -> None:
    page = opened(**PHONE, java_script_enabled=scripts)
    for place in range(8) if scripts else [0]:
        if scripts:
            page.get_by_label("Sentence").select_option(index=place)
        assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [375, 375]
        assert evaluate(page, CLIPPED) == []
    if scripts:
        assert evaluate(page, SMALL) == []


def test_without_scripts_there_are_tables(
    opened: Callable[..., Page], maps: list[AttentionMaps]
) -> None:
    page = opened(java_script_enabled=False)
    expect(page.locator(".qkv-attention .controls")).to_be_hidden()
    expect(page.locator(".still table")).to_have_count(len(maps))
    expect(page.locator(".still caption").first).to_have_text(
        f"{maps[0].text} → {maps[0].translation}"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(opened: Callable[..., Page], scheme: str) -> None:
    page = opened(color_scheme=scheme)
    # one cell of each shade, whatever the model has looked at
    evaluate(page, SHADES)
    found = evaluate(page, CONTRAST, "h1, p, label, select, option, button, li, th span, td, th")
    poor = [(name, ratio) for ratio, name in found if ratio < 4.5]
    assert len(found) > 60
    assert not poor


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_views_in_one_notebook_do_not_meet(
    browser: Browser, maps: list[AttentionMaps], tmp_path: Path, scheme: str
) -> None:
    """Two of the same sentence and one of another, among headings and ids of the notebook's own."""
    own = '<style>td { color: red; padding: 3em }</style><p id="table">own</p><p id="keys">own</p>'
    views = "".join(each._repr_html_() for each in (maps[0], maps[0], maps[1]))
    theme = f'<html lang="en" style="color-scheme: {scheme}"><meta charset="utf-8"><title>N</title>'
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html>{theme}{own}{views}", "utf-8")
    context = browser.new_context(viewport={"width": 375, "height": 800})
    watch = Watch((tmp_path / "notebook.html").as_uri())
    context.on("page", watch.follow)
    page = context.new_page()
    page.goto((tmp_path / "notebook.html").as_uri())
    hosts = page.locator(".qkv-attention:has(> template)")
    expect(hosts).to_have_count(3)
    hosts.nth(1).get_by_label("Head").select_option(index=2)
    hosts.nth(1).locator("#queries button").nth(2).click()
    for n, each in enumerate((maps[0], maps[0], maps[1])):
        words = each.merge_subwords()
        buttons = hosts.nth(n).locator("#queries button")
        assert buttons.all_text_contents() == list(words.target)
        pressed = hosts.nth(n).locator("button[aria-pressed=true]")
        expect(pressed).to_have_text(words.target[2 if n == 1 else 0])
        expect(hosts.nth(n).get_by_label("Sentence")).to_be_hidden()  # there is one
        cell = hosts.nth(n).locator("#table td").nth(1)
        assert cell.evaluate("e => getComputedStyle(e).padding") == "0px"
    ground = hosts.first.locator(".view:not(.still)")
    shade = "rgb(20, 22, 31)" if scheme == "dark" else "rgb(252, 252, 254)"
    expect(ground).to_have_css("background-color", shade)
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    context.close()
    watch.check()
