"""Put buttons under a question of letters, which a page without Python judges by stored verdicts.

Where an exercise declares what is chosen (qkv/exercises/choices.py), its cell gets a form: letters
that are pressed, one radio button for each place, or a field for a number. Verdicts come from the
cell's stored output, or from a live kernel. Without JavaScript and on paper the page is as before.
"""

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from qkv.exercises.checks import choices_of
from qkv.exercises.choices import VERDICTS_MIME, Letters, Number, OneEach, Part
from qkv.language import gettext

FILES = ("exercise_buttons.js", "exercise_buttons.css")
ON_PAGE = "qkv_exercise_buttons"
# What the reader answers in, alone or behind code that belongs to the question.
ANSWER = re.compile(r'^answer\w* = \.\.\..*\ncheck\("([\w-]+)", answer\w*\)\s*\Z', re.MULTILINE)


def add_forms(app: Sphinx, document: nodes.document) -> None:
    """Put a form into each cell of the page that asks for a choice."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for shown in list(document.findall(nodes.container)):
        if shown.get("nb_element") != "cell_code":
            continue
        cell = cells[shown["cell_index"]]
        answer = ANSWER.search("".join(cell["source"]))
        parts = choices_of(answer[1]) if answer else ()
        if answer and parts:
            html = form(answer[1], parts, stored_verdicts(cell, answer[1]))
            # Code that belongs to the question stands before the form, which stands for the rest.
            shown.insert(1 if answer.start() else 0, nodes.raw("", html, format="html"))
            app.env.metadata[app.env.docname][ON_PAGE] = True


def stored_verdicts(cell: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """The table of verdicts on an exercise among the outputs of a cell."""
    for output in cell["outputs"]:
        table = output.get("data", {}).get(VERDICTS_MIME)
        if table is not None and table["exercise"] == name:
            return {key: table[key] for key in ("verdicts", "parts")}
    return None


def form(name: str, parts: tuple[Part, ...], verdicts: dict[str, Any] | None) -> str:
    """The form of one exercise. A script of the page shows it, and judges what it holds."""
    stored = ""
    if verdicts is not None:
        table = json.dumps(verdicts, ensure_ascii=False, separators=(",", ":"))
        stored = f' data-verdicts="{escape(table)}"'
    fields = "".join(fieldset(f"{name}-{n}", part) for n, part in enumerate(parts, start=1))
    ask = gettext("Check")
    return (
        f'<form class="qkv-choices" data-exercise="{name}"{stored} autocomplete="off" hidden>'
        f'{fields}<button type="submit" class="qkv-check">{escape(ask)}</button>'
        '<div role="status"></div></form>'
    )


def fieldset(name: str, part: Part) -> str:
    """One part of the answer: its label, and what is pressed, chosen or written."""
    controls = "".join(controls_of(name, part))
    legend = gettext(part.label) or hint_of(part)
    return f'<fieldset class="qkv-part"><legend>{escape(legend)}</legend>{controls}</fieldset>'


def hint_of(part: Part) -> str:
    """What to do with the buttons of a part without a label."""
    if isinstance(part, Letters):
        return gettext("Press each letter that you choose.")
    return gettext("Choose one in each line.")


def controls_of(name: str, part: Part) -> Iterator[str]:
    match part:
        case Letters():
            buttons = (
                f'<button type="button" aria-pressed="false">{escape(letter)}</button>'
                for letter in part.letters
            )
            yield f'<div class="qkv-values">{"".join(buttons)}</div>'
        case OneEach():
            for number, place in enumerate(part.places, start=1):
                radios = "".join(
                    f'<label><input type="radio" name="{name}-{number}" value="{escape(value)}"'
                    f" required><span>{escape(value)}</span></label>"
                    for value in part.values
                )
                legend = f"<legend>{escape(gettext(place))}</legend>"
                yield f'<fieldset class="qkv-values">{legend}{radios}</fieldset>'
        case Number():
            yield (
                f'<input type="number" required min="0" max="{part.highest}"'
                f' step="{10**-part.decimals:.{part.decimals}f}"'
                f' aria-label="{escape(gettext(part.label))}">'
            )


def add_files(app: Sphinx, page: str, *_: Any) -> None:
    """Load the script and the style on pages with forms alone."""
    if ON_PAGE in app.env.metadata.get(page, {}):
        script, style = FILES
        app.add_js_file(script, loading_method="defer")
        app.add_css_file(style)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", add_forms)
    app.connect("html-page-context", add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
