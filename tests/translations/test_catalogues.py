"""Every catalogue: up to date with its source, whole, and the same in all that is no word."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import nbformat
import pytest

from tools.translations.catalogue import read_catalogue, update_catalogue
from tools.translations.code import columns, same_code
from tools.translations.comparison import FIELDS, PARTS, differences, english_left
from tools.translations.edition import (
    chapters,
    editions,
    generate_notebook,
    generate_readme,
    messages_by_catalogue,
    notebook_path,
    readme_path,
)
from tools.translations.notebooks import is_setup, with_language

ROOT = Path(__file__).parents[2]
# What begins a translator's comment that says why a message stays English, or counts otherwise.
KEPT, NUMBERS = "kept: ", "numbers: "
COLUMNS = 100  # of a line of code, Hangul counted twice
CATALOGUES = [
    (language, path, messages)
    for language in editions()
    for path, messages in messages_by_catalogue(ROOT, language)
]
NOTEBOOKS = [
    (language, chapter, notebook_path(ROOT, language, chapter))
    for language in editions()
    for chapter in chapters(ROOT)
    if notebook_path(ROOT, language, chapter).exists()
]
every_catalogue = pytest.mark.parametrize(
    ("language", "path", "messages"), CATALOGUES, ids=[path.stem for _, path, _ in CATALOGUES]
)
every_notebook = pytest.mark.parametrize(
    ("language", "chapter", "path"), NOTEBOOKS, ids=[path.stem for *_, path in NOTEBOOKS]
)


def entries(path, language):
    return [message for message in read_catalogue(path, language) if message.id]


def commented(message, beginning):
    return any(comment.startswith(beginning) for comment in message.user_comments)


def sentences(language):
    """What stays English wherever it stands: the sentences that the book takes apart."""
    path = ROOT / "book" / "locale" / language / "kept_in_english.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file)]


@every_catalogue
def test_it_is_what_make_translations_writes(language, path, messages, tmp_path):
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    update_catalogue(copy, language, messages)
    assert copy.read_text("utf-8") == path.read_text("utf-8"), "run make translations"


@every_catalogue
def test_every_message_has_a_translation_of_its_english(language, path, messages):
    missing = [m.id for m in entries(path, language) if not m.string]
    changed = [m.id for m in entries(path, language) if m.fuzzy]
    assert not missing, f"{path.name}: not translated"
    assert not changed, f"{path.name}: the English changed"


@every_catalogue
def test_numbers_code_formulas_links_citations_and_tags_are_the_same(language, path, messages):
    found = {}
    for message in entries(path, language):
        parts = dict(FIELDS if message.auto_comments or path.stem == "qkv" else PARTS)
        if commented(message, NUMBERS):
            del parts["numbers"]
        if message.string and (problems := differences(message.id, message.string, parts)):
            found[message.id] = problems
    assert not found


@every_catalogue
def test_nothing_is_left_in_english_without_a_reason(language, path, messages):
    kept = sentences(language)
    found = {
        m.id: left
        for m in entries(path, language)
        if not commented(m, KEPT) and (left := english_left(m.id, m.string, kept))
    }
    assert not found


@every_notebook
def test_a_notebook_is_what_its_catalogue_makes_of_the_english_one(language, chapter, path):
    assert path.read_text("utf-8") == generate_notebook(ROOT, language, chapter)


@pytest.mark.parametrize("language", editions())
def test_a_readme_is_what_its_catalogue_makes_of_the_english_one(language):
    made = readme_path(ROOT, language)
    assert made.read_text("utf-8") == generate_readme(ROOT, language)
    pictures = re.findall(r"!\[[^]]*\]\((.*?)\)", made.read_text("utf-8"))
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)


@every_notebook
def test_its_code_is_the_same_but_for_words_and_the_language(language, chapter, path):
    english, translated = (nbformat.read(one, as_version=4).cells for one in (chapter, path))
    assert [cell.id for cell in english] == [cell.id for cell in translated]
    for one, other in zip(english, translated, strict=True):
        if one.cell_type == "code":
            source = with_language(one.source, language) if is_setup(one) else one.source
            assert same_code(source, other.source), one.id
            for line in other.source.splitlines():
                assert columns(line) <= COLUMNS or len(line) == columns(line), line
