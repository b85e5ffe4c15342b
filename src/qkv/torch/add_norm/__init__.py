"""Add & Norm: residual connections with dropout, layer norm and RMS norm."""

from qkv.torch.add_norm.norms import (
    LayerNorm,
    RMSNorm,
    layer_norm,
    rms_norm,
)
from qkv.torch.add_norm.residual import AddNorm

__all__ = [
    "AddNorm",
    "LayerNorm",
    "RMSNorm",
    "layer_norm",
    "rms_norm",
]
