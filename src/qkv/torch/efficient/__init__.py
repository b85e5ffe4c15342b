"""Efficient attention for long texts: sparse masks, Linformer, Performer, blockwise attention."""

from qkv.public_names import publish as _publish
from qkv.torch.efficient.blockwise import *
from qkv.torch.efficient.linformer import *
from qkv.torch.efficient.performer import *
from qkv.torch.efficient.sparse_masks import *
from qkv.torch.efficient.triton_attention import *

_publish(__name__)
