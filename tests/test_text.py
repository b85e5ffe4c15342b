"""Text to ids and back: what BPE learns, what comes back, what is unknown, what is refused."""

import re
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qkv.text import (
    EOS,
    PAD,
    SOS,
    SPECIALS,
    UNK,
    Tokenizer,
    clean,
    learn_bpe,
    learn_characters,
    learn_words,
)

LINES = [
    "The cat sat on the mat.",
    "The cats sat on mats, and the rats ate.",
    "Die Katze saß auf der Matte.",
    "Größere Katzen schliefen über den Matten.",
    "고양이가 매트 위에 앉았다.",
    "고양이는 밥을 먹었다.",
]
ROOMY = learn_bpe(LINES, 200)
WORDS = learn_words(LINES)
BOTH = pytest.mark.parametrize("tokenizer", [ROOMY, WORDS], ids=["bpe", "words"])


def test_the_special_tokens_have_fixed_ids():
    assert SPECIALS == ("<pad>", "<sos>", "<eos>", "<unk>")
    assert (PAD, SOS, EOS, UNK) == (0, 1, 2, 3)
    assert ROOMY.tokens[:4] == WORDS.tokens[:4] == SPECIALS


def test_bpe_joins_the_most_frequent_pair_first():
    """In "ab ab abc", ▁a and ab stand three times each; the smaller pair of ids comes first."""
    alphabet = [*SPECIALS, "a", "b", "c", "▁"]
    assert learn_bpe(["ab ab abc"], 8).tokens == tuple(alphabet)
    found = learn_bpe(["ab ab abc"], 100)
    assert found.tokens == (*alphabet, "ab", "▁ab")
    assert found.merges == (("a", "b"), ("▁", "ab"))
    np.testing.assert_array_equal(found.encode("ab b cab"), [9, 7, 5, 7, 6, 8])
    assert learn_bpe(["ab ab abc"], 100, min_count=1).tokens[-1] == "▁abc"
    assert learn_bpe(["ab ab abc"], 100, min_count=4).merges == ()


def test_pieces_do_not_reach_over_spaces_and_punctuation_stands_alone():
    for tokenizer in (ROOMY, learn_bpe(["no. no. no."] * 9, 99)):
        for token in tokenizer.tokens[4:]:
            assert "▁" not in token[1:]
            assert len(token) == 1 or not {".", ","} & set(token)
    inside = ROOMY.encode("The mat sat")
    np.testing.assert_array_equal(ROOMY.encode("The mat sat.")[:-1], inside)


def test_words_come_by_frequency_then_by_name():
    found = learn_words(["b a b c", "d  a", "b"])
    assert found.tokens == (*SPECIALS, "b", "a", "c", "d")
    assert learn_words(["b a b c", "d a"], min_count=2).tokens == (*SPECIALS, "a", "b")
    ids = found.encode("a new b", sos=True, eos=True)
    assert ids.dtype == np.int64
    np.testing.assert_array_equal(ids, [SOS, 5, UNK, 4, EOS])
    assert found.decode(ids) == "a b"


@BOTH
def test_korean_and_german_come_back(tokenizer):
    for line in LINES:
        ids = tokenizer.encode(line, sos=True, eos=True)
        assert (ids[0], ids[-1]) == (SOS, EOS)
        assert UNK not in ids
        np.testing.assert_array_equal(tokenizer.encode(line, sos=True), ids[:-1])
        np.testing.assert_array_equal(tokenizer.encode(line, eos=True), ids[1:])
        np.testing.assert_array_equal(ids[1:-1], tokenizer.encode(line))
        assert tokenizer.decode(ids) == line
        assert tokenizer.decode([*ids, PAD, PAD]) == line
        assert tokenizer.decode(int(n) for n in ids) == line


@BOTH
def test_characters_composed_or_not_are_the_same(tokenizer):
    for line in LINES:
        apart = unicodedata.normalize("NFD", line)
        np.testing.assert_array_equal(tokenizer.encode(apart), tokenizer.encode(line))
    apart = [unicodedata.normalize("NFD", line) for line in LINES]
    assert learn_bpe(apart, 200).digest == ROOMY.digest
    assert learn_words(apart).digest == WORDS.digest


@BOTH
@given(data=st.data())
@settings(deadline=None)
def test_any_text_of_known_words_comes_back_cleaned(tokenizer, data):
    words = sorted({word for line in LINES for word in line.split()})
    spaces = st.sampled_from([" ", "  ", "\t", "\n", "\u00a0", "▁", " ▁ "])
    text = "".join(data.draw(spaces) + word for word in data.draw(st.lists(st.sampled_from(words))))
    ids = tokenizer.encode(text)
    assert UNK not in ids
    assert tokenizer.decode(ids) == clean(text)


