"""Interactive explorers: `explore(fn, d_k=[1, 2, 4], ...)` gives sliders, and draws `fn`'s panels.

A concept's functions stand in a module of its name (`masks.py`), what draws them in `framework/`.
"""

from qkv.explore.framework.explorer import explore
from qkv.explore.framework.panels import (
    Arrow,
    Bars,
    Box,
    Diagram,
    Heatmap,
    Lines,
    Node,
    Scatter,
    Table,
    Tree,
)

__all__ = [
    "Arrow",
    "Bars",
    "Box",
    "Diagram",
    "Heatmap",
    "Lines",
    "Node",
    "Scatter",
    "Table",
    "Tree",
    "explore",
]
