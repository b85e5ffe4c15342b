"""Transformer: layers, stacks, the three kinds of models, decoding with caches."""

from qkv.numpy.transformer.decoder import Decoder
from qkv.numpy.transformer.decoder_layer import DecoderLayer
from qkv.numpy.transformer.decoder_only import DecoderOnly
from qkv.numpy.transformer.decoding_state import DecodingState
from qkv.numpy.transformer.encoder import Encoder
from qkv.numpy.transformer.encoder_decoder import Transformer
from qkv.numpy.transformer.encoder_layer import EncoderLayer
from qkv.numpy.transformer.encoder_only import EncoderOnly

__all__ = [
    "Decoder",
    "DecoderLayer",
    "DecoderOnly",
    "DecodingState",
    "Encoder",
    "EncoderLayer",
    "EncoderOnly",
    "Transformer",
]
