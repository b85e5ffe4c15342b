"""Shape checks in pure Python: both rooms refuse the same input in the same words.

A message names the call, the expected symbols with their values, what came, and the mend. One file
a concept; `core` holds what they share.
"""

from qkv.shapes.attention import (
    check_additive,
    check_attention,
    check_causal,
    check_gradient,
    check_ids,
    check_mask,
    check_masks,
    check_softmax_gradient,
)
from qkv.shapes.core import (
    FLOATS,
    Array,
    axes_of,
    broadcast,
    check_axis,
    check_floats,
    check_shape,
    kind,
    listed,
)
from qkv.shapes.layers import (
    check_choice,
    check_count,
    check_gradient_of,
    check_input,
    check_kept,
    check_share,
    check_state,
    check_width,
)
from qkv.shapes.positional import (
    check_alibi,
    check_encoding,
    check_places,
    check_rotary,
)

__all__ = [
    "FLOATS",
    "Array",
    "axes_of",
    "broadcast",
    "check_additive",
    "check_alibi",
    "check_attention",
    "check_axis",
    "check_causal",
    "check_choice",
    "check_count",
    "check_encoding",
    "check_floats",
    "check_gradient",
    "check_gradient_of",
    "check_ids",
    "check_input",
    "check_kept",
    "check_mask",
    "check_masks",
    "check_places",
    "check_rotary",
    "check_shape",
    "check_share",
    "check_softmax_gradient",
    "check_state",
    "check_width",
    "kind",
    "listed",
]
