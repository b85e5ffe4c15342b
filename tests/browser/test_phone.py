"""On a phone: Korean breaks between words, and the first chapter's printed lines are whole."""

import pytest

from tests.helpers.waiting import after_frames, view

PHONE = {"width": 375, "height": 700}
# Pieces of Korean in paragraphs and lists that stand on more lines than one.
BROKEN = """() => {
  const broken = [];
  for (const block of document.querySelectorAll(".bd-article :is(p, li)")) {
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    while (texts.nextNode())
      for (const { index, 0: word } of texts.currentNode.data.matchAll(/[가-힣]{2,}/g)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + word.length);
        if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) broken.push(word);
      }
  }
  return broken;
}"""
CUT_OFF = """() => [...document.querySelectorAll(".cell_output pre")]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.textContent)"""


@pytest.fixture
def phone(page, book_url):
    view(page, PHONE)

    def opened(path):
        page.goto(f"{book_url}/{path}")
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        after_frames(page)
        return page

    return opened


@pytest.mark.parametrize("chapter", ["01_start", "12_decoding"])
def test_a_korean_word_of_the_text_stands_on_one_line(phone, chapter):
    page = phone(f"chapters/{chapter}.html")
    assert page.evaluate(BROKEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_no_printed_line_of_the_first_chapter_is_cut_off(phone):
    assert phone("chapters/01_start.html").evaluate(CUT_OFF) == []
