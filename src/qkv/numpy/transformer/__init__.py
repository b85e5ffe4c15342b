"""Transformer: layers, stacks, the three kinds of models, decoding with caches."""

from qkv.numpy.transformer.decoder import *
from qkv.numpy.transformer.decoder_layer import *
from qkv.numpy.transformer.decoder_only import *
from qkv.numpy.transformer.decoding_state import *
from qkv.numpy.transformer.encoder import *
from qkv.numpy.transformer.encoder_decoder import *
from qkv.numpy.transformer.encoder_layer import *
from qkv.numpy.transformer.encoder_only import *
from qkv.public_names import publish as _publish

_publish(__name__)
