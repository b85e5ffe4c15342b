"""Text to ids and back: what BPE learns, what comes back, what is unknown, what is refused."""

import re
import sys
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qkv.text import (
    EOS,
    PAD,
    SOS,
    SPECIAL_TOKENS,
    UNK,
    Tokenizer,
    normalization,
    normalize,
    train_bpe,
    train_character_level,
    train_word_level,
)
from qkv.text.normalization import unicode_normalize
from qkv.text.scripts import is_foreign, usual_scripts
from tests.helpers.processes import run_python

LINES = [
    "The cat sat on the mat.",
    "The cats sat on mats, and the rats ate.",
    "Die Katze saß auf der Matte.",
    "Größere Katzen schliefen über den Matten.",
    "고양이가 매트 위에 앉았다.",
    "고양이는 밥을 먹었다.",
]
ROOMY = train_bpe(LINES, 200)
WORDS = train_word_level(LINES)
BOTH = pytest.mark.parametrize("tokenizer", [ROOMY, WORDS], ids=["bpe", "words"])


def test_the_special_tokens_have_fixed_ids():
    assert SPECIAL_TOKENS == ("<pad>", "<sos>", "<eos>", "<unk>")
    assert (PAD, SOS, EOS, UNK) == (0, 1, 2, 3)
    assert ROOMY.tokens[:4] == WORDS.tokens[:4] == SPECIAL_TOKENS


def test_bpe_joins_the_most_frequent_pair_first():
    """In "ab ab abc", ▁a and ab stand three times each; the smaller pair of ids comes first."""
    alphabet = [*SPECIAL_TOKENS, "a", "b", "c", "▁"]
    assert train_bpe(["ab ab abc"], 8).tokens == tuple(alphabet)
    found = train_bpe(["ab ab abc"], 100)
    assert found.tokens == (*alphabet, "ab", "▁ab")
    assert found.merges == (("a", "b"), ("▁", "ab"))
    np.testing.assert_array_equal(found.encode("ab b cab"), [9, 7, 5, 7, 6, 8])
    assert train_bpe(["ab ab abc"], 100, min_count=1).tokens[-1] == "▁abc"
    assert train_bpe(["ab ab abc"], 100, min_count=4).merges == ()


def test_pieces_do_not_reach_over_spaces_and_punctuation_stands_alone():
    for tokenizer in (ROOMY, train_bpe(["no. no. no."] * 9, 99)):
        for token in tokenizer.tokens[4:]:
            assert "▁" not in token[1:]
            assert len(token) == 1 or not {".", ","} & set(token)
    inside = ROOMY.encode("The mat sat")
    np.testing.assert_array_equal(ROOMY.encode("The mat sat.")[:-1], inside)


def test_words_come_by_frequency_then_by_name():
    found = train_word_level(["b a b c", "d  a", "b"])
    assert found.tokens == (*SPECIAL_TOKENS, "b", "a", "c", "d")
    assert train_word_level(["b a b c", "d a"], min_count=2).tokens == (*SPECIAL_TOKENS, "a", "b")
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
    assert train_bpe(apart, 200).digest == ROOMY.digest
    assert train_word_level(apart).digest == WORDS.digest


@BOTH
@given(data=st.data())
@settings(deadline=None)
def test_any_text_of_known_words_comes_back_cleaned(tokenizer, data):
    words = sorted({word for line in LINES for word in line.split()})
    spaces = st.sampled_from([" ", "  ", "\t", "\n", "\u00a0", "▁", " ▁ "])
    text = "".join(data.draw(spaces) + word for word in data.draw(st.lists(st.sampled_from(words))))
    ids = tokenizer.encode(text)
    assert UNK not in ids
    assert tokenizer.decode(ids) == normalize(text)


@given(text=st.text())
@settings(deadline=None)
def test_any_text_whose_characters_are_known_comes_back_cleaned(text):
    if normalize(text):
        for tokenizer in (train_bpe([text], 1000), train_word_level([text])):
            assert (tokenizer.encode(text) >= len(SPECIAL_TOKENS)).all() or normalize(
                text
            ) in SPECIAL_TOKENS
            if normalize(text) not in SPECIAL_TOKENS:
                assert tokenizer.decode(tokenizer.encode(text)) == normalize(text)


@given(text=st.text())
@settings(deadline=None)
def test_any_text_has_ids_of_the_vocabulary(text):
    for tokenizer in (ROOMY, WORDS):
        ids = tokenizer.encode(text)
        assert ((ids >= UNK) & (ids < len(tokenizer))).all()
        assert normalize(tokenizer.decode(ids)) == tokenizer.decode(ids)


