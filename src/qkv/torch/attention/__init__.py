"""Attention: scaled dot-product and additive attention, softmax and log-softmax."""

from qkv.public_names import publish as _publish
from qkv.torch.attention.additive import *
from qkv.torch.attention.log_softmax import *
from qkv.torch.attention.scaled_dot_product import *
from qkv.torch.attention.softmax import *

_publish(__name__)
