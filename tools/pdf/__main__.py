"""Print the built book and its chapters into _build/pdf.

python -m tools.pdf                the whole book, and each chapter, in each language that is built
python -m tools.pdf masks cost     these chapters
python -m tools.pdf book           the whole book
python -m tools.pdf --language ko  of the Korean book alone, into _build/pdf/ko
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml  # type: ignore[import-untyped]
from bs4 import BeautifulSoup
from playwright.sync_api import Browser
from rich.progress import Progress

from qkv.files import atomic_write
from qkv.language import languages, using_language
from tools.browser import INSTALL_HINT, find_browser
from tools.editions import built_editions, edition_folder, whole_edition
from tools.pdf.document import one_chapter, whole_book
from tools.pdf.front_matter import Imprint
from tools.pdf.pages import BIBLIOGRAPHY, FIRST, Entry, contents, read_page
from tools.pdf.printing import chromium, laid_out, print_pdf
from tools.translations.edition import SETTINGS, translations
from tools.web_fonts import copy_fonts

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html"
OUT = ROOT / "_build" / "pdf"
WHOLE = "the-runnable-transformer"


def imprint(root: Path, book: Path, address: str) -> Imprint:
    """What the first page says of its edition, and _config.yml and pyproject.toml of the book."""
    page = BeautifulSoup((book / FIRST).read_bytes(), "lxml")
    [title, footer] = (page.select(one)[0] for one in (".logo__title", ".extra_footer"))
    config = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    language = str(page.select("html")[0]["lang"])
    translate = translations(root, language, SETTINGS)
    return Imprint(
        title=title.get_text(strip=True),
        author=translate(config["author"]) or config["author"],
        version=project["version"],
        licence=next(footer.stripped_strings),
        address=address,
        language=language,
    )


def chapters(entries: list[Entry]) -> dict[str, Entry]:
    """Each chapter by the name of its file, such as 05_masks."""
    return {Path(e.file).stem: e for e in entries if e.file.startswith("chapters/")}


def document(book: Path, entries: list[Entry], name: str, root: Path = ROOT) -> str:
    """The HTML of one PDF: of a chapter, or, named WHOLE, of the whole book."""
    first = read_page(book, next(entry for entry in entries if entry.file == FIRST))
    words = imprint(root, book, first.address)
    if name == WHOLE:
        return whole_book([read_page(book, entry) for entry in entries], words)
    works = [read_page(book, e) for e in entries if Path(e.file).stem == BIBLIOGRAPHY]
    return one_chapter(read_page(book, chapters(entries)[name]), next(iter(works), None), words)


def print_all(
    browser: Browser, book: Path, names: list[str], begun: Callable[[str], object] = str
) -> Iterator[tuple[str, str, bytes]]:
    """(name, HTML, PDF) of each: built in a folder of its own, with links to the book's files.

    Args:
        begun: hears the name of each before it is printed.
    """
    entries = contents(book)
    language = imprint(ROOT, book, "").language
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for shared in ("_static", "_images"):
            (place / shared).symlink_to(book / shared, target_is_directory=True)
        copy_fonts(language, place)
        for name in names:
            begun(name)
            file = place / f"{name}.html"
            html = document(book, entries, name)
            file.write_text(html, "utf-8")
            with laid_out(browser, file) as page:
                yield name, html, print_pdf(page)


def chosen(entries: list[Entry], words: list[str]) -> list[str]:
    """The names of what the words of the command line ask for.

    Raises:
        ValueError: a word names no chapter.
    """
    known = chapters(entries)
    short = {name.partition("_")[2]: name for name in known}
    if not words:
        return [WHOLE, *known]
    names = [WHOLE if word == "book" else short.get(word, word) for word in words]
    if unknown := [name for name in names if name not in known and name != WHOLE]:
        raise ValueError(f"no chapter {unknown[0]!r}: name book, or one of {', '.join(short)}")
    return names


def print_edition(language: str, words: list[str]) -> None:
    """Print what the words of the command line ask for; written once all is printed."""
    book, out = whole_edition(BOOK, language), edition_folder(OUT, language)
    names = chosen(contents(book), words)
    made: dict[str, bytes] = {}
    with using_language(language), chromium() as browser, Progress(transient=True) as progress:
        task = progress.add_task("Printing", total=len(names))

        def begun(name: str) -> None:
            progress.update(task, description=name)

        for name, _, data in print_all(browser, book, names, begun):
            made[name] = data
            progress.advance(task)
    out.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        atomic_write(out / f"{name}.pdf", data)
    print(f"{len(made)} PDFs are in {out.relative_to(ROOT)}.")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="chapters, or book; else all of them")
    parser.add_argument("--language", choices=languages(), help="else all that are built")
    options = parser.parse_args()
    if find_browser() is None:
        print(INSTALL_HINT, file=sys.stderr)
        return 1
    try:
        for language in [options.language] if options.language else built_editions(BOOK):
            print_edition(language, options.names)
    except FileNotFoundError:
        print("The book is not built: run make html first.", file=sys.stderr)
        return 1
    except (ValueError, RuntimeError) as error:
        print(f"pdf: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the PDFs are as they were.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
