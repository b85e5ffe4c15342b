r"""Sphinx math renderer: formulas set by KaTeX at build time, Q, K, V and O in their colours.

The pages carry KaTeX's style sheet and fonts and no script. Authors write plain ``$QK^\top$``,
which JupyterLab and Colab can show too; the colours are added here, on the way to KaTeX.
"""

import re
import shutil
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from katex_colours import colour
from katex_process import FormulaError, typeset
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number

from qkv.language import gettext

# Sphinx numbers equations itself; KaTeX would print a second number beside each unstarred one.
NUMBERED = re.compile(r"\\(begin|end)\{(equation|align|gather|alignat)\}")
ANNOTATION = re.compile(r"(<annotation[^>]*>).*?</annotation>", re.DOTALL)
FONT_FALLBACKS = re.compile(r',\s*url\([^)]*\)\s*format\("(?:woff|truetype)"\)')


@cache
def render(latex: str, display: bool, katex: Path) -> str:
    """Return the formula's HTML in colour; raises FormulaError for what KaTeX cannot set."""
    html = typeset(colour(latex), display, katex)
    # What a reader copies is the formula as it was written.
    return ANNOTATION.sub(lambda match: f"{match[1]}{escape(latex)}</annotation>", html)


def _rendered(writer: Any, latex: str, display: bool) -> str:
    try:
        return render(latex, display, _folder(writer.builder.app))
    except FormulaError as error:
        page = writer.builder.current_docname
        raise ExtensionError(f"{page}: KaTeX cannot set the formula {latex!r}: {error}") from None


def visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(writer.starttag(node, "span", "", CLASS="math"))
    writer.body.append(_rendered(writer, node.astext(), False) + "</span>")
    raise nodes.SkipNode


def visit_display(writer: Any, node: nodes.math_block) -> None:
    latex = node.astext()
    if node.get("nowrap"):
        latex = NUMBERED.sub(r"\\\1{\2*}", latex)
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    # The formula scrolls inside its own box on a narrow screen; its number stays in sight.
    writer.body.append(f'<div class="qkv-formula">{_rendered(writer, latex, True)}</div>')
    if node["number"]:
        number = get_node_equation_number(writer, node)
        writer.body.append(f'<span class="eqno">({number})')
        writer.add_permalink_ref(node, gettext("Link to this equation"))
        writer.body.append("</span>")
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def require_katex(app: Sphinx) -> None:
    """Say at once, in one sentence, that KaTeX is missing."""
    missing = [n for n in ("katex.min.js", "katex.min.css") if not (_folder(app) / n).is_file()]
    if missing:
        folder = app.config.katex_folder
        raise ExtensionError(
            f"katex_math: no {' and '.join(missing)} in {folder}: make html fetches it"
        )


def copy_style(app: Sphinx, error: Exception | None) -> None:
    """Put KaTeX's style sheet and woff2 fonts into the book; every browser of today reads woff2."""
    if error or app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "katex"
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    style = (_folder(app) / "katex.min.css").read_text(encoding="utf-8")
    (target / "katex.css").write_text(FONT_FALLBACKS.sub("", style), encoding="utf-8")
    for font in (_folder(app) / "fonts").glob("*.woff2"):
        shutil.copyfile(font, target / "fonts" / font.name)


def _folder(app: Sphinx) -> Path:
    return Path(app.confdir, app.config.katex_folder)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("katex_folder", "node_modules/katex/dist", "html", str)
    app.add_html_math_renderer(
        "katex_at_build_time",
        inline_renderers=(visit_inline, None),
        block_renderers=(visit_display, None),
    )
    app.connect("builder-inited", require_katex)
    app.connect("build-finished", copy_style, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
