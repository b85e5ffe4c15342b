"""What whole models refuse: choices that do not go together, texts that are no token ids."""

from collections.abc import Sequence
from typing import Any

from qkv.shapes.attention import check_mask
from qkv.shapes.core import Array, broadcast, kind, listed
from qkv.shapes.layers import check_count

MODELS = ("encoder-decoder", "decoder-only")
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "none")
TIES = ("none", "target", "all")


def check_flags(call: str, **flags: object) -> None:
    """Refuse what is neither True nor False."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ValueError(f"{call}: {name} must be True or False, got {value!r}")


def check_room(call: str, positions: str, d_k: int) -> None:
    """Refuse heads that have no room for their positions."""
    if positions == "rotary" and d_k % 2:
        mend = "rotary turns pairs of numbers"
        raise ValueError(f"{call}: d_k must be even with positions='rotary', got {d_k}: {mend}")


def check_tables(
    call: str, tie: str, vocab_size: int, target_vocab_size: int | None, pad_id: int | None
) -> None:
    """Refuse one table for two vocabularies, and padding that is no token of each."""
    if target_vocab_size is not None:
        check_count(call, target_vocab_size=target_vocab_size)
        if tie == "all" and target_vocab_size != vocab_size:
            mend = "one table has one vocabulary: tie='target' leaves the source its own"
            raise ValueError(
                f"{call}: target_vocab_size must be vocab_size = {vocab_size} with tie='all', "
                f"got {target_vocab_size}: {mend}"
            )
    if pad_id is not None:
        check_count(call, 0, pad_id=pad_id)
        least = min(vocab_size, vocab_size if target_vocab_size is None else target_vocab_size)
        if pad_id >= least:
            mend = "it is a token of each vocabulary"
            raise ValueError(f"{call}: pad_id must be below V = {least}, got {pad_id}: {mend}")


def check_stack(call: str, layers: Sequence[object], of: type) -> None:
    """Refuse a stack of no layers, or of anything else."""
    for layer in layers:
        if not isinstance(layer, of):
            came = type(layer).__name__
            raise ValueError(f"{call}: layers must each be a {of.__name__}, got {came}")
    if not layers:
        raise ValueError(f"{call}: layers must be at least one {of.__name__}, got none")


def check_memory(call: str, cross_attention: bool, memory: Array | None) -> None:
    """Refuse a memory where nothing attends to it, and none where something does."""
    if cross_attention and memory is None:
        mend = "pass what the encoder returned"
        raise ValueError(f"{call}: memory must be (B, S, d_model), got None: {mend}")
    if not cross_attention and memory is not None:
        mend = "this layer was made with cross_attention=False"
        raise ValueError(f"{call}: memory must be None, got {listed(memory.shape)}: {mend}")


def check_decoder_only(call: str, config: Any) -> None:
    """Refuse what only a model with two sides can have."""
    for name in ("target_vocab_size", "n_decoder_layers"):
        value = getattr(config, name)
        if value is not None:
            mend = "there is one text, and n_layers counts its layers"
            raise ValueError(f"{call}: {name} must be None, got {value}: {mend}")


def check_text(call: str, name: str, ids: Array, B: int | None = None) -> None:
    """Refuse what is no batch of token ids; of B texts, where that is known."""
    if not hasattr(ids, "shape") or not kind(ids).startswith(("int", "uint")):
        mend = "pass token ids"
        raise ValueError(f"{call}: {name} must be an integer array, got {kind(ids)}: {mend}")
    length = "S" if name == "source" else "T"
    if len(ids.shape) != 2 or 0 in ids.shape:
        mend = "at least one sentence of at least one token"
        if len(ids.shape) == 1:
            mend = f"one sentence is a batch of one, {name}[None, :]"
        raise ValueError(f"{call}: {name} must be (B, {length}), got {listed(ids.shape)}: {mend}")
    if B is not None and ids.shape[0] != B:
        expected = f"(B, {length}) = ({B}, {length})"
        mend = "one for each source, or for each row after reorder"
        if name == "target":
            mend = "one for each source"
        raise ValueError(f"{call}: {name} must be {expected}, got {listed(ids.shape)}: {mend}")


def check_source_mask(call: str, mask: Array | None, source: Array) -> None:
    """Refuse a mask of the source that asks who looks: encoder and decoder both do."""
    if mask is None:
        return
    check_mask(call, "source_mask", mask)
    B, S = source.shape
    wanted = (B, 1, 1, S)
    if broadcast(tuple(mask.shape), wanted) != wanted:
        expected = f"(B, 1, 1, S) = {listed(wanted)}"
        mend = "it says which tokens of the source are seen, by whomever"
        raise ValueError(
            f"{call}: source_mask must broadcast to {expected}, got {listed(mask.shape)}: {mend}"
        )


def check_caches(call: str, causal: bool, caches: object) -> None:
    """Refuse to go on from tokens that would have to attend to the new ones."""
    if caches is not None and not causal:
        mend = "what is held of a token cannot know the tokens after it: pass the whole text"
        raise ValueError(f"{call}: caches must be None with causal=False: {mend}")


def check_start(call: str, training: bool, causal: bool) -> None:
    """Refuse to decode with a model that is still learning, or that looks ahead."""
    if not causal:
        mend = "each token has seen those after it, which are not there yet"
        raise ValueError(f"{call}: the configuration must have causal=True, got False: {mend}")
    if training:
        mend = "nothing is learnt while decoding: call eval() first"
        raise ValueError(f"{call}: the model must be in eval mode: {mend}")


def check_longer(call: str, prefixes: Array, length: int) -> None:
    """Refuse prefixes that hold nothing new; `length` tokens are held already."""
    T = prefixes.shape[1]
    if length >= T:
        mend = "pass whole texts, at least one token longer than before"
        raise ValueError(f"{call}: T must be more than the {length} tokens held, got {T}: {mend}")
