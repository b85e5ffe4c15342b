"""The torch room: the same names and calls as `qkv.numpy`; autograd takes the backward's place."""

from qkv.torch.attention import (
    additive_attention,
    scaled_dot_product_attention,
    softmax,
)
from qkv.torch.dropout import (
    Dropout,
    dropout,
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
from qkv.torch.positional import (
    LearnedPositions,
    alibi_bias,
    alibi_slopes,
    rotary,
    sinusoidal_encoding,
)

__all__ = [
    "Dropout",
    "Layer",
    "LearnedPositions",
    "Linear",
    "additive_attention",
    "alibi_bias",
    "alibi_slopes",
    "causal_mask",
    "combine_masks",
    "dropout",
    "linear",
    "padding_mask",
    "rotary",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
    "softmax",
]
