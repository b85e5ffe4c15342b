"""Cut the chapters into decks of slides, into _build/slides. The old ones stay until all is whole.

python -m tools.slides                    every chapter, in each language that is built
python -m tools.slides masks              one; the other decks stay as they are
python -m tools.slides --language ko      of the Korean book alone, into _build/slides/ko
python -m tools.slides --book ..          with links to the book, from the decks' folder

The pages of the book are cut, so it has to be built before: `make slides` does both.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "book" / "extensions"))

from explorers import embedded
from no_external_requests import outside_loads
from own_scripts import foreign_scripts

from qkv.language import ENGLISH, get_language, languages, using_language
from qkv.notebooks.widget_state import state_of_widget
from tools.editions import built_editions, edition_folder, whole_edition
from tools.run_notebooks import NotebookError, find_chapters
from tools.slides.cut import cut, images
from tools.slides.deck import FONT_FACES, deck_page, index_page
from tools.slides.page import Chapter, SlideError, read_chapter
from tools.web_fonts import copy_fonts, font_faces

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html"
SLIDES = ROOT / "_build" / "slides"
NPM = ROOT / "node_modules"
OURS = ROOT / "book" / "slides"
FROM_BOOK = (
    *("explorers.css", "explorers.js", "favicon.svg", "katex", "pygments.css"),
    *("site.css", "site.js", "third-party-notices.txt"),
)
FROM_NPM = {
    **{
        f"reveal.js/dist/{name}": f"reveal/{name}"
        for name in ("reveal.js", "reveal.css", "reset.css")
    },
    "reveal.js/plugin/notes/notes.js": "reveal/notes.js",
    "reveal.js/LICENSE": "reveal/LICENSE.txt",
    "@fontsource/inconsolata/files/inconsolata-latin-400-normal.woff2": "inconsolata.woff2",
    "@fontsource/inconsolata/LICENSE": "inconsolata-LICENSE.txt",
}
TITLE = re.compile(r"<title>(.*?)</title>")
MOST_SLIDES = 25


def build(names: Sequence[str], book: Path, slides: Path, address: str) -> list[str]:
    """Write the decks aside and move the folder into place; says how many slides each has.

    Args:
        book, slides: the folders of the edition in the reader's language.
        address: of that book.
    """
    language = get_language()
    named = names if language == ENGLISH else [f"{language}/{name}" for name in names]
    paths = find_chapters(named, ROOT / "chapters", [language])
    part = slides.with_name("slides-part")
    shutil.rmtree(part, ignore_errors=True)  # what an interrupted run left
    if names and slides.is_dir():
        shutil.copytree(slides, part)
    copy_static(book, part / "_static")
    said = [write_deck(path, book, part, address) for path in paths]
    decks = sorted(part.glob("[0-9][0-9]_*.html"))
    (part / "index.html").write_text(index_page([about(d) for d in decks], address), "utf-8")
    check(part)
    for kept in set(languages()) & {path.name for path in slides.glob("*/")}:  # other editions
        shutil.rmtree(part / kept, ignore_errors=True)
        (slides / kept).replace(part / kept)
    shutil.rmtree(slides, ignore_errors=True)
    part.replace(slides)
    return said


def write_deck(path: Path, book: Path, part: Path, address: str) -> str:
    """Write one deck and copy its pictures."""
    chapter = read_chapter(path, book / "chapters" / f"{path.stem}.html")
    slides = cut(chapter, lambda model: explorer(chapter.notebook, model))
    for src in images(slides):
        (part / src).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(book / src, part / src)
    link = f"{address}/chapters/{path.stem}.html" if address else ""
    text = deck_page(int(path.stem[:2]), chapter_title(chapter), slides, link)
    (part / f"{path.stem}.html").write_text(text, encoding="utf-8")
    return f"{path.stem}: {len(slides)} slides"


def explorer(notebook: dict[str, Any], model: str) -> tuple[str, str]:
    """A widget as the page has it, with its state, and its hint."""
    state = state_of_widget(notebook, model)["state"]
    hints = [one["state"]["value"] for one in state.values() if is_hint(one)]
    return embedded(notebook, model), " ".join(hints)


def is_hint(model: dict[str, Any]) -> bool:
    return "qkv-hint" in model["state"].get("_dom_classes", [])


def chapter_title(chapter: Chapter) -> str:
    """The words of the chapter's heading."""
    heading = next(b for cell in chapter.cells for b in cell.blocks if b.name == "h1")
    return heading.get_text().removesuffix("#").strip()


def about(deck: Path) -> tuple[str, str, int]:
    """File, title and number of slides of a deck that is written."""
    text = deck.read_text(encoding="utf-8")
    match = TITLE.search(text)
    return deck.name, match[1] if match else deck.stem, len(re.findall(r"<h[12]>", text))


def copy_static(book: Path, static: Path) -> None:
    """Copy what the decks load: parts of the book, reveal.js, and our own style and script."""
    shutil.rmtree(static, ignore_errors=True)
    (static / "reveal").mkdir(parents=True)
    for name in FROM_BOOK:
        source = book / "_static" / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, static / name)
    for name, target in FROM_NPM.items():
        shutil.copyfile(NPM / name, static / target)
    for source in OURS.iterdir():
        shutil.copyfile(source, static / source.name)
    if rules := font_faces(get_language()):
        (static / FONT_FACES).write_text(rules, "utf-8")
        copy_fonts(get_language(), static)


def check(part: Path) -> None:
    """Refuse decks that ask another host for anything or run scripts that are not the book's."""
    problems = [f"{file} loads {address}" for file, address in outside_loads(part)]
    for page in sorted(part.glob("*.html")):
        found = foreign_scripts(page.read_text(encoding="utf-8"), set())
        problems += [f"{page.name} {problem}" for problem in found]
    if problems:
        raise SlideError("The slides may load nothing but the book's own:\n" + "\n".join(problems))


def edition_address(book: str, language: str) -> str:
    """The address of an edition, from its decks: they stand a folder deeper than the English."""
    book = book.rstrip("/")
    if not book or language == ENGLISH:
        return book
    return f"{book}/{language}" if "://" in book else f"../{book}/{language}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="chapter")
    parser.add_argument(
        "--book", default="", metavar="ADDRESS", help="of the book, for links to it"
    )
    parser.add_argument("--output", type=Path, default=SLIDES, metavar="FOLDER")
    parser.add_argument("--language", choices=languages(), help="else all that are built")
    options = parser.parse_args()
    try:
        for language in [options.language] if options.language else built_editions(BOOK):
            book, output = whole_edition(BOOK, language), edition_folder(options.output, language)
            try:
                with using_language(language):
                    address = edition_address(options.book, language)
                    said = build(options.names, book, output, address)
            except NotebookError:
                if options.language or language == ENGLISH:
                    raise
                continue  # a chapter that this edition does not have yet
            print("\n".join(f"{output.name}/{line}" for line in said))
    except (SlideError, NotebookError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
