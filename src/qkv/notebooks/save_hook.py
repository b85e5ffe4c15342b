"""Jupyter's pre-save hook: a chapter saved in JupyterLab keeps the form in which it was stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from jupyter_server.services.contents.filemanager import FileContentsManager
from jupyter_server.utils import ApiPath, to_os_path

from qkv.notebooks.metadata import has_stored_form

# {file: the chapter before its first save here}. A save in the middle of a run, as Jupyter makes
# every two minutes, writes cells without their outputs; the next one has them again.
before_first_save: dict[Path, Any] = {}


def keep_stored_form(model: Any, path: str, contents_manager: Any, **_: Any) -> None:
    """Before Jupyter writes a notebook: give it the stored form if its file has that.

    Any other notebook, and one that is new, is saved as it comes. What cells wrote to stderr
    stays: whoever saves it may want to see it again.
    """
    if model.get("type") != "notebook" or not isinstance(contents_manager, FileContentsManager):
        return
    file = Path(to_os_path(ApiPath(path), contents_manager.root_dir))
    if not file.is_file():
        return
    before = nbformat.read(file, as_version=4)
    if not has_stored_form(before):
        return
    # Here, so that a Jupyter that saves no chapter starts as fast, and needs no widgets.
    from qkv.notebooks.equal_outputs import keep_equal_outputs
    from qkv.notebooks.stored_form import stored_form
    from qkv.notebooks.widget_defaults import restore_defaults

    stored = stored_form(before, stderr=True)
    fresh = stored_form(restore_defaults(model["content"]), stderr=True)
    first = before_first_save.setdefault(file, stored)
    model["content"] = keep_equal_outputs(keep_equal_outputs(fresh, first), stored)
