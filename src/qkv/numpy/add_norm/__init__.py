"""Add & Norm: residual connections with dropout, layer norm and RMS norm."""

from qkv.numpy.add_norm.norms import (
    LayerNorm,
    RMSNorm,
    layer_norm,
    layer_norm_backward,
    rms_norm,
    rms_norm_backward,
)
from qkv.numpy.add_norm.residual import AddNorm

__all__ = [
    "AddNorm",
    "LayerNorm",
    "RMSNorm",
    "layer_norm",
    "layer_norm_backward",
    "rms_norm",
    "rms_norm_backward",
]
