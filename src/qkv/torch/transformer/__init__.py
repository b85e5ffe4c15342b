"""Transformer: layers, stacks, the three kinds of models, decoding with caches."""

from qkv.public_names import publish as _publish
from qkv.torch.transformer.decoder import *
from qkv.torch.transformer.decoder_layer import *
from qkv.torch.transformer.decoder_only import *
from qkv.torch.transformer.decoding_state import *
from qkv.torch.transformer.encoder import *
from qkv.torch.transformer.encoder_decoder import *
from qkv.torch.transformer.encoder_layer import *
from qkv.torch.transformer.encoder_only import *

_publish(__name__)
