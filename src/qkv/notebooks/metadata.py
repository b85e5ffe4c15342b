"""The metadata of a stored chapter, by which it is told from a notebook that Jupyter wrote."""

from __future__ import annotations

from typing import Any

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python"}  # without the version of the Python that ran it


def has_stored_form(notebook: Any) -> bool:
    """Whether a notebook has them: what Jupyter writes by itself names the Python's version."""
    metadata = notebook["metadata"]
    return bool(metadata.get("kernelspec") == KERNEL and metadata.get("language_info") == LANGUAGE)
