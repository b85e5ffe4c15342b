"""What a notebook may hold: cells, stored outputs and metadata that show, and run nothing.

A setting of myst-nb in the metadata can make the build run the notebook, or read its text in other
ways. So what is not known here is named, whatever it is.
"""

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from allowed_content.html import html_problems
from allowed_content.markdown import MarkdownRules
from allowed_content.verdicts import is_verdict_table
from allowed_content.widgets import widget_problems
from qkv.exercises.choices import VERDICTS_MIME
from qkv.notebooks.widget_state import VIEW_MIME

NOTEBOOK = {"cells", "metadata", "nbformat", "nbformat_minor"}
METADATA = {"kernelspec", "language_info", "widgets"}
CELL = {"cell_type", "id", "metadata", "source"}
CODE_CELL = CELL | {"execution_count", "outputs"}
CELL_METADATA = {"anchors", "code_hash", "execution", "jupyter", "mystnb", "slideshow", "tags"}
SHOWN = {"code_prompt_show", "code_prompt_hide", "image"}  # settings of myst-nb for one cell
STREAM = {"output_type", "name", "text"}
DISPLAY = {"output_type", "data", "metadata", "execution_count"}
PNG = b"\x89PNG\r\n\x1a\n"
RENEW = "take it out, or run `make notebooks`"


def notebook_problems(text: str, markdown: MarkdownRules) -> Iterator[str]:
    """What the page may not hold, each with its cell and the mend.

    Args:
        text: of the .ipynb file.
        markdown: the rules for its Markdown cells.
    """
    try:
        notebook = json.loads(text)
        yield from unknown("the notebook", notebook, NOTEBOOK)
        if notebook["nbformat"] != 4:
            yield "the notebook is of another format than 4: save it in JupyterLab"
            return
        yield from unknown("the notebook's metadata", notebook["metadata"], METADATA)
        yield from widget_problems(notebook["metadata"].get("widgets", {}))
        for place, cell in enumerate(notebook["cells"], start=1):
            for problem in cell_problems(cell, markdown):
                yield f"cell {cell.get('id', place)}: {problem}"
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        yield f"this is no notebook that can be read ({error!r}): save it in JupyterLab"


def unknown(what: str, given: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
    for name in given:
        if name not in known:
            yield f"{what} holds {name!r}: {RENEW}"


def cell_problems(cell: Mapping[str, Any], markdown: MarkdownRules) -> Iterator[str]:
    kind = cell["cell_type"]
    if kind not in ("code", "markdown"):
        yield f"a cell of type {kind!r}: make it code or Markdown"
        return
    yield from unknown("it", cell, CODE_CELL if kind == "code" else CELL)
    if not re.fullmatch(r"[\w-]{1,64}", cell.get("id", "-"), re.ASCII):
        yield "its id is no id: write letters, digits and hyphens"
    metadata = cell["metadata"]
    yield from unknown("its metadata", metadata, CELL_METADATA)
    yield from unknown("its metadata jupyter", metadata.get("jupyter", {}), {"source_hidden"})
    yield from unknown("its metadata slideshow", metadata.get("slideshow", {}), {"slide_type"})
    shown = metadata.get("mystnb", {})
    yield from unknown("its metadata mystnb", shown, SHOWN)
    yield from unknown("its metadata mystnb.image", shown.get("image", {}), {"alt"})
    for what, key in (("tag", "tags"), ("anchor", "anchors")):
        for name in metadata.get(key, []):
            if not re.fullmatch(r"[\w-]+", name, re.ASCII):
                yield f"the {what} {name!r}: write letters, digits and hyphens"
    if kind == "markdown":
        yield from markdown.problems(joined(cell["source"]))
    for output in cell.get("outputs", []):
        yield from output_problems(output)


def joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def output_problems(output: Mapping[str, Any]) -> Iterator[str]:
    kind = output["output_type"]
    if kind == "stream":
        yield from unknown("an output", output, STREAM)
    elif kind in ("display_data", "execute_result"):
        yield from unknown("an output", output, DISPLAY)
        yield from unknown("an output's metadata", output["metadata"], ())
        for mime, data in output["data"].items():
            yield from data_problems(mime, data)
    else:
        yield f"an output of type {kind!r}: run `make notebooks`"


def data_problems(mime: str, data: Any) -> Iterator[str]:
    if mime == "text/html":
        for tag in html_problems(joined(data)):
            yield f"an output with HTML {tag!r}: print text, or draw a figure"
    elif mime == "image/png":
        if not is_png(joined(data)):
            yield f"an output of type {mime} that is no PNG: run `make notebooks`"
    elif mime == VIEW_MIME:
        if data != {**data, "version_major": 2, "version_minor": 0} or len(data) != 3:
            yield f"an output of type {mime} that no widget wrote: run `make notebooks`"
        elif not re.fullmatch(r"[\w-]+", data["model_id"], re.ASCII):
            yield f"a widget named {data['model_id']!r}: run `make notebooks`"
    elif mime == VERDICTS_MIME:
        if not is_verdict_table(data):
            yield f"an output of type {mime} that no check wrote: run `make notebooks`"
    elif mime != "text/plain":
        yield f"an output of type {mime}: show text, a table, a PNG or an explorer"


def is_png(data: str) -> bool:
    """Whether it is one by its first bytes, by which a picture is opened whatever its name."""
    try:
        return b64decode(data).startswith(PNG)
    except binascii.Error:
        return False
