"""The torch room: the same names and calls as `qkv.numpy`; autograd takes the backward's place."""

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
    exhaustive_search,
    greedy,
    keep_top_k,
    keep_top_p,
    length_normalizer,
    sample,
)
from qkv.torch.dropout import (
    Dropout,
    dropout,
)
from qkv.torch.efficient import (
    blockwise_attention,
    global_mask,
    linformer_attention,
    orthogonal_random_features,
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
    prefix_mask,
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
from qkv.torch.training import (
    Adam,
    AdamW,
    average_checkpoints,
    clip_grad_norm,
    cross_entropy,
    linear_schedule,
    noam_schedule,
)
from qkv.torch.transformer import (
    Decoder,
    DecoderLayer,
    DecoderOnly,
    DecodingState,
    Encoder,
    EncoderLayer,
    EncoderOnly,
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
    "EncoderOnly",
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
    "causal_mask",
    "clip_grad_norm",
    "combine_masks",
    "cross_entropy",
    "dropout",
    "embedding",
    "exhaustive_search",
    "gelu",
    "global_mask",
    "greedy",
    "keep_top_k",
    "keep_top_p",
    "layer_norm",
    "length_normalizer",
    "linear",
    "linear_schedule",
    "linformer_attention",
    "log_softmax",
    "merge_heads",
    "noam_schedule",
    "orthogonal_random_features",
    "padding_mask",
    "performer_attention",
    "prefix_mask",
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
