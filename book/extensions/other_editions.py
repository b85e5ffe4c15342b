"""The editions of the book: English, and each language that has a folder in book/locale.

Pages of one lead to the same page in the others: by links in the head for who searches, and by one
in the header for who reads.
"""

from pathlib import Path
from typing import Any, NamedTuple

from babel import Locale
from babel.core import get_global
from sphinx.application import Sphinx
from sphinx.config import Config

from qkv.language import ENGLISH, languages

SCRIPT = "language_switch.js"


class Edition(NamedTuple):
    """A page of the book in one language: the language's code and own name, the page's address."""

    language: str
    name: str
    address: str


def editions_of(root: Path) -> tuple[str, ...]:
    """The languages of the book whose sources are in `root`; English first."""
    found = (one for one in languages() if (root / "book" / "locale" / one).is_dir())
    return (ENGLISH, *found)


def folder_of(language: str) -> str:
    """Where an edition stands in the built book: "", or "ko/"."""
    return "" if language == ENGLISH else f"{language}/"


def name_of(language: str) -> str:
    """A language's name in itself: English, 한국어."""
    return str(Locale.parse(language).get_display_name(language))


def locale_of(language: str) -> str:
    """A language with the country that most of its readers live in: en_US, ko_KR."""
    name, *_, country = get_global("likely_subtags")[language].split("_")
    return f"{name}_{country}"


def edition_pages(app: Sphinx, page: str) -> list[Edition]:
    """A page in each language, by addresses that lead there from the page itself."""
    target = app.builder.get_target_uri(page)
    depth = page.count("/") + folder_of(app.config.language).count("/")
    return [
        Edition(one, name_of(one), f"{'../' * depth}{folder_of(one)}{target}")
        for one in editions_of(Path(app.confdir))
    ]


def site_of_book(config: Config) -> str:
    """The public address of the book, which is that of its English edition; empty if it has none.

    `html_baseurl` is that of the edition.
    """
    return str(config.html_baseurl.removesuffix(folder_of(config.language)))


def add_links(app: Sphinx, page: str, _: str, context: dict[str, Any], __: object) -> None:
    """Tell of the page in other languages; addresses for search engines are absolute, if known."""
    editions = edition_pages(app, page)
    if len(editions) == 1:
        return
    context["other_editions"] = [one for one in editions if one.language != app.config.language]
    app.add_js_file(SCRIPT, loading_method="defer")
    site, target = site_of_book(app.config), app.builder.get_target_uri(page)
    places = {
        one.language: f"{site}{folder_of(one.language)}{target}" if site else one.address
        for one in editions
    }
    tags = [
        f'<link rel="alternate" hreflang="{language}" href="{address}">'
        for language, address in {**places, "x-default": places[ENGLISH]}.items()
    ]
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags, ""])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", add_links)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
