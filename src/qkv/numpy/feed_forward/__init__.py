"""The position-wise feed-forward network and its activations."""

from qkv.numpy.feed_forward.activations import *
from qkv.numpy.feed_forward.feed_forward import *
from qkv.public_names import publish as _publish

_publish(__name__)
