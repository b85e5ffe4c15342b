"""The torch room: the same names and calls as `qkv.numpy`; autograd takes the backward's place."""

from torch import Tensor as _Tensor

from qkv.shapes import guard_room as _guard_room
from qkv.torch.add_norm import (
    AddNorm,
    LayerNorm,
    RMSNorm,
    layer_norm,
    rms_norm,
)
from qkv.torch.attention import (
    additive_attention,
    log_softmax,
    scaled_dot_product_attention,
    softmax,
)
from qkv.torch.decoding import (
    beam_search,
    brute_force,
    greedy,
    keep_top_k,
    keep_top_p,
    length_divisor,
    sample,
)
from qkv.torch.dropout import (
    Dropout,
    dropout,
)
from qkv.torch.efficient import (
    blockwise_attention,
    draw_features,
    global_mask,
    linformer_attention,
    performer_attention,
    strided_mask,
    window_mask,
)
from qkv.torch.embedding import (
    Embedding,
    embedding,
)
from qkv.torch.feed_forward import (
    FeedForward,
    gelu,
    relu,
    silu,
)
from qkv.torch.layer import (
    Layer,
)
from qkv.torch.linear import (
    Linear,
    linear,
)
from qkv.torch.masks import (
    causal_mask,
    combine_masks,
    padding_mask,
)
from qkv.torch.multi_head import (
    KeyValueCache,
    MultiHeadAttention,
    merge_heads,
    split_heads,
)
from qkv.torch.positional import (
    LearnedPositions,
    alibi_bias,
    alibi_slopes,
    rotary,
    sinusoidal_encoding,
)
from qkv.torch.room import is_ndarray as _is_ndarray
from qkv.torch.training import (
    Adam,
    AdamW,
    average_checkpoints,
    clip_gradients,
    cross_entropy,
    linear_rate,
    noam_rate,
)
from qkv.torch.transformer import (
    Decoder,
    DecoderLayer,
    DecoderOnly,
    DecodingState,
    Encoder,
    EncoderLayer,
    Transformer,
)

__all__ = [
    "Adam",
    "AdamW",
    "AddNorm",
    "Decoder",
    "DecoderLayer",
    "DecoderOnly",
    "DecodingState",
    "Dropout",
    "Embedding",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "KeyValueCache",
    "Layer",
    "LayerNorm",
    "LearnedPositions",
    "Linear",
    "MultiHeadAttention",
    "RMSNorm",
    "Transformer",
    "additive_attention",
    "alibi_bias",
    "alibi_slopes",
    "average_checkpoints",
    "beam_search",
    "blockwise_attention",
    "brute_force",
    "causal_mask",
    "clip_gradients",
    "combine_masks",
    "cross_entropy",
    "draw_features",
    "dropout",
    "embedding",
    "gelu",
    "global_mask",
    "greedy",
    "keep_top_k",
    "keep_top_p",
    "layer_norm",
    "length_divisor",
    "linear",
    "linear_rate",
    "linformer_attention",
    "log_softmax",
    "merge_heads",
    "noam_rate",
    "padding_mask",
    "performer_attention",
    "relu",
    "rms_norm",
    "rotary",
    "sample",
    "scaled_dot_product_attention",
    "silu",
    "sinusoidal_encoding",
    "softmax",
    "split_heads",
    "strided_mask",
    "window_mask",
]

# A checkpoint holds the state of an optimizer as arrays, in the layout of the room that it is of.
_EITHER = ["Adam.load_state_dict"]
_guard_room("torch", _Tensor, _is_ndarray, __all__, globals(), _EITHER)
