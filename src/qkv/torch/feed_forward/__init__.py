"""The position-wise feed-forward network and its activations."""

from qkv.public_names import publish as _publish
from qkv.torch.feed_forward.activations import *
from qkv.torch.feed_forward.feed_forward import *

_publish(__name__)
