"""Add & Norm: residual connections with dropout, layer norm and RMS norm."""

from qkv.public_names import publish as _publish
from qkv.torch.add_norm.norms import *
from qkv.torch.add_norm.residual import *

_publish(__name__)
