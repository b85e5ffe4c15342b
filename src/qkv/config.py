"""Configuration of a Transformer: its sizes and choices, and its parameter count."""

from dataclasses import dataclass
from typing import Any

from qkv.shapes import (
    as_python,
    check_bool,
    check_choice,
    check_count,
    check_range,
)
from qkv.shapes.choices import GATED, MODELS, OF_A_CONFIG
from qkv.shapes.multi_head import check_rotary_width, head_sizes
from qkv.shapes.transformer import check_vocabularies

__all__ = ["TransformerConfig", "parameter_count"]


@dataclass(frozen=True)
class TransformerConfig:
    """Configuration of a Transformer; the defaults are the base model of the paper.

    Args:
        vocab_size: number of tokens; with two vocabularies, those of the source.
        target_vocab_size: those of the target; None means one vocabulary for both.
        d_model: width of the vectors that pass through.
        n_heads: heads of each attention.
        n_kv_heads: heads of keys and values; None means n_heads.
        d_k, d_v: widths of a head; None means d_model / n_heads, and d_k.
        d_ff: width inside the feed-forward part.
        n_layers: layers of the encoder, or of a decoder that stands alone.
        n_decoder_layers: layers of the decoder; None means n_layers.
        dropout: on what each sub-layer adds, and on the sum of embedding and position; not on the
            weights of attention, nor inside the feed-forward part, where the paper has none.
        activation: inside the feed-forward part, "relu" in the paper, "gelu_tanh" in GPT-2.
        norm: the kind of every norm, "layer" in the paper.
        norm_eps: ε of each norm.
        norm_placement: "post", the paper's, or "pre".
        final_norm: one more norm at the end of each stack; None means only where norm_placement is
            "pre", which leaves the last sum without one.
        positions: "sinusoidal" waves or a "learned" table, added to the embedding; "rotary" or
            "alibi", inside each self-attention; "none".
        layout: of the waves, "interleaved" as in the paper or "halves".
        max_len: the longest text, where positions are learned; elsewhere there is no longest.
        tie: "none" of the tables is shared; "target": its embedding is the output projection too;
            "all": the source's embedding as well, which needs one vocabulary.
        bias: in the projections of attention.
        feed_forward_bias: in the projections of the feed-forward part.
        norm_bias: in each layer norm; an RMS norm has none.
        output_bias: one more number for each token of the target, added to its scores.
        scale_embedding: multiply embeddings by √d_model.
        pad_id: the token that fills short texts up at their end; None for none.
        causal: each token of the decoder attends to itself and to those before it. False lets it
            attend to those after it too, as BERT does: such a model cannot write token by token.
    Raises:
        ValueError: something is of the wrong kind, or two things do not go together.
    Source: Vaswani et al. 2017, table 3.
    """

    vocab_size: int
    target_vocab_size: int | None = None
    d_model: int = 512
    n_heads: int = 8
    n_kv_heads: int | None = None
    d_k: int | None = None
    d_v: int | None = None
    d_ff: int = 2048
    n_layers: int = 6
    n_decoder_layers: int | None = None
    dropout: float = 0.1
    activation: str = "relu"
    norm: str = "layer"
    norm_placement: str = "post"
    final_norm: bool | None = None
    positions: str = "sinusoidal"
    layout: str = "interleaved"
    max_len: int = 512
    tie: str = "all"
    bias: bool = True
    output_bias: bool = False
    scale_embedding: bool = True
    pad_id: int | None = None
    norm_eps: float = 1e-5
    feed_forward_bias: bool = True
    norm_bias: bool = True
    causal: bool = True

    def __post_init__(self) -> None:
        call = "TransformerConfig"
        check_count(call, vocab_size=self.vocab_size, d_ff=self.d_ff, max_len=self.max_len)
        check_count(call, n_layers=self.n_layers, n_decoder_layers=self.decoder_layers)
        d_k, _, _ = head_sizes(
            call, self.d_model, self.n_heads, self.d_k, self.d_v, self.n_kv_heads, False
        )
        for name, words in OF_A_CONFIG.items():
            check_choice(call, name, getattr(self, name), words)
        check_range(call, "a number in [0, 1)", dropout=self.dropout)
        check_bool(call, bias=self.bias, output_bias=self.output_bias)
        check_bool(call, feed_forward_bias=self.feed_forward_bias, norm_bias=self.norm_bias)
        check_bool(call, causal=self.causal)
        check_range(call, "a number above 0", norm_eps=self.norm_eps)
        check_bool(call, scale_embedding=self.scale_embedding, final_norm=self.ends_in_norm)
        if self.positions == "rotary":
            check_rotary_width(call, d_k, "positions='rotary'")
        check_vocabularies(call, self.tie, self.vocab_size, self.target_vocab_size, self.pad_id)
        for name, value in list(vars(self).items()):  # what is written to a file is Python's own
            object.__setattr__(self, name, as_python(value))

    @property
    def target_vocabulary(self) -> int:
        """Number of tokens of the target."""
        return self.vocab_size if self.target_vocab_size is None else self.target_vocab_size

    @property
    def decoder_layers(self) -> int:
        """Layers of the decoder that stands beside an encoder."""
        return self.n_layers if self.n_decoder_layers is None else self.n_decoder_layers

    @property
    def ends_in_norm(self) -> bool:
        """Whether each stack ends in a final norm."""
        return self.norm_placement == "pre" if self.final_norm is None else self.final_norm

    @property
    def layer_options(self) -> dict[str, Any]:
        """The keyword arguments of each layer of the model."""
        names = ["d_model", "n_heads", "d_ff", "dropout", "activation", "norm", "norm_placement"]
        names += ["bias", "d_k", "d_v", "n_kv_heads"]
        names += ["norm_eps", "feed_forward_bias", "norm_bias"]
        options = {name: getattr(self, name) for name in names}
        return {**options, "rotary": self.positions == "rotary"}


