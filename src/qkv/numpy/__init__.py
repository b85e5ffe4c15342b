"""The reference room: every concept in NumPy, each forward with its backward beside it."""

from qkv.numpy.add_norm import *
from qkv.numpy.attention import *
from qkv.numpy.decoding import *
from qkv.numpy.dropout import *
from qkv.numpy.efficient import *
from qkv.numpy.embedding import *
from qkv.numpy.feed_forward import *
from qkv.numpy.layer import *
from qkv.numpy.linear import *
from qkv.numpy.masks import *
from qkv.numpy.multi_head import *
from qkv.numpy.positional import *
from qkv.numpy.training import *
from qkv.numpy.transformer import *
from qkv.public_names import publish as _publish

_publish(__name__)
