"""Check whole models: options, layers and modes that do not go together."""

from collections.abc import Sequence
from typing import Any

from qkv.shapes.formatting import format_shape
from qkv.shapes.option_checks import check_below


def check_vocabularies(
    call: str,
    tie_word_embeddings: str | None,
    vocab_size: int,
    target_vocab_size: int,
    pad_id: int | None,
) -> None:
    """Refuse one table for two vocabularies, and padding that is no token of each."""
    if tie_word_embeddings == "all" and target_vocab_size != vocab_size:
        hint = (
            "one table has one vocabulary: tie_word_embeddings='target' leaves the source its own"
        )
        raise ValueError(
            f"{call}: target_vocab_size must be vocab_size = {vocab_size} with "
            f"tie_word_embeddings='all', got {target_vocab_size}: {hint}"
        )
    if pad_id is not None:
        V = min(vocab_size, target_vocab_size)
        check_below(call, "pad_id", pad_id, "V", V, "it is a token of each vocabulary")


def check_layers(call: str, layers: Sequence[object], of: type) -> None:
    """Refuse a stack of no layers, or of anything else."""
    for layer in layers:
        if not isinstance(layer, of):
            came = type(layer).__name__
            raise ValueError(f"{call}: layers must each be a {of.__name__}, got {came}")
    if not layers:
        raise ValueError(f"{call}: layers must be at least one {of.__name__}, got none")


def check_memory(call: str, cross_attention: bool, memory: Any) -> None:
    """Refuse a memory where nothing attends to it, and none where something does."""
    if cross_attention and memory is None:
        hint = "pass what the encoder returned"
        raise ValueError(f"{call}: memory must be (B, S, d_model), got None: {hint}")
    if not cross_attention and memory is not None:
        hint = "this layer was made with cross_attention=False"
        came = format_shape(memory.shape)
        raise ValueError(f"{call}: memory must be None, got {came}: {hint}")


def check_single_text_config(call: str, config: Any) -> None:
    """Refuse what only a model with two sides can have."""
    for name in ("target_vocab_size", "n_decoder_layers"):
        value = getattr(config, name)
        if value is not None:
            hint = "there is one text, and n_layers counts its layers"
            raise ValueError(f"{call}: {name} must be None, got {value}: {hint}")


def check_head(call: str, mlm_head: bool) -> None:
    """Refuse to score tokens with a model that was made without a head."""
    if not mlm_head:
        hint = "hidden_states gives the vectors; mlm_head=True makes a model with a head"
        raise ValueError(f"{call}: the model must have a head, got mlm_head=False: {hint}")


def check_caches(call: str, causal: bool, cache: object) -> None:
    """Refuse to go on from tokens that would have to attend to the new ones."""
    if cache is not None and not causal:
        hint = "what is held of a token cannot know the tokens after it: pass the whole text"
        raise ValueError(f"{call}: cache must be None with causal=False: {hint}")


def check_decoding_mode(call: str, training: bool, causal: bool) -> None:
    """Refuse to decode with a model in training mode, or one that is not causal."""
    if not causal:
        hint = "each token has seen those after it, which are not there yet"
        raise ValueError(f"{call}: the configuration must have causal=True, got False: {hint}")
    if training:
        hint = "nothing is learnt while decoding: call eval() first"
        raise ValueError(f"{call}: the model must be in eval mode: {hint}")


def check_new_tokens(call: str, prefixes: Any, length: int) -> None:
    """Refuse prefixes that hold nothing new; `length` tokens are held already."""
    T = prefixes.shape[1]
    if length >= T:
        hint = "pass whole texts, at least one token longer than before"
        raise ValueError(f"{call}: T must be more than the {length} tokens held, got {T}: {hint}")
