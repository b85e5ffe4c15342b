"""One page that draws who looked at whom: it loads nothing, and shows a table without scripts."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from qkv.translator import KINDS, Looks

__all__ = ["attention_page"]

SCALE = 10_000  # weights travel as whole numbers of ten-thousandths
NOTHING = "<p>There was no sentence to draw.</p>"


def attention_page(looks: Sequence[Looks]) -> str:
    """The page for these sentences, as HTML.

    What is written in a sentence stays text: in the table it is escaped, and in the data no
    character is left that could end the element it stands in. The policy lets run the one script
    and apply the one style sheet that were written here, by their hashes, and lets nothing load.
    """
    script, style = _template("attention.js"), _template("attention.css")
    return Template(_template("attention.html")).substitute(
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
        tables="\n".join(_table(look.words()) for look in looks) or NOTHING,
        data=_data(looks),
    )


def _template(name: str) -> str:
    return (files("qkv.commands.translate") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(looks: Sequence[Looks]) -> str:
    """JSON that may stand in a page."""
    text = json.dumps(
        [_sentence(look) for look in looks], ensure_ascii=False, separators=(",", ":")
    )
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _sentence(look: Looks) -> dict[str, Any]:
    words = look.words()
    views = [_view(words)]
    if (words.source, words.target) != (look.source, look.target):
        views.append(_view(look))
    return {"text": look.text, "translation": look.translation, "views": views}


def _view(look: Looks) -> dict[str, Any]:
    """Labels, and weights as (L, H, rows · columns) by kind."""
    return {
        kind: {
            "rows": look.rows(kind),
            "columns": look.columns(kind),
            "weights": np.rint(of.reshape(*of.shape[:2], -1) * SCALE).astype(int).tolist(),
        }
        for kind in KINDS
        for of in [look.of(kind)]
    }


def _table(look: Looks) -> str:
    """Cross-attention, averaged over layers and heads."""
    weights = look.of("cross").mean((0, 1))
    head = "".join(f'<th scope="col"><span>{escape(word)}</span></th>' for word in look.source)
    rows = "".join(
        f'<tr><th scope="row">{escape(word)}</th>{"".join(map(_cell, row))}</tr>'
        for word, row in zip(look.target, weights, strict=True)
    )
    return (
        '<figure><div class="scroll" role="region" tabindex="0" '
        f'aria-label="Table: {escape(look.text)}"><table><caption><bdi>{escape(look.text)}</bdi> → '
        f"<bdi>{escape(look.translation)}</bdi></caption>"
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div></figure>"
    )


def _cell(weight: float) -> str:
    return f'<td class="w{min(10, int(10 * weight + 0.5))}">{weight:.2f}</td>'
