"""A page in another language names the sections of its chapters as they are headed there."""

import re
from pathlib import Path

import pytest

from qkv.explore.start_map import BOOK
from tools.translations.catalogue import Translations, read_catalogue
from tools.translations.edition import catalogue_path, editions

ROOT = Path(__file__).parents[2]
LESSON = re.compile(r"^- \*\*Ask:\*\*.+{question}`(\w+)-\d+`.+\*\*Leave out:\*\* (.+)", re.DOTALL)
NAMED = re.compile(r"(?<!\*)\*([^*`]+)\*(?!\*)")
NOTEBOOKS = {chapter.concept: chapter.notebook for chapter in BOOK}


@pytest.mark.parametrize("language", editions())
def test_what_a_lesson_leaves_out_is_a_section_of_the_translated_chapter(language):
    lessons = [
        (found, str(message.string))
        for message in read_catalogue(catalogue_path(ROOT, language, "teaching"), language)
        if (found := LESSON.match(str(message.id)))
    ]
    assert len(lessons) == len(BOOK)
    for found, translation in lessons:
        path = catalogue_path(ROOT, language, NOTEBOOKS[found[1]])
        headings = Translations(read_catalogue(path, language))
        for name in NAMED.findall(found[2]):
            heading = headings(name)
            if heading:  # the chapter may stand in English as yet
                assert f"*{heading}*" in translation, f"{path.name}: {name!r} is {heading!r}"
