"""What a benchmark wrote, in another language: once translated, whatever is measured next."""

from pathlib import Path

from tools.translations.results import messages_of_result, result_pages, translate_parts

ROOT = Path(__file__).parents[2]
RESULT = """\
# Two models

- Measured: 2026-11-22; took: 62 s
- Versions: Python 3.11.7

Trained for {minutes} minutes in `model_2.py`.
![Two bars: {minutes} and 7](two_models.svg)

| model | minutes |
|---|--:|
| ours, float32 | 62.5 |
| *The dog is fast* | 개는 빠르다 |
"""
KOREAN = {
    "Two models": "두 모델",
    "Measured: {0}; took: {1} s": "걸린 시간: {1}초; 측정일: {0}",
    "minutes": "분",
    "ours, {0}": "우리 모델, {0}",
}


def translated(source: str) -> str:
    return translate_parts(source, lambda text, place="": KOREAN.get(text))


def test_words_of_a_table_and_of_a_list_are_messages_and_sentences_of_a_model_are_not() -> None:
    assert messages_of_result(RESULT.format(minutes=5)) == [
        "Two models",
        "Measured: {0}; took: {1} s",
        "Versions: Python {0}",
        "Trained for {0} minutes in `{1}`.\n![Two bars: {2} and {3}](two_models.svg)",
        "model",
        "minutes",
        "ours, {0}",
    ]


def test_a_new_measurement_needs_no_new_translation() -> None:
    one, other = (RESULT.format(minutes=minutes) for minutes in ("5", "1,234.5"))
    assert messages_of_result(one) == messages_of_result(other)


def test_values_stand_where_the_translation_has_their_fields() -> None:
    lines = translated(RESULT.format(minutes=5)).splitlines()
    assert lines[0] == "# 두 모델"
    assert lines[2] == "- 걸린 시간: 62초; 측정일: 2026-11-22"
    assert lines[5] == "Trained for 5 minutes in `model_2.py`."  # not translated
    assert lines[8:10] == ["| model | 분 |", "|---|--:|"]
    assert lines[10] == "| 우리 모델, float32 | 62.5 |"


def test_braces_are_no_fields() -> None:
    assert translated("a {set} of 2") == "a {set} of 2"


def test_a_result_without_a_translation_is_the_english_one() -> None:
    pages = result_pages(ROOT)
    assert pages
    for page in pages:
        source = page.read_text(encoding="utf-8")
        assert translate_parts(source, lambda text, place="": None) == source