def test_clean_text_is_composed_and_has_single_spaces():
    assert normalize("  \u1112\u1161\u11ab \t\u00a0 u\u0308b\n") == "한 üb"
    assert normalize("a▁b") == "a b"
    assert normalize("½ ﬁ Ａ") == "½ ﬁ Ａ"  # what only looks alike stays what it is
    assert normalize("") == normalize(" ▁ ") == normalize("\x1b\x00") == ""
    assert normalize("red \x1b[31m and\x9b0m") == "red [31m and 0m"


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
    for tokenizer in (ROOMY, WORDS, train_word_level(lines)):
        ids = tokenizer.encode("<eos> <pad> <sos>")
        assert not {PAD, SOS, EOS} & set(ids.tolist())
    found = train_bpe(lines, 100)
    assert found.decode(found.encode(lines[0])) == lines[0]
    assert (found.encode(lines[0]) >= len(SPECIAL_TOKENS)).all()
    assert train_word_level(lines).tokens == (*SPECIAL_TOKENS, "a", "b")


def test_the_vocabulary_is_as_large_as_was_asked_where_the_text_gives_enough():
    alphabet = len(set("".join(LINES)) - {" "}) + 1
    for size in (4 + alphabet, 59, 71):
        assert len(train_bpe(LINES, size)) == size
    assert 71 < len(ROOMY) < 200


def test_nothing_but_the_lines_given_is_learnt():
    for training in (train_bpe(LINES[:4], 150), train_word_level(LINES[:4])):
        assert set("".join(training.tokens[4:])) <= set("".join(LINES[:4])) | {"▁"}
        assert UNK in training.encode(LINES[4])


def test_the_order_of_the_lines_does_not_matter():
    for learn in (lambda lines: train_bpe(lines, 100), train_word_level):
        assert learn(LINES).digest == learn(LINES[::-1]).digest == learn(iter(LINES)).digest
        assert learn(LINES).digest != learn(LINES[:-1]).digest


def test_the_same_text_gives_the_same_vocabulary_whatever_the_threads():
    code = (
        "import random; from qkv.text import train_bpe\n"
        "rng = random.Random(5)\n"
        "word = lambda: ''.join(rng.choices('abcdeäöü고양이', k=rng.randint(1, 9)))\n"
        "lines = [' '.join(word() for _ in range(9)) for _ in range(3000)]\n"
        "print(train_bpe(lines, 700).digest)"
    )
    found = set()
    for seed, threads in enumerate(("1", "2", "7")):
        parallel = "false" if threads == "1" else "true"
        own = {"RAYON_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": parallel}
        run = run_python(
            code, env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": str(seed), **own}
        )
        found.add(run.stdout.strip() or run.stderr)
    assert len(found) == 1
    assert len(found.pop()) == 64


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: train_bpe(["abc de"], 9),
            "vocab_size must be at least 10, the 4 special tokens and the 6 characters of the text,"
            " got 9: raise it",
        ),
        (lambda: train_bpe(["a"], 0), "vocab_size must be a whole number of at least 1, got 0"),
        (lambda: train_bpe(["a"], 9, min_count=0), "min_count must be a whole number"),
        (lambda: train_bpe([], 100), "train_bpe: lines hold no text: pass the training text"),
        (lambda: train_bpe(["", " \n"], 100), "train_bpe: lines hold no text"),
        (lambda: train_word_level([]), "train_word_level: lines hold no text"),
        (lambda: train_word_level(["a"], min_count=1.5), "min_count must be a whole number"),
        (lambda: train_bpe("a text", 100), "lines must be many texts, got one: split it"),
        (lambda: train_word_level("a text"), "train_word_level: lines must be many texts"),
        (
            lambda: train_word_level([b"a"]),
            "train_word_level: text must be a str, got bytes: pass one text",
        ),
        (lambda: ROOMY.encode(["a"]), "encode: text must be a str, got list"),
        (lambda: ROOMY.encode("\ud800"), "encode: text must be whole characters"),
        (lambda: WORDS.decode([len(WORDS)]), "decode: ids must be from 0 to "),
        (lambda: WORDS.decode([4, -1]), r"got -1: it is of another vocabulary"),
        (lambda: WORDS.decode([[4, 5]]), r"ids must be integers \(T,\), got int64 \(1, 2\)"),
        (lambda: WORDS.decode([0.5]), r"ids must be integers \(T,\), got float64 \(1,\)"),
        (lambda: Tokenizer(["a"]), "tokens must begin with <pad> <sos> <eos> <unk>, got"),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, "a", "a"]),
            "tokens hold 'a': each must be a text without",
        ),
        (lambda: Tokenizer([*SPECIAL_TOKENS, "a b"]), "tokens hold 'a b'"),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, "\x1b[2J"]),
            r"tokens hold '\\x1b\[2J': each must be a text",
        ),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, "a", "\x9b", "a\x9b"], [("a", "\x9b")]),
            r"hold '\\x9b'",
        ),
        (lambda: Tokenizer([*SPECIAL_TOKENS, "\ud800"]), r"tokens hold '\\ud800'"),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, "a", "b"], [("a", "b")]),
            "the two and what they make",
        ),
        (lambda: Tokenizer([*SPECIAL_TOKENS, "<", "eos>"], [("<", "eos>")]), "merges hold"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_whole_words_need_no_library_and_bpe_says_what_is_missing():
    code = (
        "import sys; sys.modules['tokenizers'] = sys.modules['torch'] = None\n"
        "from qkv.text import train_bpe, train_word_level\n"
        "print(train_word_level(['a b']).encode('b a').tolist())\n"
        "try: train_bpe(['a b'], 9)\n"
        "except ImportError as error: print(error)"
    )
    run = run_python(code)
    words = "BPE needs tokenizers: pip install tokenizers"
    assert run.stdout.splitlines() == ["[5, 4]", words], run.stderr


def test_characters_come_in_order_and_keep_their_spaces():
    found = train_character_level(["to be,  or not", "\tto▁be\n"])
    assert found.tokens == (*SPECIAL_TOKENS, "\t", "\n", " ", *",benort▁")
    assert found.characters
    assert found.has_subwords
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
        found = train_character_level([text])
        assert found.decode(found.encode(text)) == found.normalize(text)
        if not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text):
            assert found.normalize(text) == unicodedata.normalize("NFC", text)


