"""Other models in the page, as `qkv train` makes them, and the words that refuse a sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.pretrained import pretrained
from qkv.pretrained.lenient_tokenizer import UnknownWordsError
from qkv.text import SPECIAL_TOKENS, Tokenizer
from qkv.translator import Translator
from tests.browser.computing import computing
from tests.browser.conftest import LARGE, Watch
from tests.browser.model_page import NumPyRoom, ask, content_of, write_page
from tests.helpers.models import CASES, config_of
from tests.helpers.translators import SOURCES, checkpoint

CLOSE = 1e-4
# What a call gives, or what its refusal says.
TRY = """(act) => { try { return act(); } catch (error) {
  if (error.name !== "InputError") throw error;
  return { kind: error.kind, message: error.message, words: error.words };
} }"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    home = write_page(tmp_path_factory.mktemp("model"))
    context, watch = browser.new_context(**LARGE), Watch(home.parent.as_uri())
    context.on("page", watch.follow)
    page = context.new_page()
    page.goto(home.as_uri())
    yield page
    context.close()
    watch.check()


def random_translator(case):
    """A model of one kind, no parameter of which is 0 or 1, with made-up words."""
    return translator_of(replace(config_of(case), max_len=11))


def translator_of(config):
    """A random model with made-up words."""
    rng = np.random.default_rng(0)
    model = qn.Transformer(config, rng=rng)
    for _, value in model.named_parameters():
        value += rng.standard_normal(value.shape).astype(np.float32) * 0.3
    sizes = config.vocab_size, config.target_vocabulary
    words = [[*SPECIAL_TOKENS, *(f"w{n}" for n in range(4, size))] for size in sizes]
    object.__setattr__(model.config, "pad_id", 0)  # what `Translator` asks for; nothing is padded
    return Translator(model.eval(), Tokenizer(words[0]), Tokenizer(words[1]))


@pytest.mark.parametrize("case", [case for case in CASES if case != "falling scores"])
def test_each_kind_of_model_computes_what_the_room_computes(page, case):
    translator = random_translator(case)
    room = NumPyRoom(translator)
    texts = ["w4 w9 w6 w7", "w12 w16", "w5 w5 w5 w8 w10 w11 w13"]
    search, sampling = {"beamSize": 4}, {"uniforms": np.linspace(0.05, 0.95, 11).tolist()}
    common = {"options": {}, "sampling": sampling, "search": search}
    asked = [{"text": text, **common} for text in texts]
    for answer in ask(page, asked, content_of(translator)):
        tokens, total = room.greedy(answer["ids"])
        assert answer["tokens"] == tokens
        assert answer["sum"] == pytest.approx(total, abs=CLOSE)
        expected = room.numbers(answer["ids"], tokens)
        np.testing.assert_allclose(answer["numbers"], expected, rtol=0, atol=CLOSE)
        hypotheses, _ = room.beam(answer["ids"], search)
        assert [one["tokens"] for one in answer["beam"]["hypotheses"]] == [t for t, _ in hypotheses]
        assert answer["sampled"] == room.sample(answer["ids"], sampling)


@pytest.mark.parametrize("kind", ["bpe", "words", "characters"])
def test_each_kind_of_vocabulary_reads_and_writes_alike(page, kind):
    translator = Translator.from_checkpoint(checkpoint(kind))
    texts = [*SOURCES, "  The cat,\tsat…\x07 ▁ on!", "unseen Ünïcödé “words”"]
    texts = [text for text in texts if len(translator.source.encode(text)) < translator.max_len]
    sampling = {"uniforms": [0.5] * translator.max_len}
    common = {"options": {}, "sampling": sampling, "search": {"beamSize": 2}}
    asked = [{"text": text, **common} for text in texts]
    for text, answer in zip(texts, ask(page, asked, content_of(translator)), strict=True):
        assert answer["ids"] == translator.source.encode(text, eos=True).tolist(), text
        assert answer["translation"] == translator.translate(text)


def refusals(page, texts):
    script = f"""async (texts) => {{
      const translator = await qkvModel.load();
      return texts.map((text) => ({TRY})(() => translator.encode(text)));
    }}"""
    return page.evaluate(script, texts)


def test_unknown_words_are_named_in_the_words_of_python(page):
    texts = [
        "The kat sat",
        "the elephant danced",
        "The cat's mat",
        "나는 학교에",
        "123 the",
        "The CAT. sat",
    ]
    texts += ["the wide strete is dangrous", "hospitl hapy qqqq", "teh cta saw hte wsa"]
    texts += ["siad reaths teh 😀cat", "ctas catt ct c xcat"]
    texts += ["wug blick dax fep toma", "wug zorp wug quux dax fep toma", "넷 셋 둘 하나 영"]
    texts += ["I'm sad", "she DOESN’T sleep", "it won't, couldn't", "The cat, the “mat”", "我爱你"]
    texts += ["a cat and an elephant", "The its And cats", "this glass", "constructor ands"]
    texts += ["أنا أحب", "The cat 😀", "ﬁsh sat naïve café", "😀" * 31, "x" + "😀" * 40, "q" * 30]
    texts += ["The\u200bcat sat\ufeff", "__proto__ constructor", "<eos> the <pad>", "The\0lion"]
    for text, found in zip(texts, refusals(page, texts), strict=True):
        with pytest.raises(UnknownWordsError) as refused:
            pretrained().source.encode(text)
        sentence = refused.value.hint[0].upper() + refused.value.hint[1:] + "."
        assert (found["kind"], found["message"]) == ("unknown", sentence)
    assert refusals(page, ["the kat qqqq"])[0]["words"] == [
        {"word": "kat", "near": "sat"},
        {"word": "qqqq", "near": None},
    ]


def test_case_stops_articles_and_plurals_are_forgiven_as_in_python(page):
    texts = ["the CAT sat on the mat.", "i was tired!", "We  bought\nthe hat ?!"]
    texts += [
        "Ｔｈｅ ｃａｔ ｓａｔ。．",
        "the\u200b c\u00adat sat\ufeff…",
        "the\u3000cat ate the ﬁsh",
    ]
    texts += ["A cat ate an apple", "CATS sat on mats", "the boxes", "Libraries", "An cats"]
    expected = [pretrained().source.encode(text, eos=True).tolist() for text in texts]
    assert refusals(page, texts) == expected


def test_nothing_and_too_much_are_refused(page):
    for found in refusals(page, ["", "  \n", " ... !", "\u200b\ufeff \u2060", "…"]):
        assert (found["kind"], found["message"]) == ("empty", "There is no word to translate.")
    longest, longer = "the cat " * 7 + "sat", "the cat " * 8
    assert len(refusals(page, [longest])[0]) == 16
    found = refusals(page, [longer])[0]
    assert found["kind"] == "long"
    assert found["message"] == "The model reads at most 15 words at once, and these are 16."


def test_a_pasted_page_is_refused_at_once(page):
    texts = ["lorem ipsum " * 50_000, " . a" * 50_000, "x" * 500_000, "a" + "." * 100_000 + "b"]
    with computing(page) as took:
        *many, one, dots = refusals(page, texts)
    assert took.seconds < 5
    assert [found["kind"] for found in many] == ["long", "long"]
    for found in (one, dots):
        assert found["kind"] == "unknown"
        assert len(found["message"]) < 100
