"""Add & Norm: residual connections with dropout, layer norm and RMS norm."""

from qkv.numpy.add_norm.norms import *
from qkv.numpy.add_norm.residual import *
from qkv.public_names import publish as _publish

_publish(__name__)
