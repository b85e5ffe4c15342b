"""Transformer: layers, stacks, the three kinds of models, decoding with caches."""

from qkv.torch.transformer.decoder import Decoder
from qkv.torch.transformer.decoder_layer import DecoderLayer
from qkv.torch.transformer.decoder_only import DecoderOnly
from qkv.torch.transformer.decoding_state import DecodingState
from qkv.torch.transformer.encoder import Encoder
from qkv.torch.transformer.encoder_decoder import Transformer
from qkv.torch.transformer.encoder_layer import EncoderLayer
from qkv.torch.transformer.encoder_only import EncoderOnly

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
