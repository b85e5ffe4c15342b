"""The words of the grammar: particles by the last letter, forms as Korean and English have them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qkv.corpus import has_final_consonant, with_particle
from qkv.corpus.clause import QUALITIES, VERBS


@pytest.mark.parametrize(
    ("noun", "topic", "subject", "thing"),
    [
        ("고양이", "고양이는", "고양이가", "고양이를"),
        ("밥", "밥은", "밥이", "밥을"),
        ("물", "물은", "물이", "물을"),
        ("가", "가는", "가가", "가를"),
        ("힣", "힣은", "힣이", "힣을"),
    ],
)
def test_particles_follow_the_last_letter(noun, topic, subject, thing):
    forms = [with_particle(noun, name) for name in ("topic", "subject", "object")]
    assert forms == [topic, subject, thing]


@given(st.integers(ord("가"), ord("힣")))
def test_a_syllable_is_closed_where_its_decomposition_has_three_letters(code):
    letters = unicodedata.normalize("NFD", chr(code))
    assert has_final_consonant("고" + chr(code)) == (len(letters) == 3)


@pytest.mark.parametrize("word", ["", "cat", "밥!", "ㅂ", unicodedata.normalize("NFD", "밥")])
def test_only_hangul_syllables_take_a_particle(word):
    with pytest.raises(ValueError, match="must end in a Hangul syllable, got "):
        with_particle(word, "object")


def test_an_unknown_particle_is_refused():
    with pytest.raises(ValueError, match="must be one of 'topic', 'subject', 'object', got 'to'"):
        with_particle("밥", "to")


def test_forms_of_the_lexicon_end_as_korean_verbs_do():
    """Before 것이다 a form ends in ㄹ, before 않다 in 지; the plain style ends in 다."""
    forms = [word.korean.split() for word in VERBS.values()]
    forms += [word.korean.split()[1:5] for word in QUALITIES.values()]
    for present, past, prospective, negated in forms:
        assert present[-1] == past[-1] == "다"
        assert negated[-1] == "지"
        assert unicodedata.normalize("NFD", prospective)[-1] == "ᆯ"
        assert unicodedata.normalize("NFD", past[:-1])[-1] == "ᆻ"
    for word in (*VERBS.values(), *QUALITIES.values()):
        assert word.korean == unicodedata.normalize("NFC", word.korean)


def test_the_form_of_a_reason_has_the_stem_of_the_past():
    """Vowel harmony and irregular stems are the same before -ㅆ다 and -서: 추웠다, 추워서."""
    for word in QUALITIES.values():
        _, _, past, _, _, reason = word.korean.split()
        assert (
            unicodedata.normalize("NFC", unicodedata.normalize("NFD", past[:-1])[:-1]) + "서"
            == reason
        )


def test_no_english_form_is_both_present_and_past():
    """With a plural subject, such a sentence would have two translations."""
    for verb in VERBS.values():
        assert len(set(verb.english.split())) == 3
