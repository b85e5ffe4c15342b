"""Transformer: layers, stacks, encoder-decoder and decoder-only models, decoding with caches."""

from qkv.torch.transformer.decoder import Decoder
from qkv.torch.transformer.decoder_layer import DecoderLayer
from qkv.torch.transformer.decoder_only import DecoderOnly
from qkv.torch.transformer.decoding_state import DecodingState
from qkv.torch.transformer.encoder import Encoder
from qkv.torch.transformer.encoder_decoder import Transformer
from qkv.torch.transformer.encoder_layer import EncoderLayer

__all__ = [
    "Decoder",
    "DecoderLayer",
    "DecoderOnly",
    "DecodingState",
    "Encoder",
    "EncoderLayer",
    "Transformer",
]
