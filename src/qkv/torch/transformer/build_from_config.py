"""Build the parts of a model from its configuration: embedding, encoder, decoder, output."""

from typing import Any

from qkv.config import TransformerConfig
from qkv.torch.add_norm import LayerNorm, RMSNorm
from qkv.torch.add_norm.norms import NORMS
from qkv.torch.embedding import Embedding
from qkv.torch.linear import Linear
from qkv.torch.transformer.decoder import Decoder
from qkv.torch.transformer.decoder_layer import DecoderLayer
from qkv.torch.transformer.encoder import Encoder
from qkv.torch.transformer.encoder_layer import EncoderLayer
from qkv.torch.transformer.output_projection import TiedOutput

__all__ = ["make_decoder", "make_embedding", "make_encoder", "make_model_norm", "make_output"]


def make_embedding(config: TransformerConfig, vocab_size: int, **factory_kwargs: Any) -> Embedding:
    """The embedding of a vocabulary; factory_kwargs are rng, dtype and device, as below."""
    scale = None if config.scale_embedding else 1.0  # None is √d_model
    return Embedding(vocab_size, config.d_model, config.pad_id, scale, **factory_kwargs)


def make_encoder(config: TransformerConfig, **factory_kwargs: Any) -> Encoder:
    """The stack of encoder layers."""
    layers = [EncoderLayer.from_config(config, **factory_kwargs) for _ in range(config.n_layers)]
    return Encoder(layers, _final_norm(config, factory_kwargs))


def make_decoder(
    config: TransformerConfig, n_layers: int, cross_attention: bool = True, **factory_kwargs: Any
) -> Decoder:
    """The stack of decoder layers, with cross-attention or without."""
    options = {"cross_attention": cross_attention, **factory_kwargs}
    layers = [DecoderLayer.from_config(config, **options) for _ in range(n_layers)]
    return Decoder(layers, _final_norm(config, factory_kwargs))


def make_output(
    config: TransformerConfig, table: Embedding, **factory_kwargs: Any
) -> Linear | TiedOutput:
    """The output projection: tied to the embedding table, or a linear layer."""
    if config.tie_word_embeddings != "none":
        return TiedOutput(table, config.output_bias, **_without_rng(factory_kwargs))
    return Linear(config.d_model, config.target_vocabulary, config.output_bias, **factory_kwargs)


def make_model_norm(config: TransformerConfig, **factory_kwargs: Any) -> LayerNorm | RMSNorm:
    """A norm of the model's kind and width."""
    kwargs = _without_rng(factory_kwargs)
    return NORMS[config.norm](config.d_model, config.norm_eps, config.norm_bias, **kwargs)


def _final_norm(
    config: TransformerConfig, factory_kwargs: dict[str, Any]
) -> LayerNorm | RMSNorm | None:
    if not config.ends_in_norm:
        return None
    return make_model_norm(config, **factory_kwargs)


def _without_rng(factory_kwargs: dict[str, Any]) -> dict[str, Any]:
    """dtype and device, for what begins with zeros or ones."""
    return {name: factory_kwargs[name] for name in ("dtype", "device")}
