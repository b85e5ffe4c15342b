"""Checks of arguments, with the same messages in both rooms, in pure Python.

A message names the call, the expected symbols with their values, what came, and a hint. Arrays
are checked by a `ShapeChecker`, of which each room has its own; options and numbers by functions.
"""

from qkv.shapes.formatting import dtype_name
from qkv.shapes.option_checks import (
    check_at_most,
    check_axis,
    check_below,
    check_bool,
    check_choice,
    check_count,
    check_range,
)
from qkv.shapes.scalars import as_python
from qkv.shapes.training import check_state_dict

__all__ = [
    "as_python",
    "check_at_most",
    "check_axis",
    "check_below",
    "check_bool",
    "check_choice",
    "check_count",
    "check_range",
    "check_state_dict",
    "dtype_name",
]
