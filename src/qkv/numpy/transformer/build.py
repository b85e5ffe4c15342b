"""The parts of a model, made as its configuration says."""

from typing import Any

from numpy.typing import DTypeLike

from qkv.config import TransformerConfig
from qkv.numpy.add_norm import LayerNorm, RMSNorm
from qkv.numpy.add_norm.norms import make_norm
from qkv.numpy.embedding import Embedding
from qkv.numpy.linear import Linear
from qkv.numpy.transformer.decoder import Decoder
from qkv.numpy.transformer.decoder_layer import DecoderLayer
from qkv.numpy.transformer.encoder import Encoder
from qkv.numpy.transformer.encoder_layer import EncoderLayer
from qkv.numpy.transformer.output import TiedOutput

__all__ = ["make_decoder", "make_embedding", "make_encoder", "make_output"]


def make_embedding(config: TransformerConfig, vocab_size: int, **own: Any) -> Embedding:
    """A table of this many tokens; `own` is what the parameters are drawn by, here as below."""
    scale = None if config.scale_embedding else 1.0  # None is √d_model
    return Embedding(vocab_size, config.d_model, config.pad_id, scale, **own)


def make_encoder(config: TransformerConfig, **own: Any) -> Encoder:
    layers = [EncoderLayer(**config.layer_options, **own) for _ in range(config.n_layers)]
    return Encoder(layers, _last_norm(config, own["dtype"]))


def make_decoder(
    config: TransformerConfig, n_layers: int, cross_attention: bool = True, **own: Any
) -> Decoder:
    options = {**config.layer_options, "cross_attention": cross_attention, **own}
    options["causal"] = config.causal
    layers = [DecoderLayer(**options) for _ in range(n_layers)]
    return Decoder(layers, _last_norm(config, own["dtype"]))


def make_output(config: TransformerConfig, table: Embedding, **own: Any) -> Linear | TiedOutput:
    """A projection of its own, or the table's."""
    if config.tie != "none":
        return TiedOutput(table, config.output_bias, dtype=own["dtype"])
    return Linear(config.d_model, config.target_vocabulary, config.output_bias, **own)


def _last_norm(config: TransformerConfig, dtype: DTypeLike) -> LayerNorm | RMSNorm | None:
    if not config.ends_in_norm:
        return None
    return make_norm(config.norm, config.d_model, config.norm_eps, config.norm_bias, dtype=dtype)
