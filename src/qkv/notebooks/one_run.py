"""Pictures of one run that look otherwise on another processor: of training, of rounding itself.

Such a picture stays as it is stored while the code that drew it is the same.
"""

from __future__ import annotations

import hashlib

from qkv.notebooks.widget_state import JSON

TAG = "one-run"  # of a cell that draws such a picture
CODE = "code_hash"  # in its metadata: one of the code up to it, by which it was drawn


def code_hashes(notebook: JSON) -> dict[str, str]:
    """{id of each cell with the tag: a hash of the code up to it}."""
    hashes = {}
    above = hashlib.sha256()
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            above.update(f"{''.join(cell['source'])}\n".encode())
            if TAG in cell["metadata"].get("tags", []):
                hashes[cell["id"]] = above.hexdigest()[:16]
    return hashes


def note_code(notebook: JSON) -> None:
    """Note in the metadata by which code pictures are drawn, of a notebook just run whole."""
    hashes = code_hashes(notebook)
    for cell in notebook["cells"]:
        if cell.get("id") in hashes:
            cell["metadata"][CODE] = hashes[cell["id"]]


def forget_code(notebook: JSON) -> None:
    """Forget by which code pictures were drawn: none of them is kept."""
    for cell in notebook["cells"]:
        cell["metadata"].pop(CODE, None)
