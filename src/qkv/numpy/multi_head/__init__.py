"""Multi-head attention: several attentions side by side, each in a part of the width."""

from qkv.numpy.multi_head.attention import *
from qkv.numpy.multi_head.heads import *
from qkv.numpy.multi_head.key_value_cache import *
from qkv.public_names import publish as _publish

_publish(__name__)
