"""The theme's own words in the language of the edition: its buttons, labels and titles.

Sphinx and sphinx-book-theme bring some; the rest is in book/locale/<language>/LC_MESSAGES, by the
names of their catalogues, and compiled here. What a catalogue of theirs holds too is ours there.
"""

import json
import re
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import Any

import sphinx.locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from sphinx.application import Sphinx
from sphinx.config import Config

from qkv.language import ENGLISH

CATALOGUES = ("sphinx", "booktheme")
# sphinx-copybutton has its words in its script, by these names, and no other way in than the text
# of a function that it writes there.
COPY_BUTTON = {
    "copy": "Copy",
    "copy_to_clipboard": "Copy to clipboard",
    "copy_success": "Copied!",
    "copy_failure": "Failed to copy",
}
COPY_WORDS = """
messages[document.documentElement.lang] = {words};
locale = document.documentElement.lang;
"""

ADD_TRANSLATIONS = re.compile(r"Documentation\.addTranslations\((\{.*\})\)", re.DOTALL)
PLURALS = """Object.assign(Documentation.TRANSLATIONS, {words});
Documentation.PLURAL_EXPR = (n) => ({plural_expr});
Documentation.LOCALE = "{locale}";
"""


def add_words(app: Sphinx, config: Config) -> None:
    """Put our catalogues before those of the theme and of Sphinx."""
    if config.language == ENGLISH:
        return
    folder = Path(app.confdir, "book", "locale", config.language, "LC_MESSAGES")
    for name in CATALOGUES:
        own = compiled(folder / f"{name}.po", config.language)
        own.add_fallback(sphinx.locale.translators["general", name])
        sphinx.locale.translators["general", name] = own
    app.translator = sphinx.locale.translators["general", "sphinx"]  # that of the templates


def compiled(catalogue: Path, language: str) -> GNUTranslations:
    target = BytesIO()
    with catalogue.open("rb") as source:
        write_mo(target, read_po(source, locale=language))
    target.seek(0)
    return GNUTranslations(target)


def name_copy_buttons(_: Sphinx, config: Config) -> None:
    if config.language != ENGLISH:
        words = {name: sphinx.locale._(text) for name, text in COPY_BUTTON.items()}
        text = COPY_WORDS.format(words=json.dumps(words, ensure_ascii=False))
        config.html_context["copybutton_format_func"] += text


def name_plurals(app: Sphinx, error: Exception | None) -> None:
    """Write the words of Sphinx's scripts so that no text is evaluated, which `qkv serve` forbids.

    Sphinx makes a function of the text that says which plural a number takes.
    """
    path = Path(app.outdir, "_static", "translations.js")
    if error or not path.exists():
        return
    if found := ADD_TRANSLATIONS.search(path.read_text(encoding="utf-8")):
        catalogue = json.loads(found[1])
        words = json.dumps(catalogue["messages"], ensure_ascii=False)
        text = PLURALS.format(words=words, **catalogue)
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", add_words, priority=10)
    app.connect("config-inited", name_copy_buttons, priority=900)  # after sphinx-copybutton (500)
    app.connect("build-finished", name_plurals)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
