"""Suggestions while a sentence is typed: each leads to a sentence of the grammar."""

from random import Random

import pytest

from qkv.corpus import sentences
from qkv.pretrained import pretrained
from tests.browser.conftest import LARGE
from tests.browser.model_page import content_of, write_page

# Types a sentence by suggestions alone; the words that it could not, or what it is at the end.
WRITE = """([translator, sentence]) => {
  let text = "";
  for (const word of sentence) {
    for (let typed = 0; ; typed++) {
      const offers = translator.suggest(text + word.slice(0, typed));
      const offered = offers.find((each) => each.word === word);
      if (offered && offered.completes !== typed > 0) return [text, word, "completes"];
      if (offered || typed === word.length) break;
    }
    text += `${word} `;
  }
  return translator.isKnownSentence(translator.encode(text));
}"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    file = write_page(tmp_path_factory.mktemp("model"))
    context = browser.new_context(**LARGE)
    page = context.new_page()
    page.goto(file.as_uri())
    page.evaluate("async () => { globalThis.translator = await qkvModel.load(); }")
    yield page
    context.close()


def suggest(page, text):
    return [
        (each["word"], each["completes"])
        for each in page.evaluate("(text) => translator.suggest(text)", text)
    ]


def test_any_sentence_can_be_written_by_them(page):
    some = Random(0).sample(sorted({pair.source for pair in sentences()}), 300)
    script = f"(all) => all.map((sentence) => ({WRITE})([translator, sentence]))"
    assert page.evaluate(script, some) == [True] * 300


def test_every_way_through_them_ends_in_a_sentence_of_the_grammar(page):
    """Also that what is offered is known, and at most eight words."""
    draw = Random(0)
    walks = page.evaluate(
        """(choices) => choices.map((row) => {
          let text = "";
          for (const choice of row) {
            const offered = translator.suggest(text);
            if (!offered.length) break;
            if (offered.length > 8) return "too many";
            text += `${offered[choice % offered.length].word} `;
          }
          return text;
        })""",
        [[draw.randrange(8) for _ in range(20)] for _ in range(300)],
    )
    grammar = {" ".join(pair.source) for pair in sentences()}
    assert {text.strip() for text in walks} <= grammar
    assert len(set(walks)) > 100


def test_what_is_offered(page):
    first = [word for word, _ in suggest(page, "")]
    starts = {pair.source[0] for pair in sentences()}
    assert set(first) == starts
    assert suggest(page, "the sm")[0] == ("small", True)
    places = {("on", False), ("in", False), ("beside", False), ("under", False)}
    assert set(suggest(page, "The cat did not sleep ")) == places
    assert suggest(page, "She will go t") == [("to", True)]
    assert suggest(page, "She will go to") == suggest(page, "She will go to ")
    assert all(
        word.lower().startswith("h") for word, _ in suggest(page, "The the h")
    )  # no such sentence
    assert suggest(page, "The the h")[0][1]
    assert suggest(page, "The the ") == suggest(page, "xyz") == []
    assert page.evaluate("translator.sentences.size") == 34_367


def test_of_a_word_in_two_cases_the_one_that_fits_its_place_is_offered(page):
    behind_a_word = [word for word, _ in suggest(page, "The the th")]
    assert "the" in behind_a_word
    assert "The" not in behind_a_word


@pytest.mark.parametrize("text", ["The cat sat.", "The cat sat on the mat! ", "The cat…", "."])
def test_behind_a_stop_nothing_is_offered(page, text):
    assert suggest(page, text) == []


def test_a_pasted_page_is_offered_nothing(page):
    assert suggest(page, "The cat " * 10_000) == []


@pytest.mark.parametrize("text", ["Ｔｈｅ cat sl", "the\u200b CAT\ufeff sl", "  THE\tcat sl"])
def test_what_the_model_forgives_is_forgiven_while_typing(page, text):
    assert suggest(page, text) == suggest(page, "The cat sl") != []


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("The cat sat on the mat", True),
        ("the cat sat on the mat.", True),
        ("The carrot ate the rabbit", False),
        ("The cat sat on", False),
    ],
)
def test_whether_a_sentence_is_of_the_grammar(page, text, known):
    assert (
        page.evaluate("(text) => translator.isKnownSentence(translator.encode(text))", text)
        is known
    )


def test_a_model_without_the_list_says_nothing_of_sentences(page):
    content = content_of(pretrained())
    del content["sentences"]
    known, typed, behind = page.evaluate(
        """(content) => {
          const other = qkvEngine.openPretrained(content);
          const known = other.isKnownSentence(other.encode("The cat"));
          return [known, other.suggest("The ca"), other.suggest("The ")];
        }""",
        content,
    )
    assert known is None
    assert {each["word"] for each in typed} >= {"cat", "carrot"}
    assert behind == []
