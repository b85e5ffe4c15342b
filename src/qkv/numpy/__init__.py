"""The reference room: every concept in NumPy, each forward with its backward beside it."""

from numpy import ndarray as _ndarray

from qkv.numpy.add_norm import (
    AddNorm,
    LayerNorm,
    RMSNorm,
    layer_norm,
    layer_norm_backward,
    rms_norm,
    rms_norm_backward,
)
from qkv.numpy.attention import (
    additive_attention,
    additive_attention_backward,
    log_softmax,
    log_softmax_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    softmax,
    softmax_backward,
)
from qkv.numpy.decoding import (
    beam_search,
    brute_force,
    greedy,
    keep_top_k,
    keep_top_p,
    length_divisor,
    sample,
)
from qkv.numpy.dropout import (
    Dropout,
    dropout,
    dropout_backward,
)
from qkv.numpy.efficient import (
    blockwise_attention,
    blockwise_attention_backward,
    draw_features,
    global_mask,
    linformer_attention,
    performer_attention,
    strided_mask,
    window_mask,
)
from qkv.numpy.embedding import (
    Embedding,
    embedding,
    embedding_backward,
)
from qkv.numpy.feed_forward import (
    FeedForward,
    gelu,
    gelu_backward,
    relu,
    relu_backward,
    silu,
    silu_backward,
)
from qkv.numpy.layer import (
    Layer,
)
from qkv.numpy.linear import (
    Linear,
    linear,
    linear_backward,
)
from qkv.numpy.masks import (
    causal_mask,
    combine_masks,
    padding_mask,
)
from qkv.numpy.multi_head import (
    KeyValueCache,
    MultiHeadAttention,
    merge_heads,
    split_heads,
)
from qkv.numpy.positional import (
    LearnedPositions,
    alibi_bias,
    alibi_slopes,
    rotary,
    rotary_backward,
    sinusoidal_encoding,
)
from qkv.numpy.room import is_tensor as _is_tensor
from qkv.numpy.training import (
    Adam,
    AdamW,
    average_checkpoints,
    clip_gradients,
    cross_entropy,
    cross_entropy_backward,
    linear_rate,
    noam_rate,
)
from qkv.numpy.transformer import (
    Decoder,
    DecoderLayer,
    DecoderOnly,
    DecodingState,
    Encoder,
    EncoderLayer,
    Transformer,
)
from qkv.shapes import guard_room as _guard_room

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
    "additive_attention_backward",
    "alibi_bias",
    "alibi_slopes",
    "average_checkpoints",
    "beam_search",
    "blockwise_attention",
    "blockwise_attention_backward",
    "brute_force",
    "causal_mask",
    "clip_gradients",
    "combine_masks",
    "cross_entropy",
    "cross_entropy_backward",
    "draw_features",
    "dropout",
    "dropout_backward",
    "embedding",
    "embedding_backward",
    "gelu",
    "gelu_backward",
    "global_mask",
    "greedy",
    "keep_top_k",
    "keep_top_p",
    "layer_norm",
    "layer_norm_backward",
    "length_divisor",
    "linear",
    "linear_backward",
    "linear_rate",
    "linformer_attention",
    "log_softmax",
    "log_softmax_backward",
    "merge_heads",
    "noam_rate",
    "padding_mask",
    "performer_attention",
    "relu",
    "relu_backward",
    "rms_norm",
    "rms_norm_backward",
    "rotary",
    "rotary_backward",
    "sample",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "silu",
    "silu_backward",
    "sinusoidal_encoding",
    "softmax",
    "softmax_backward",
    "split_heads",
    "strided_mask",
    "window_mask",
]

_guard_room("numpy", _ndarray, _is_tensor, __all__, globals())
