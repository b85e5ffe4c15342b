"""The chapters' sliders: `explore(fn, d_k=[1, 2, 4], ...)` draws what `fn` returns."""

from qkv.explore.explorer import explore
from qkv.explore.panels import Bars, Heatmap, Lines, Table
from qkv.explore.stored import stored_notebook, stored_state

__all__ = ["Bars", "Heatmap", "Lines", "Table", "explore", "stored_notebook", "stored_state"]
