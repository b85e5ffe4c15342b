"""The torch room: the same names and calls as `qkv.numpy`; autograd takes the backward's place."""

import qkv.numpy as _numpy_room
from qkv.docstrings import inherit_docstrings as _inherit_docstrings
from qkv.public_names import publish as _publish
from qkv.torch.add_norm import *
from qkv.torch.attention import *
from qkv.torch.decoding import *
from qkv.torch.dropout import *
from qkv.torch.efficient.blockwise import *  # its triton_attention is in no other room
from qkv.torch.efficient.linformer import *
from qkv.torch.efficient.performer import *
from qkv.torch.efficient.sparse_masks import *
from qkv.torch.embedding import *
from qkv.torch.feed_forward import *
from qkv.torch.layer import *
from qkv.torch.linear import *
from qkv.torch.masks import *
from qkv.torch.multi_head import *
from qkv.torch.positional import *
from qkv.torch.training import *
from qkv.torch.transformer import *

_publish(__name__)
_inherit_docstrings(__name__, _numpy_room)
