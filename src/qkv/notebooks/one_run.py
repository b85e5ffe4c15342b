"""Pictures of one run that look otherwise on another processor: of training, of rounding itself.

Such a picture stays as it is stored while the code that drew it is the same.
"""

from __future__ import annotations

import hashlib
from typing import Any

from qkv.explore.framework.widget_state import JSON

TAG = "one-run"  # of a cell that draws such a picture
CODE = "code_hash"  # in its metadata: one of the code up to it, by which it was drawn


def note_code(notebook: JSON) -> None:
    """Write the hash of the code up to each cell with the tag into its metadata."""
    above = hashlib.sha256()
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        above.update(f"{''.join(cell['source'])}\n".encode())
        if TAG in cell["metadata"].get("tags", []):
            cell["metadata"][CODE] = above.hexdigest()[:16]


def same_code(cell: Any, other: Any) -> bool:
    """Whether two cells, as `note_code` left them, draw their one run by the same code."""
    noted = cell["metadata"].get(CODE)
    return noted is not None and bool(noted == other.get("metadata", {}).get(CODE))
