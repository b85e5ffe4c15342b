"""Shape checks in pure Python: both rooms refuse the same input in the same words.

A message names the call, the expected symbols with their values, what came, and the mend. One file
a concept; `core` holds what they share.
"""

from qkv.shapes.add_norm import (
    check_add_norm,
    check_eps,
    check_norm,
    check_residual,
)
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
from qkv.shapes.efficient import (
    check_features,
    check_kept_blocks,
    check_key_mask,
    check_positions,
    check_projections,
)
from qkv.shapes.embedding import (
    check_embedding,
    check_in_table,
    check_table,
    check_tokens,
)
from qkv.shapes.feed_forward import (
    check_feed_forward,
    check_gelu,
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
from qkv.shapes.multi_head import (
    check_entry,
    check_merge,
    check_multi_head,
    check_reorder,
    check_split,
    head_sizes,
)
from qkv.shapes.positional import (
    check_alibi,
    check_encoding,
    check_places,
    check_rotary,
)
from qkv.shapes.training import (
    check_checkpoints,
    check_counted,
    check_loss_gradient,
    check_number,
    check_optimizer,
    check_target,
    check_targets,
)

__all__ = [
    "FLOATS",
    "Array",
    "axes_of",
    "broadcast",
    "check_add_norm",
    "check_additive",
    "check_alibi",
    "check_attention",
    "check_axis",
    "check_causal",
    "check_checkpoints",
    "check_choice",
    "check_count",
    "check_counted",
    "check_embedding",
    "check_encoding",
    "check_entry",
    "check_eps",
    "check_features",
    "check_feed_forward",
    "check_floats",
    "check_gelu",
    "check_gradient",
    "check_gradient_of",
    "check_ids",
    "check_in_table",
    "check_input",
    "check_kept",
    "check_kept_blocks",
    "check_key_mask",
    "check_loss_gradient",
    "check_mask",
    "check_masks",
    "check_merge",
    "check_multi_head",
    "check_norm",
    "check_number",
    "check_optimizer",
    "check_places",
    "check_positions",
    "check_projections",
    "check_reorder",
    "check_residual",
    "check_rotary",
    "check_shape",
    "check_share",
    "check_softmax_gradient",
    "check_split",
    "check_state",
    "check_table",
    "check_target",
    "check_targets",
    "check_tokens",
    "check_width",
    "head_sizes",
    "kind",
    "listed",
]
