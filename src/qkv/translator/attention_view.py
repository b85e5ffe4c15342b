"""Attention maps as HTML: an interactive view for a notebook, and a whole page around it.

Neither loads anything from elsewhere; without scripts, they show tables.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LabelledWeights", "SentenceView", "render_page", "render_view"]

SCALE = 10_000  # weights travel as whole numbers of ten-thousandths
NOTHING = "<p>There was no sentence to draw.</p>"


class LabelledWeights(NamedTuple):
    """Attention weights (L, H, rows, columns), with the labels of rows and columns."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: NDArray[Any]


class SentenceView(NamedTuple):
    """What is shown of a sentence: its maps by kind, between words and, if they differ, tokens."""

    text: str
    translation: str
    words: Mapping[str, LabelledWeights]
    tokens: Mapping[str, LabelledWeights] | None


def render_page(sentences: Sequence[SentenceView]) -> str:
    """A whole HTML page around `render_view`.

    Its policy lets run the one script and apply the style sheets that were written here, by their
    hashes, and lets nothing load.
    """
    page_style = _read("page.css")
    return Template(_read("page.html")).substitute(
        view=render_view(sentences),
        page_style=page_style,
        page_style_hash=_hash(page_style),
        style_hash=_hash(_read("view.css")),
        script_hash=_hash(_read("view.js")),
    )


def render_view(sentences: Sequence[SentenceView]) -> str:
    """An HTML element that shows the attention maps of these sentences.

    What is written in a sentence stays text: in the tables it is escaped, and in the data no
    character is left that could end the element it stands in.
    """
    return Template(_read("view.html")).substitute(
        style=_read("view.css"),
        script=_read("view.js"),
        tables="\n".join(map(_table, sentences)) or NOTHING,
        data=_data(sentences),
    )


def _read(name: str) -> str:
    return (files("qkv.translator") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(sentences: Sequence[SentenceView]) -> str:
    """JSON that may stand in a page."""
    views = [_sentence(sentence) for sentence in sentences]
    text = json.dumps(views, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _sentence(sentence: SentenceView) -> dict[str, Any]:
    views = [view for view in (sentence.words, sentence.tokens) if view is not None]
    return {
        "text": sentence.text,
        "translation": sentence.translation,
        "views": [{kind: _integers(maps) for kind, maps in view.items()} for view in views],
    }


def _integers(maps: LabelledWeights) -> dict[str, Any]:
    """Labels, and weights as whole numbers (L, H, rows · columns)."""
    flat = maps.weights.reshape(*maps.weights.shape[:2], -1)
    weights = np.rint(flat * SCALE).astype(int).tolist()
    return {"rows": maps.rows, "columns": maps.columns, "weights": weights}


def _table(sentence: SentenceView) -> str:
    """Cross-attention, averaged over layers and heads."""
    labels, columns, cross = sentence.words["cross"]
    weights = cross.mean((0, 1))
    text = escape(sentence.text)
    head = "".join(f'<th scope="col"><span>{escape(word)}</span></th>' for word in columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(word)}</th>{"".join(map(_cell, row))}</tr>'
        for word, row in zip(labels, weights, strict=True)
    )
    return (
        '<figure><div class="scroll" role="region" tabindex="0" '
        f'aria-label="Table: {text}"><table><caption><bdi>{text}</bdi> → '
        f"<bdi>{escape(sentence.translation)}</bdi></caption>"
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div></figure>"
    )


def _cell(weight: float) -> str:
    return f'<td class="w{min(10, int(10 * weight + 0.5))}">{weight:.2f}</td>'
