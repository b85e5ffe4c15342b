"""What an explorer can draw, one panel a file, each validated when it is created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from qkv.explore.framework.panels.bars import Bars
from qkv.explore.framework.panels.box import Box
from qkv.explore.framework.panels.diagram import Arrow, Diagram
from qkv.explore.framework.panels.heatmap import Heatmap
from qkv.explore.framework.panels.lines import Lines
from qkv.explore.framework.panels.scatter import Scatter
from qkv.explore.framework.panels.table import Table
from qkv.explore.framework.panels.tree import Node, Tree
from qkv.explore.framework.panels.validation import Floats, Role, Spec

Panel: TypeAlias = Heatmap | Bars | Lines | Scatter | Tree | Diagram | Table
Panels: TypeAlias = Mapping[str, Panel | str]

__all__ = [
    "Arrow",
    "Bars",
    "Box",
    "Diagram",
    "Floats",
    "Heatmap",
    "Lines",
    "Node",
    "Panel",
    "Panels",
    "Role",
    "Scatter",
    "Spec",
    "Table",
    "Tree",
]
