"""The terms of the Korean edition: one Korean word for one thing, the same as in the glossary."""

import csv
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "book" / "locale" / "ko" / "terms.csv"
ENTRY = re.compile(r"^(?P<term>\S.*)\n  \*\*(?P<korean>.*?)(?:\((?P<also>.*)\))?\*\* · ", re.M)
GLOSSARY = {
    entry["term"]: entry["korean"]
    for entry in ENTRY.finditer((ROOT / "book" / "glossary.md").read_text("utf-8"))
}
with TABLE.open(encoding="utf-8", newline="") as file:
    TERMS = list(csv.DictReader(file))
CHOSEN = [term["korean"] for term in TERMS]


def more_than_once(words: list[str]) -> list[str]:
    return [word for word, count in Counter(words).items() if count > 1]


def refused(term: dict[str, str]) -> list[str]:
    return [word for word in term["not"].split("|") if word]


def test_the_columns_are_filled() -> None:
    assert list(TERMS[0]) == ["english", "korean", "not", "source"]
    for term in TERMS:
        assert all(term[column] for column in ("english", "korean")), term
        assert None not in term, f"{term['english']}: more fields than columns"


def test_each_term_of_the_glossary_stands_once_with_its_korean_word() -> None:
    assert len(GLOSSARY) == (ROOT / "book" / "glossary.md").read_text("utf-8").count("** · ")
    table = {term["english"]: term["korean"] for term in TERMS}
    assert {english: table.get(english) for english in GLOSSARY} == GLOSSARY


def test_no_english_and_no_korean_word_stands_twice() -> None:
    assert more_than_once([term["english"] for term in TERMS]) == []
    assert more_than_once(CHOSEN) == []


def test_a_refused_word_is_part_of_no_chosen_one() -> None:
    words = [word for term in TERMS for word in refused(term)]
    assert [word for word in words if word != word.strip()] == []
    assert [(word, korean) for word in words for korean in CHOSEN if word in korean] == []


def test_no_word_is_refused_twice() -> None:
    assert more_than_once([word for term in TERMS for word in refused(term)]) == []
