"""Configuration of a Transformer: its sizes and choices, and its parameter count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, TypeAlias

from qkv.shapes import check_choice
from qkv.shapes.choices import (
    ACTIVATIONS,
    GATED,
    LAYOUTS,
    MODELS,
    NORMS,
    POSITIONS,
    TIES,
)
from qkv.shapes.fields import (
    Choice,
    Count,
    Interval,
    Positive,
    Share,
    check_fields,
    documented_with_base,
)
from qkv.shapes.multi_head import check_rotary_width, head_sizes
from qkv.shapes.transformer import check_vocabularies

__all__ = ["ModelConfig", "TransformerConfig", "parameter_count", "with_current_names"]

Tie: TypeAlias = Annotated[str, Choice(TIES)] | None


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Sizes and choices of a model, whatever its vocabulary; the defaults are of a small one.

    Args:
        d_model: width of the vectors that pass through.
        n_heads: heads of each attention.
        d_ff: width inside the feed-forward part.
        n_layers: layers of the encoder, or of a decoder that stands alone.
        n_decoder_layers: layers of the decoder; None means n_layers.
        dropout: on what each sub-layer adds, and on the sum of embedding and position; not on the
            weights of attention, nor inside the feed-forward part, where the paper has none.
        norm_first: pre-norm; False is post-norm, the paper's.
        norm: the kind of every norm, "layer" in the paper.
        activation: inside the feed-forward part, "relu" in the paper, "gelu_tanh" in GPT-2.
        positions: "sinusoidal" waves or a "learned" table, added to the embedding; "rotary" or
            "alibi", inside each self-attention; "none".
        tie_word_embeddings: which tables are one: "none"; "target", whose embedding is the output
            projection too; "all", the source's embedding as well, which needs one vocabulary; None
            means "all", or "target" with separate vocabularies.
    Raises:
        ValueError: a field does not fit, or two do not go together.
    """

    d_model: Count = 128
    n_heads: Count = 4
    d_ff: Count = 512
    n_layers: Count = 3
    n_decoder_layers: Count | None = None
    dropout: Share = 0.1
    norm_first: bool = True
    norm: Annotated[str, Choice(NORMS)] = "layer"
    activation: Annotated[str, Choice(ACTIVATIONS)] = "relu"
    positions: Annotated[str, Choice(POSITIONS)] = "sinusoidal"
    tie_word_embeddings: Tie = None

    def __post_init__(self) -> None:
        check_fields(self)
        # What `TransformerConfig` says of these would advise a d_k, which is no field here.
        if self.d_model % self.n_heads:
            raise ValueError(
                f"ModelConfig: `d_model` must be a multiple of `n_heads`, got {self.d_model} and "
                f"{self.n_heads}: give another of the two"
            )
        if self.positions == "rotary" and self.d_model // self.n_heads % 2:
            raise ValueError(
                "ModelConfig: rotary positions turn pairs of numbers, so `d_model` / `n_heads` must"
                f" be even, got {self.d_model // self.n_heads}: give another of the two"
            )


@documented_with_base
@dataclass(frozen=True)
class TransformerConfig(ModelConfig):
    """Configuration of a Transformer; the defaults are the base model of the paper.

    Its arguments are those of `ModelConfig`, with the paper's sizes as defaults, and more:

    Args:
        vocab_size: number of tokens; with two vocabularies, those of the source.
        target_vocab_size: those of the target; None means one vocabulary for both.
        n_kv_heads: heads of keys and values; None means n_heads.
        d_k, d_v: widths of a head; None means d_model / n_heads, and d_k.
        final_norm: one more norm at the end of each stack; None means only where norm_first, which
            leaves the last sum without one.
        layout: of the waves, "interleaved" as in the paper or "halves".
        max_len: the longest text, where positions are learned; elsewhere there is no longest.
        bias: in the projections of attention.
        output_bias: one more number for each token of the target, added to its scores.
        scale_embedding: multiply embeddings by √d_model.
        pad_id: the token that fills short texts up at their end; None for none.
        norm_eps: ε of each norm.
        feed_forward_bias: in the projections of the feed-forward part.
        norm_bias: in each layer norm; an RMS norm has none.
        causal: each token of the decoder attends to itself and to those before it. False lets it
            attend to those after it too, as BERT does: such a model cannot write token by token.
    Raises:
        ValueError: something is of the wrong kind, or two things do not go together.
    Source: Vaswani et al. 2017, table 3.
    """

    vocab_size: Count
    target_vocab_size: Count | None = None
    _: KW_ONLY
    d_model: Count = 512
    n_heads: Count = 8
    d_ff: Count = 2048
    n_layers: Count = 6
    norm_first: bool = False
    tie_word_embeddings: Tie = "all"
    n_kv_heads: Count | None = None
    d_k: Count | None = None
    d_v: Count | None = None
    final_norm: bool | None = None
    layout: Annotated[str, Choice(LAYOUTS)] = "interleaved"
    max_len: Count = 512
    bias: bool = True
    output_bias: bool = False
    scale_embedding: bool = True
    pad_id: Annotated[int, Interval(int, 0)] | None = None
    norm_eps: Positive = 1e-5
    feed_forward_bias: bool = True
    norm_bias: bool = True
    causal: bool = True

    def __post_init__(self) -> None:
        call = "TransformerConfig"
        check_fields(self)
        if self.tie_word_embeddings is None:
            tie = "all" if self.target_vocab_size is None else "target"
            object.__setattr__(self, "tie_word_embeddings", tie)
        d_k, _, _ = head_sizes(
            call, self.d_model, self.n_heads, self.d_k, self.d_v, self.n_kv_heads, False
        )
        if self.positions == "rotary":
            check_rotary_width(call, d_k, "positions='rotary'")
        check_vocabularies(
            call, self.tie_word_embeddings, self.vocab_size, self.target_vocabulary, self.pad_id
        )

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
        return self.norm_first if self.final_norm is None else self.final_norm

    @property
    def layer_options(self) -> dict[str, Any]:
        """The keyword arguments of each layer of the model."""
        names = ["d_model", "n_heads", "d_ff", "dropout", "activation", "norm", "norm_first"]
        names += ["bias", "d_k", "d_v", "n_kv_heads"]
        names += ["norm_eps", "feed_forward_bias", "norm_bias"]
        options = {name: getattr(self, name) for name in names}
        return {**options, "rotary": self.positions == "rotary"}


def with_current_names(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a stored model by their names of today: "norm_placement" and "tie" are former."""
    fields = dict(stored)
    if "norm_placement" in fields:
        placement = fields.pop("norm_placement")
        fields["norm_first"] = {"post": False, "pre": True}.get(placement, placement)
    if "tie" in fields:
        fields["tie_word_embeddings"] = fields.pop("tie")
    return fields


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
    tables = V * d * (2 if config.tie_word_embeddings == "none" else 1)
    if config.output_bias:
        tables += V
    if config.positions == "learned":
        tables += config.max_len * d
    final = norm if config.ends_in_norm else 0
    if model == "decoder-only":
        return tables + config.n_layers * decoder + final

    encoder = config.n_layers * decoder + final
    decoder += _attention(config) + norm  # cross-attention
    source = 0 if config.tie_word_embeddings == "all" else config.vocab_size * d
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