@given(text=st.text())
@settings(deadline=None)
def test_any_text_whose_characters_are_known_comes_back_cleaned(text):
    if clean(text):
        for tokenizer in (learn_bpe([text], 1000), learn_words([text])):
            assert (tokenizer.encode(text) >= len(SPECIALS)).all() or clean(text) in SPECIALS
            if clean(text) not in SPECIALS:
                assert tokenizer.decode(tokenizer.encode(text)) == clean(text)


@given(text=st.text())
@settings(deadline=None)
def test_any_text_has_ids_of_the_vocabulary(text):
    for tokenizer in (ROOMY, WORDS):
        ids = tokenizer.encode(text)
        assert ((ids >= UNK) & (ids < len(tokenizer))).all()
        assert clean(tokenizer.decode(ids)) == tokenizer.decode(ids)


def test_clean_text_is_composed_and_has_single_spaces():
    assert clean("  \u1112\u1161\u11ab \t\u00a0 u\u0308b\n") == "한 üb"
    assert clean("a▁b") == "a b"
    assert clean("½ ﬁ Ａ") == "½ ﬁ Ａ"  # what only looks alike stays what it is
    assert clean("") == clean(" ▁ ") == clean("\x1b\x00") == ""
    assert clean("red \x1b[31m and\x9b0m") == "red [31m and 0m"


@BOTH
def test_no_text_is_no_token_and_unknown_text_is_unknown(tokenizer):
    assert tokenizer.encode("").shape == tokenizer.encode(" \n").shape == (0,)
    np.testing.assert_array_equal(tokenizer.encode("", sos=True, eos=True), [SOS, EOS])
    assert tokenizer.decode([]) == tokenizer.decode(np.zeros(0)) == ""
    assert UNK in tokenizer.encode("猫")
    assert "猫" not in tokenizer.decode(tokenizer.encode("The 猫"))


def test_text_spelt_like_a_special_token_is_not_one():
    """Else a line with "<eos>" in it would end a sentence."""
    lines = ["a <eos> <pad> <unk> <sos> <eos> b"] * 5
    for tokenizer in (ROOMY, WORDS, learn_words(lines)):
        ids = tokenizer.encode("<eos> <pad> <sos>")
        assert not {PAD, SOS, EOS} & set(ids.tolist())
    found = learn_bpe(lines, 100)
    assert found.decode(found.encode(lines[0])) == lines[0]
    assert (found.encode(lines[0]) >= len(SPECIALS)).all()
    assert learn_words(lines).tokens == (*SPECIALS, "a", "b")


def test_the_vocabulary_is_as_large_as_was_asked_where_the_text_gives_enough():
    alphabet = len(set("".join(LINES)) - {" "}) + 1
    for size in (4 + alphabet, 59, 71):
        assert len(learn_bpe(LINES, size)) == size
    assert 71 < len(ROOMY) < 200


def test_nothing_but_the_lines_given_is_learnt():
    for training in (learn_bpe(LINES[:4], 150), learn_words(LINES[:4])):
        assert set("".join(training.tokens[4:])) <= set("".join(LINES[:4])) | {"▁"}
        assert UNK in training.encode(LINES[4])


def test_the_order_of_the_lines_does_not_matter():
    for learn in (lambda lines: learn_bpe(lines, 100), learn_words):
        assert learn(LINES).digest == learn(LINES[::-1]).digest == learn(iter(LINES)).digest
        assert learn(LINES).digest != learn(LINES[:-1]).digest


