"""Bring catalogues, notebooks and README of every other language to their English sources.

    python -m tools.translations              all: what `make translations` runs
    python -m tools.translations --add masks  begin the catalogue of a chapter or a page

A message that is new, or whose English changed, is named: edit its `msgstr` in the catalogue, take
`fuzzy` away, and run this again. Then `make notebooks` runs what changed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from qkv.files import atomic_write
from tools.translations.catalogue import untranslated, update_catalogue
from tools.translations.edition import (
    README,
    catalogue_path,
    chapters,
    editions,
    generate_notebook,
    generate_readme,
    is_translated,
    messages_of,
    notebook_path,
    readme_path,
    sources,
    update_catalogues,
)

ROOT = Path(__file__).resolve().parents[2]


def begin(root: Path, language: str, name: str) -> None:
    """Write an empty catalogue for a chapter or a page.

    Raises:
        ValueError: there is neither.
    """
    by_name = {source.stem: source for source in sources(root)}
    stem = next((stem for stem in by_name if name in (stem, stem[3:])), None)
    if stem is None:
        raise ValueError(f"--add: {name!r} is none of {', '.join(by_name)}")
    path = catalogue_path(root, language, stem)
    update_catalogue(path, language, messages_of(by_name[stem]))


def generate_files(root: Path, language: str) -> None:
    """Write notebooks and README in a language, where they are others than there are."""
    texts = {
        notebook_path(root, language, chapter): generate_notebook(root, language, chapter)
        for chapter in chapters(root)
        if is_translated(root, language, chapter)
    }
    if is_translated(root, language, root / README):
        texts[readme_path(root, language)] = generate_readme(root, language)
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            atomic_write(path, text.encode())
            print(f"{path.relative_to(root)}: written")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--add", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    missing = 0
    for language in editions():
        try:
            for name in options.add:
                begin(ROOT, language, name)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 2
        for path, catalogue in update_catalogues(ROOT, language).items():
            for text in untranslated(catalogue):
                missing += 1
                print(f"{path.relative_to(ROOT)}: not translated: {text.splitlines()[0][:80]}")
        generate_files(ROOT, language)
    if missing:
        print(f"{missing} messages are not translated; pages show them in English.")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
