"""Add & Norm: the path around each sub-layer, and the norm that keeps its vectors in size."""

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