def parameter_count(config: TransformerConfig, model: str = "encoder-decoder") -> int:
    """Parameter count of a model, by formula: nothing is built.

    Args:
        config: the model's sizes and choices.
        model: "encoder-decoder" or "decoder-only".
    Returns:
        The count; a table that stands in several places counts once.
    Raises:
        ValueError: the model is unknown.
    """
    check_choice("parameter_count", "model", model, MODELS)
    d, V = config.d_model, config.target_vocabulary
    norm = 2 * d if config.norm == "layer" and config.norm_bias else d
    decoder = _attention(config) + norm + _feed_forward(config) + norm
    tables = V * d * (2 if config.tie == "none" else 1)
    if config.output_bias:
        tables += V
    if config.positions == "learned":
        tables += config.max_len * d
    final = norm if config.ends_in_norm else 0
    if model == "decoder-only":
        return tables + config.n_layers * decoder + final

    encoder = config.n_layers * decoder + final
    decoder += _attention(config) + norm  # cross-attention
    source = 0 if config.tie == "all" else config.vocab_size * d
    if config.positions == "learned":
        source += config.max_len * d
    return source + encoder + tables + config.decoder_layers * decoder + final


def _attention(config: TransformerConfig) -> int:
    """Parameters of an attention: W_Q, W_K, W_V and W_O, with their biases."""
    d, n = config.d_model, config.n_heads
    d_k, d_v, n_kv = head_sizes("", d, n, config.d_k, config.d_v, config.n_kv_heads, False)
    inner = n * d_k + n_kv * d_k + n_kv * d_v
    weights = d * (inner + n * d_v)
    return weights + inner + d if config.bias else weights


def _feed_forward(config: TransformerConfig) -> int:
    """Parameters of a feed-forward part: up, a gate where there is one, down, with their biases."""
    up = 2 if config.activation in GATED else 1
    d, d_ff = config.d_model, config.d_ff
    weights = (up + 1) * d * d_ff
    return weights + up * d_ff + d if config.feed_forward_bias else weights
