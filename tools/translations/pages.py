"""The messages of the pages around the chapters, of the contents and of the book's settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from qkv.language import gettext
from tools.translations.catalogue import Message, Translate
from tools.translations.code import columns
from tools.translations.markdown import WORD, messages_of_markdown, translate_markdown, words_in
from tools.translations.notebooks import marked

# {where in _config.yml: what a reader sees of it}
SETTINGS = (
    ("title",),
    ("author",),
    ("html", "extra_footer"),
    ("sphinx", "config", "html_theme_options", "search_bar_text"),
    ("sphinx", "config", "nb_code_prompt_show"),
)
BLOCK = re.compile(r"(?:.+\n?)+")
UNDERLINED = re.compile(r"^(?P<title>.+)\n(?P<line>([=\-~^\"'])\3+)$")


def messages_of_page(path: Path) -> Iterator[Message]:
    """The messages of a page in Markdown or reStructuredText."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        texts = messages_of_markdown(source)
    else:
        texts = []

        def noted(text: str) -> str:
            texts.append(text)
            return text

        translate_rst(source, noted)
    yield from (Message(text, path.name) for text in texts)


def translate_page(path: Path, translate: Translate) -> str:
    """The source of a page in another language."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return translate_markdown(source, lambda text, how: translate(text) or marked(text, how))
    return translate_rst(source, lambda text: translate(text) or text)


def translate_rst(source: str, translate: Callable[[str], str]) -> str:
    """A source in reStructuredText with its paragraphs and titles translated.

    What is indented, or begins with two dots, belongs to a directive and stays.
    """

    def translated(match: re.Match[str]) -> str:
        text = match[0].rstrip("\n")
        end = match[0][len(text) :]
        if title := UNDERLINED.match(text):
            words = translate(title["title"])
            return f"{words}\n{title['line'][0] * columns(words)}{end}"
        if text.startswith(("..", " ")) or not WORD.search(words_in(text)):
            return match[0]
        return translate(text) + end

    return BLOCK.sub(translated, source)


def messages_of_settings(contents: Path, config: Path) -> Iterator[Message]:
    """The captions of `_toc.yml` and the words of `_config.yml`."""
    for part in yaml.safe_load(contents.read_text(encoding="utf-8"))["parts"]:
        yield Message(part["caption"], contents.name)
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    for *path, name in SETTINGS:
        yield Message(place_of(settings, path)[name], config.name)


def translate_contents(contents: Path, translate: Translate) -> str:
    toc = yaml.safe_load(contents.read_text(encoding="utf-8"))
    for part in toc["parts"]:
        part["caption"] = translate(part["caption"]) or part["caption"]
    return str(yaml.safe_dump(toc, allow_unicode=True, sort_keys=False))


def translate_config(config: Path, language: str, translate: Translate) -> str:
    """The settings of the book in another language."""
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    for *path, name in SETTINGS:
        place = place_of(settings, path)
        place[name] = translate(place[name]) or place[name]
    settings["sphinx"]["config"]["language"] = language
    return str(yaml.safe_dump(settings, allow_unicode=True, sort_keys=False))


def place_of(settings: Any, path: list[str]) -> Any:
    for name in path:
        settings = settings[name]
    return settings


def with_notice(source: str) -> str:
    """A source whose first line is its title, and which says below it that it is in English."""
    notice = gettext("This page is not translated yet, and stands here in English.")
    title, end, rest = source.partition("\n")
    return f'{title}\n\n<p class="qkv-untranslated">{notice}</p>\n{end}{rest}'
