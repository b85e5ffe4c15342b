"""Attention: scaled dot-product and additive attention, softmax and log-softmax."""

from qkv.numpy.attention.additive import *
from qkv.numpy.attention.log_softmax import *
from qkv.numpy.attention.scaled_dot_product import *
from qkv.numpy.attention.softmax import *
from qkv.public_names import publish as _publish

_publish(__name__)
