"""What a translation must share with its message, and the English that it must not keep."""

import pytest

from tools.translations.comparison import FIELDS, differences, english_left


@pytest.mark.parametrize(
    ("message", "translation", "part"),
    [
        ("89 % of 4 words", "단어 4개 중 89 %", ""),
        ("89 % of 4 words", "단어 5개 중 89 %", "numbers"),
        ("`x` and `y`", "`y`와 `x`", ""),
        ("`x` and `y`", "`y`와 z", "inline code"),
        ("$x$ is $y^2$", "$x$는 $y^3$입니다", "formulas"),
        ("$x \\text{ here}$", "$x \\text{ 여기}$", ""),
        ("[a](b.md#c)", "[가](b.md#d)", "links"),
        ("{term}`key`", "{term}`query`", "citations"),
        ("<em>a</em>", "<b>가</b>", "tags"),
        ('<img alt="a">', '<img alt="가">', ""),
        ("{time of day} here", "여기", "names in braces"),
        ("| a | b |\n|---|---|", "| 가 |\n|---|", "table rows"),
        ("- a\n- b", "- 가 나", "list items"),
        ("a **mask** is", "**마스크**(mask)는", ""),
        ("a **mask** is", "**마스크(mask)**는", "asterisks"),
    ],
)
def test_what_is_no_word_is_the_same_on_both_sides(message, translation, part):
    assert [found.partition(":")[0] for found in differences(message, translation)] == [
        part
    ] * bool(part)


def test_fields_may_change_their_order_and_nothing_else():
    assert not differences("{a:.2f} of {b}", "{b} 중 {a:.2f}", FIELDS)
    assert differences("{a:.2f} of {b}", "{b} 중 {a:.1f}", FIELDS)


@pytest.mark.parametrize(
    ("message", "translation", "left"),
    [
        ("Some words here.", "여기 단어 몇 개.", ""),
        ("Some words here.", "Some words here.", "Some words here."),
        ("masked", "masked", ""),
        ("causal mask", "인과 마스크(causal mask)", ""),
        ("*The cat sat on the mat*, here", "여기 *The cat sat on the mat*", ""),
        ("It is so.", "그렇습니다. and it was always so", "and it was always so"),
    ],
)
def test_english_is_left_where_it_is_code_a_term_or_a_sentence_that_is_kept(
    message, translation, left
):
    assert english_left(message, translation, ["The cat sat on the mat"]) == left
