"""A search in the Korean edition, in a browser and with no server's help."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

# With the page that a reader is after: that of the chapter which introduces the word.
ASKED = {
    "어텐션을": "chapters/03_attention",
    "마스크의": "chapters/05_masks",
    "임베딩에서": "chapters/02_embedding",
    "소프트맥스로": "chapters/02_embedding",
    "헤드마다": "chapters/06_multi_head",
    "쿼리와": "chapters/03_attention",
    "인코더는": "chapters/10_transformer",
    "패딩을": "chapters/05_masks",
    "스케일링이": "chapters/04_scaling",
    "토큰으로": "chapters/02_embedding",
    "mask": "chapters/05_masks",
    "softmax": "chapters/02_embedding",
}
RESULTS = "ul.search > li"


@pytest.mark.parametrize("words", ASKED)
def test_a_word_with_its_particle_finds_its_chapter_first(
    page: Page, book_url: str, words: str
) -> None:
    page.goto(f"{book_url}/ko/search.html?q={words}")
    expect(page.locator(".search-summary")).to_contain_text(re.compile(r"\d"))
    first = page.locator(RESULTS).first.get_by_role("link")
    expect(first).to_have_attribute("href", re.compile(rf"^{ASKED[words]}\.html"))


def test_a_result_shows_and_marks_the_word_without_its_particle(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/ko/book/index.html")
    page.goto(f"{book_url}/ko/search.html?q=마스크의")
    first = page.locator(RESULTS).first
    expect(first.locator("p.context")).to_contain_text("마스크")
    first.get_by_role("link").click()
    page.wait_for_url(re.compile(r"/ko/chapters/05_masks\.html"))
    marked = page.locator("article .highlighted")
    expect(marked.first).to_be_attached()
    assert set(marked.all_text_contents()) == {"마스크"}
