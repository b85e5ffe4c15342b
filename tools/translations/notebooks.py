"""The messages of a chapter, and the chapter in another language, made of the English one."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from qkv.language import gettext
from tools.colab import is_setup as is_setup_for_colab
from tools.notebook_rules.length import READING_TIMES
from tools.translations.catalogue import Message, Translate
from tools.translations.code import translate_code, words_of_code
from tools.translations.markdown import INSIDE, TITLE, messages_of_markdown, translate_markdown

# In a cell's metadata: what the page says of its picture, and on its folds.
METADATA = (
    ("mystnb", "image", "alt"),
    ("mystnb", "figure", "caption"),
    ("mystnb", "code_prompt_show"),
    ("mystnb", "code_prompt_hide"),
)
OURS = re.compile(r"^(import|from) qkv\b", re.MULTILINE)
STYLE = re.compile(r"^style\(\)$", re.MULTILINE)


def messages_of_notebook(notebook: Any) -> Iterator[Message]:
    """The messages of a chapter's cells, in the order in which they stand."""
    for cell in notebook.cells:
        if is_setup_for_colab(cell):
            continue
        for *path, name in METADATA:
            if text := reached(cell.metadata, path).get(name):
                yield Message(text, cell.id)
        if cell.cell_type == "markdown":
            texts = (behind_times(text)[1] for text in messages_of_markdown(cell.source))
            yield from (Message(text, cell.id) for text in texts if text)
            continue
        lines = cell.source.splitlines()
        for words in words_of_code(cell.source):
            number = cell.source.count("\n", 0, words.start)
            yield Message(words.message, cell.id, lines[number].strip())


def translate_notebook(notebook: Any, language: str, translate: Translate) -> Any:
    """The chapter in another language: its cells, without outputs but with their ids and metadata.

    What has no translation stays English, and says so where it is prose.
    """
    result = copy.deepcopy(notebook)
    result.metadata.pop("widgets", None)
    for cell in result.cells:
        translate_cell(cell, partial(translate, place=cell.id))
    setup = next(cell for cell in result.cells if is_setup(cell))
    setup.source = with_language(setup.source, language)
    return result


def translate_cell(cell: Any, translate: Callable[[str], str | None]) -> None:
    if is_setup_for_colab(cell):
        return
    for *path, name in METADATA:
        place = reached(cell.metadata, path)
        if text := place.get(name):
            place[name] = translate(text) or text
    if cell.cell_type == "markdown":
        cell.source = translate_markdown(cell.source, partial(translate_text, translate=translate))
    else:
        cell.outputs, cell.execution_count = [], None
        cell.source = translate_code(cell.source, lambda text: translate(text) or text)


def behind_times(text: str) -> tuple[str, str]:
    """The minutes at the top of a chapter, which are no message, and what follows them."""
    if times := READING_TIMES.match(text):
        return times[0], text[times.end() :].strip()
    return "", text


def translate_text(text: str, how: str, translate: Callable[[str], str | None]) -> str:
    """A block in another language, or in English and marked as what it is."""
    times, text = behind_times(text)
    if not times:
        return translate(text) or marked(text, how)
    return f"{times} {(translate(text) or text) if text else ''}".rstrip()


def is_setup(cell: Any) -> bool:
    """Whether a chapter imports the package and sets its style there."""
    return bool(cell.cell_type == "code" and STYLE.search(cell.source))


def reached(metadata: Any, path: list[str]) -> Any:
    """The mapping at a path of keys; an empty one where there is none."""
    for name in path:
        metadata = metadata.get(name, {})
    return metadata


def with_language(source: str, language: str) -> str:
    """The code of a set-up cell, which chooses the language before its style."""
    source = OURS.sub("import qkv\\n\\g<0>", source, count=1)
    return STYLE.sub(f'qkv.set_language("{language}")\\n\\g<0>', source, count=1)


def marked(text: str, how: str) -> str:
    """English where a translation is missing, marked as what it is where a mark can stand."""
    if text.startswith("<") or how == INSIDE:
        return text
    if how == TITLE:
        return gettext("{text} (English)").format(text=text)
    return f'<div class="qkv-untranslated" lang="en">\n\n{text}\n\n</div>'