def test_the_same_text_gives_the_same_vocabulary_whatever_the_threads():
    code = (
        "import random; from qkv.text import learn_bpe\n"
        "rng = random.Random(5)\n"
        "word = lambda: ''.join(rng.choices('abcdeäöü고양이', k=rng.randint(1, 9)))\n"
        "lines = [' '.join(word() for _ in range(9)) for _ in range(3000)]\n"
        "print(learn_bpe(lines, 700).digest)"
    )
    found = set()
    for seed, threads in enumerate(("1", "2", "7")):
        parallel = "false" if threads == "1" else "true"
        own = {"RAYON_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": parallel}
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": str(seed), **own},
            capture_output=True,
            text=True,
            timeout=60,
        )
        found.add(run.stdout.strip() or run.stderr)
    assert len(found) == 1
    assert len(found.pop()) == 64


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: learn_bpe(["abc de"], 9),
            "vocab_size must be at least 10, the 4 special tokens and the 6 characters of the text,"
            " got 9: raise it",
        ),
        (lambda: learn_bpe(["a"], 0), "vocab_size must be a whole number of at least 1, got 0"),
        (lambda: learn_bpe(["a"], 9, min_count=0), "min_count must be a whole number"),
        (lambda: learn_bpe([], 100), "learn_bpe: lines hold no text: pass the training text"),
        (lambda: learn_bpe(["", " \n"], 100), "learn_bpe: lines hold no text"),
        (lambda: learn_words([]), "learn_words: lines hold no text"),
        (lambda: learn_words(["a"], min_count=1.5), "min_count must be a whole number"),
        (lambda: learn_bpe("a text", 100), "lines must be many texts, got one: split it"),
        (lambda: learn_words("a text"), "learn_words: lines must be many texts"),
        (lambda: learn_words([b"a"]), "learn_words: text must be a str, got bytes: pass one text"),
        (lambda: ROOMY.encode(["a"]), "encode: text must be a str, got list"),
        (lambda: ROOMY.encode("\ud800"), "encode: text must be whole characters"),
        (lambda: WORDS.decode([len(WORDS)]), "decode: ids must be from 0 to "),
        (lambda: WORDS.decode([4, -1]), r"got -1: it is of another vocabulary"),
        (lambda: WORDS.decode([[4, 5]]), r"ids must be integers \(T,\), got int64 \(1, 2\)"),
        (lambda: WORDS.decode([0.5]), r"ids must be integers \(T,\), got float64 \(1,\)"),
        (lambda: Tokenizer(["a"]), "tokens must begin with <pad> <sos> <eos> <unk>, got"),
        (lambda: Tokenizer([*SPECIALS, "a", "a"]), "tokens hold 'a': each must be a text without"),
        (lambda: Tokenizer([*SPECIALS, "a b"]), "tokens hold 'a b'"),
        (
            lambda: Tokenizer([*SPECIALS, "\x1b[2J"]),
            r"tokens hold '\\x1b\[2J': each must be a text",
        ),
        (lambda: Tokenizer([*SPECIALS, "a", "\x9b", "a\x9b"], [("a", "\x9b")]), r"hold '\\x9b'"),
        (lambda: Tokenizer([*SPECIALS, "\ud800"]), r"tokens hold '\\ud800'"),
        (lambda: Tokenizer([*SPECIALS, "a", "b"], [("a", "b")]), "the two and what they make"),
        (lambda: Tokenizer([*SPECIALS, "<", "eos>"], [("<", "eos>")]), "merges hold"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_whole_words_need_no_library_and_bpe_says_what_is_missing():
    code = (
        "import sys; sys.modules['tokenizers'] = sys.modules['torch'] = None\n"
        "from qkv.text import learn_bpe, learn_words\n"
        "print(learn_words(['a b']).encode('b a').tolist())\n"
        "try: learn_bpe(['a b'], 9)\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    words = "BPE needs tokenizers: pip install tokenizers"
    assert run.stdout.splitlines() == ["[5, 4]", words], run.stderr


def test_characters_come_in_order_and_keep_their_spaces():
    found = learn_characters(["to be,  or not", "\tto▁be\n"])
    assert found.tokens == (*SPECIALS, "\t", "\n", " ", *",benort▁")
    assert found.characters
    assert found.has_pieces
    for text in ("to  be", " ", "\n\n", "  tot\t or ", "▁"):
        ids = found.encode(text, sos=True, eos=True)
        assert len(ids) == len(text) + 2
        assert found.decode(ids) == text
    np.testing.assert_array_equal(found.encode("to 猫"), [13, 11, 6, UNK])
    assert found.labels(found.encode("a to")[1:]) == ("▁", "t", "o")


@given(text=st.text())
@settings(deadline=None)
def test_any_text_comes_back_from_its_characters(text):
    if text:
        found = learn_characters([text])
        assert found.decode(found.encode(text)) == found.clean(text)
        if not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text):
            assert found.clean(text) == unicodedata.normalize("NFC", text)


def test_characters_composed_or_not_and_both_ends_of_a_line_are_the_same():
    one, other = (learn_characters([unicodedata.normalize(f, "한 üb\n")]) for f in ("NFC", "NFD"))
    assert one.digest == other.digest
    assert one.decode(one.encode("üb\r\n\x1bü\x9b")) == "üb\n ü "


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Tokenizer([*SPECIALS, "ab"], characters=True), "'ab': each must be one character"),
        (lambda: Tokenizer([*SPECIALS, ""], characters=True), "'': each must be one character"),
        (lambda: Tokenizer([*SPECIALS, " ", " "], characters=True), "' ': each must be one charac"),
        (
            lambda: Tokenizer([*SPECIALS, "\x1b"], characters=True),
            r"'\\x1b': each must be one char",
        ),
        (lambda: Tokenizer([*SPECIALS, "\ud800"], characters=True), r"'\\ud800': each must be one"),
        (lambda: Tokenizer([*SPECIALS, "a"], [], characters=True), "merges must be None where the"),
        (lambda: Tokenizer([*SPECIALS, "a"], characters=1), "characters must be True or False"),
        (lambda: learn_characters("a text"), "learn_characters: lines must be many texts"),
        (lambda: learn_characters([""]), "learn_characters: lines hold no text"),
        (lambda: learn_characters(["a"]).encode(["a"]), "encode: text must be a str, got list"),
    ],
)
def test_what_is_no_character_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
