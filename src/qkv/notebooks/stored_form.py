"""The one form in which a chapter is stored: no timings, no random ids, the same metadata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import nbformat

from qkv.notebooks.metadata import KERNEL, LANGUAGE
from qkv.notebooks.widget_state import normalize_notebook


def stored_form(notebook: Any, *, stderr: bool = False) -> Any:
    """A copy of the notebook in its stored form. Its own stored form is itself.

    Args:
        stderr: keep what cells wrote there; warnings differ between machines.
    """
    notebook = nbformat.from_dict(normalize_notebook(notebook))
    notebook.metadata.kernelspec = KERNEL
    notebook.metadata.language_info = LANGUAGE
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = merge_streams(cell.outputs, stderr=stderr)
    return notebook


def merge_streams(outputs: Iterable[Any], *, stderr: bool = False) -> list[Any]:
    """Drop stderr, unless told otherwise, and join neighbouring pieces: chunks depend on timing."""
    result: list[Any] = []
    for output in outputs:
        name = output.get("name")
        if name == "stderr" and not stderr:
            continue
        if output.output_type == "stream" and result and result[-1].get("name") == name:
            result[-1].text += output.text
        else:
            result.append(output)
    return result


def notebook_text(notebook: Any) -> str:
    """The notebook as it stands in its file, keys sorted."""
    return str(nbformat.writes(notebook, version=4)).rstrip("\n") + "\n"


def normal_form(notebook: Any) -> str:
    """The text of a notebook in its stored form."""
    return notebook_text(stored_form(notebook))
