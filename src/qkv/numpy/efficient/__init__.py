"""Efficient attention for long texts: sparse masks, Linformer, Performer, blockwise attention."""

from qkv.numpy.efficient.blockwise import *
from qkv.numpy.efficient.linformer import *
from qkv.numpy.efficient.performer import *
from qkv.numpy.efficient.sparse_masks import *
from qkv.public_names import publish as _publish

_publish(__name__)
