"""Multi-head attention: several attentions side by side, each in a part of the width."""

from qkv.public_names import publish as _publish
from qkv.torch.multi_head.attention import *
from qkv.torch.multi_head.heads import *
from qkv.torch.multi_head.key_value_cache import *

_publish(__name__)
