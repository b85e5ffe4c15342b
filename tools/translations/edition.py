"""An edition in another language: its catalogues, its notebooks, and the sources it is built of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from qkv.explore.start_map import BOOK
from qkv.language import ENGLISH, languages, using_language
from qkv.notebooks.one_run import CODE
from qkv.notebooks.stored_form import notebook_text
from tools.editions import copy_all_but_chapters, notebooks_in
from tools.notebook_rules.length import READING_TIMES, reading_times
from tools.translations.catalogue import (
    Message,
    Translations,
    read_catalogue,
    update_catalogue,
)
from tools.translations.notebooks import messages_of_notebook, translate_notebook
from tools.translations.package import messages_of_package
from tools.translations.pages import (
    messages_of_page,
    messages_of_settings,
    translate_config,
    translate_contents,
    translate_page,
    with_notice,
)
from tools.translations.readme import messages_of_readme, translate_readme
from tools.translations.results import messages_of_results, result_pages, translate_results

SETTINGS, RESULTS, README = "settings", "benchmarks", "README.md"


def editions() -> tuple[str, ...]:
    """The languages that the book is translated into: those of the package but English."""
    return tuple(language for language in languages() if language != ENGLISH)


def chapters(root: Path) -> list[Path]:
    """The English chapters, of which the others are made."""
    return notebooks_in(root / "chapters")


def pages(root: Path) -> list[Path]:
    """The pages around the chapters."""
    return [*sorted((root / "book").glob("*.md")), root / "book/library.rst", root / "CHANGELOG.md"]


def sources(root: Path) -> list[Path]:
    """All that has a catalogue of its own: chapters, pages, and the README."""
    return [*chapters(root), *pages(root), root / README]


def catalogue_path(root: Path, language: str, name: str) -> Path:
    """The catalogue of a chapter or a page, by its name without the ending."""
    return root / "book" / "locale" / language / f"{name}.po"


def package_catalogue(root: Path, language: str) -> Path:
    return root / "src" / "qkv" / "locale" / language / "LC_MESSAGES" / "qkv.po"


def notebook_path(root: Path, language: str, chapter: Path) -> Path:
    """Where the chapter stands in a language."""
    return root / "chapters" / language / chapter.name


def is_translated(root: Path, language: str, source: Path) -> bool:
    return catalogue_path(root, language, source.stem).exists()


def messages_by_catalogue(root: Path, language: str) -> Iterator[tuple[Path, list[Message]]]:
    """Every catalogue of a language that there is, with the messages of its source."""
    yield package_catalogue(root, language), list(messages_of_package(root))
    contents = messages_of_settings(root / "_toc.yml", root / "_config.yml")
    yield catalogue_path(root, language, SETTINGS), list(contents)
    yield catalogue_path(root, language, RESULTS), list(messages_of_results(root))
    for source in sources(root):
        path = catalogue_path(root, language, source.stem)
        if path.exists():
            yield path, list(messages_of(source))


def messages_of(source: Path) -> Iterator[Message]:
    if source.suffix == ".ipynb":
        return messages_of_notebook(nbformat.read(source, as_version=4))
    if source.name == README:
        return messages_of_readme(source)
    return messages_of_page(source)


def update_catalogues(root: Path, language: str) -> dict[Path, Any]:
    """Bring every catalogue to its source; the catalogues by their files."""
    return {
        path: update_catalogue(path, language, messages)
        for path, messages in messages_by_catalogue(root, language)
    }


def translations(root: Path, language: str, name: str) -> Translations:
    return Translations(read_catalogue(catalogue_path(root, language, name), language))


def generate_notebook(root: Path, language: str, chapter: Path) -> str:
    """The text of a chapter's notebook in a language, with the outputs that are stored there."""
    english = nbformat.read(chapter, as_version=4)
    with using_language(language):
        made = translate_notebook(english, language, translations(root, language, chapter.stem))
    place = notebook_path(root, language, chapter)
    stored = nbformat.read(place, as_version=4) if place.exists() else None
    cells = {cell.id: cell for cell in stored.cells} if stored else {}
    for cell in made.cells:
        cell.metadata.pop(CODE, None)
        before = cells.get(cell.id)
        if before is None or cell.cell_type != "code" or before.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = before.outputs, before.execution_count
        if CODE in before.metadata:
            cell.metadata[CODE] = before.metadata[CODE]
    if stored and "widgets" in stored.metadata:
        made.metadata["widgets"] = stored.metadata["widgets"]
    first = first_text(made)
    times = reading_times(english, made, language)
    first.source = READING_TIMES.sub(times, first.source, count=1)
    return str(notebook_text(made))


def generate_readme(root: Path, language: str) -> str:
    """The text of the README in a language."""
    source = (root / README).read_text(encoding="utf-8")
    with using_language(language):
        titles = [chapter.title for chapter in BOOK]
        return translate_readme(source, titles, translations(root, language, "README"))


def readme_path(root: Path, language: str) -> Path:
    return root / f"README.{language}.md"


def copy_translated(root: Path, language: str, folder: Path) -> Path:
    """Lay out the sources of the book of `root` in a language, in an empty folder.

    What is not translated stands there in English; a chapter of which nothing is says so.
    """
    copy_all_but_chapters(root, folder)
    with using_language(language):
        for page in pages(root):
            if is_translated(root, language, page):
                text = translate_page(page, translations(root, language, page.stem))
            else:
                text = with_notice(page.read_text(encoding="utf-8"))
            (folder / page.relative_to(root)).write_text(text, encoding="utf-8")
        translate = translations(root, language, RESULTS)
        for page in result_pages(root):
            text = translate_results(page, translate)
            (folder / page.relative_to(root)).write_text(text, encoding="utf-8")
        (folder / "chapters").mkdir()
        for chapter in chapters(root):
            copy_chapter(root, language, chapter, folder / "chapters" / chapter.name)
        translate = translations(root, language, SETTINGS)
        contents, config = root / "_toc.yml", root / "_config.yml"
        (folder / contents.name).write_text(translate_contents(contents, translate), "utf-8")
        text = translate_config(config, language, translate)
        (folder / config.name).write_text(text, "utf-8")
    return folder


def copy_chapter(root: Path, language: str, chapter: Path, target: Path) -> None:
    """The chapter in a language; in English with a notice where it is not translated."""
    translated = notebook_path(root, language, chapter)
    if translated.exists():
        shutil.copy(translated, target)
        return
    notebook = nbformat.read(chapter, as_version=4)
    first = first_text(notebook)
    first.source = with_notice(first.source)
    target.write_text(notebook_text(notebook), encoding="utf-8")


def first_text(notebook: Any) -> Any:
    """The cell that holds the title of a chapter."""
    return next(cell for cell in notebook.cells if cell.cell_type == "markdown")