def test_characters_composed_or_not_and_both_ends_of_a_line_are_the_same():
    one, other = (
        train_character_level([unicodedata.normalize(f, "한 üb\n")]) for f in ("NFC", "NFD")
    )
    assert one.digest == other.digest
    assert one.decode(one.encode("üb\r\n\x1bü\x9b")) == "üb\n ü "


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, "ab"], characters=True),
            "'ab': each must be one character",
        ),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, ""], characters=True),
            "'': each must be one character",
        ),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, " ", " "], characters=True),
            "' ': each must be one charac",
        ),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, "\x1b"], characters=True),
            r"'\\x1b': each must be one char",
        ),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, "\ud800"], characters=True),
            r"'\\ud800': each must be one",
        ),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, "a"], [], characters=True),
            "merges must be None where the",
        ),
        (
            lambda: Tokenizer([*SPECIAL_TOKENS, "a"], characters=1),
            "characters must be True or False",
        ),
        (
            lambda: train_character_level("a text"),
            "train_character_level: lines must be many texts",
        ),
        (lambda: train_character_level([""]), "train_character_level: lines hold no text"),
        (
            lambda: train_character_level(["a"]).encode(["a"]),
            "encode: text must be a str, got list",
        ),
    ],
)
def test_what_is_no_character_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("seed", range(5))
def test_a_long_text_is_normalized_as_unicode_says(seed):
    marks = "\u0301\u0316\u0327\u0338\u0344\u0345\u05b0\u0f73\u0f81\u3099"
    rng = np.random.default_rng(seed)
    text = "".join(rng.choice(list("aé한각ㄱẹﾞ①" + 3 * marks), 1500))
    for form in ("NFC", "NFKC"):
        assert unicode_normalize(form, text) == unicodedata.normalize(form, text)


def test_no_long_run_of_marks_is_left_to_be_sorted_by_insertion(monkeypatch):
    """Of 400,000 marks out of order `unicodedata` took a minute and a half; in order, no time."""
    true = unicodedata.normalize

    def in_order(form, text):
        classes = [unicodedata.combining(letter) for letter in true("NFD", text[:1])[1:] + text[1:]]
        falls = sum(0 < after < before for before, after in pairwise(classes))
        assert falls < 1000, "marks out of order"
        return true(form, text)

    monkeypatch.setattr(normalization.unicodedata, "normalize", in_order)
    for text in ("a" + "\u0301\u0316" * 2000, "\u0344\u0316" * 2000):
        assert normalize(text) == true("NFC", text)
        assert unicode_normalize("NFKC", text) == true("NFKC", text)


def test_the_usual_scripts_of_texts_and_words_in_others():
    assert usual_scripts(["Größe, 3 + 4", "naïve"]) == ("LATIN",)
    assert usual_scripts(["猫は魚を食べる", "ネコ"]) == ("CJK", "HIRAGANA", "KATAKANA")
    assert usual_scripts(["a" * 99, "я"]) == ("CYRILLIC", "LATIN")
    assert usual_scripts(["a" * 100, "я"]) == ("LATIN",)  # less than one in a hundred
    assert usual_scripts(["1, 2"]) == usual_scripts([]) == ()
    for word, foreign in (("кот", True), ("고양이", True), ("größe", False), ("x고", False),
                          ("1984", False), ("...", False), ("고.", True)):  # fmt: skip
        assert is_foreign(word, ("LATIN",)) == foreign, word
    assert is_foreign("a", ())
