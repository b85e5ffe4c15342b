"""Formulas in the book: which letters are coloured, and what happens to one that cannot be set."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
colour = importlib.import_module("katex_colours").colour
katex_math = importlib.import_module("katex_math")
ROLES = {"q": "query", "k": "key", "v": "value", "o": "output"}
KATEX = ROOT / "node_modules" / "katex" / "dist"
COLOURED = re.compile(r"\{\\htmlClass\{qkv-(\w+)\}\{(\w)\}\}")


def coloured(latex: str) -> list[str]:
    """The coloured letters in order, after a check that nothing else was changed."""
    result = colour(latex)
    assert COLOURED.sub(r"\2", result) == latex
    letters = COLOURED.findall(result)
    assert all(ROLES[letter.lower()] == role for role, letter in letters)
    return [letter for _, letter in letters]


@pytest.mark.parametrize(
    ("latex", "letters"),
    [
        (r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V", "QKV"),
        (r"W_Q W_{K} W^O", "QKO"),
        (r"q_i \cdot k_j", "qk"),
        (r"\sum_{k=1}^{d_k} q_k v^{k}", "qv"),
        (r"dQ + \bar{v} + \mathbf k", "Qvk"),
        (r"O(n^2) + O\left(n\right) + O \big[ n", ""),
        (r"\text{query q} \mathrm{K} \mathnormal{k} \operatorname*{v}", ""),
        (r"\begin{aligned} o_i &= V \\ k &= q \end{aligned}", "oVkq"),
        (r"\frac QK", "QK"),
        (r"x_{q}^{V'}", "V"),
        (r"\text{unclosed Q", ""),
        ("}", ""),
    ],
)
def test_which_letters_are_coloured(latex: str, letters: str) -> None:
    assert coloured(latex) == list(letters)


@pytest.mark.parametrize(
    "latex",
    [
        r"\operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
        r"\begin{aligned} a &= \frac QK \\ b &= \mathbf k^\top \end{aligned}",
        r"\text{나는 밥을} \to v_j",
        r"\left[\begin{array}{cc} Q & -\infty \\ 0 & V' \end{array}\right]",
    ],
)
@pytest.mark.parametrize("display", [False, True])
def test_coloured_formulas_are_set(latex: str, display: bool) -> None:
    html = katex_math.render(latex, display, KATEX)
    assert "katex-error" not in html
    assert "qkv-" in html.split("</math>")[1]
    assert "htmlClass" not in html, "what is copied is the author's LaTeX"


def test_a_formula_that_cannot_be_set_names_its_page() -> None:
    app = SimpleNamespace(confdir=ROOT, config=SimpleNamespace(katex_folder=KATEX))
    builder = SimpleNamespace(app=app, current_docname="chapters/05_masks")
    with pytest.raises(ExtensionError, match=r"chapters/05_masks: .*nosuchcommand"):
        katex_math._rendered(SimpleNamespace(builder=builder), r"\nosuchcommand{Q}", False)
    assert katex_math.render("Q", False, KATEX), "and the next formula is set as before"


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\url{https://x.example}",
        r"\includegraphics{https://x.example/a.png}",
        r"\htmlId{qkv-text}{x}",
        r"\htmlStyle{position: fixed}{x}",
        r"\htmlData{a=b}{x}",
        r"\htmlClass{qkv-live-bar}{x}",
    ],
)
def test_a_formula_writes_no_html_of_its_own(latex: str) -> None:
    command = re.escape(latex.partition("{")[0])
    with pytest.raises(katex_math.FormulaError, match=rf"{command} writes HTML: leave it out"):
        katex_math.render(latex, False, KATEX)


def test_a_missing_katex_is_said_at_once(tmp_path: Path) -> None:
    app = SimpleNamespace(confdir=tmp_path, config=SimpleNamespace(katex_folder="katex"))
    with pytest.raises(ExtensionError, match="make html fetches it"):
        katex_math.require_katex(app)
