"""What a reader reads of a Markdown cell: its visible words, those in its folds, its bold words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
HTML_TAG = re.compile(r"<[^>]*>")
CITATION = re.compile(r"\[(?:\[[^][]*\]\(https?:[^)\s]*\)(?:,\s+)?)+\]")
WORD = re.compile(r"\S*\w\S*")


@dataclass(frozen=True)
class Text:
    """A run of words of one kind."""

    words: str
    folded: bool = False
    bold: bool = False
    heading: int = 0  # its level; 0 in the text


def texts(markdown: str) -> Iterator[Text]:
    """The words of a cell in reading order. A formula counts as one word, a citation as none."""
    folds = heading = 0
    for token in parser().parse(CITATION.sub("", markdown)):
        if token.type == "html_block":
            opened = token.content.count("<details") - token.content.count("</details>")
            for summary in SUMMARY.findall(token.content):
                yield Text(HTML_TAG.sub(" ", summary))
            yield Text(HTML_TAG.sub(" ", SUMMARY.sub(" ", token.content)), folded=folds > 0)
            folds += opened
        elif token.type == "heading_open":
            heading = int(token.tag[1])
        elif token.type == "heading_close":
            heading = 0
        elif token.type == "inline":
            for text in inline_texts(token.children or []):
                yield Text(text.words, folds > 0, text.bold, heading)
        elif token.type in ("math_block", "math_block_label"):
            yield Text("formula", folded=folds > 0)
        elif token.type in ("fence", "code_block"):
            yield Text(token.content, folded=folds > 0)


def inline_texts(tokens: Iterable[Token]) -> Iterator[Text]:
    bold = 0
    for token in tokens:
        if token.type in ("strong_open", "strong_close"):
            bold += token.nesting
        elif token.type == "text":
            yield Text(token.content, bold=bold > 0)
        elif token.type in ("code_inline", "math_inline"):
            yield Text("formula", bold=bold > 0)
        elif token.type in ("softbreak", "hardbreak"):
            yield Text(" ", bold=bold > 0)


@cache
def parser() -> MarkdownIt:
    return MarkdownIt().enable("table").use(dollarmath_plugin)


def count_words(markdown: str, folded: bool = False) -> int:
    """The words in sight, or those in the folds."""
    return sum(len(WORD.findall(text.words)) for text in texts(markdown) if text.folded == folded)


def count_figures(markdown: str) -> int:
    """The pictures of a cell that are no output."""
    tokens = parser().parse(markdown)
    inline = [child for token in tokens for child in token.children or []]
    return sum(token.type == "image" for token in inline)
