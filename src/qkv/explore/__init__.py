"""Interactive explorers: `explore(fn, d_k=[1, 2, 4], ...)` gives sliders, and draws `fn`'s panels.

A concept's functions stand in a module of its name (`masks.py`), what draws them in `framework/`.
"""

from qkv.explore.framework.explorer import explore
from qkv.explore.framework.panels import Bars, Heatmap, Lines, Table

__all__ = ["Bars", "Heatmap", "Lines", "Table", "explore"]
