"""Check token ids, and the options of embeddings and positions."""

from typing import Any

from qkv.shapes.choices import LAYOUTS
from qkv.shapes.formatting import format_shape
from qkv.shapes.option_checks import (
    check_at_most,
    check_below,
    check_choice,
    check_count,
    check_range,
)
from qkv.shapes.specs import Shape


def check_embedding(vocab_size: int, d_model: int, pad_id: int | None, scale: float | None) -> None:
    """Refuse sizes that are no counts, a padding id outside the vocabulary, and a wrong factor."""
    check_count("Embedding", vocab_size=vocab_size, d_model=d_model)
    if scale is not None:
        check_range("Embedding", "a number above 0", scale=scale)
    if pad_id is not None:
        check_count("Embedding", 0, pad_id=pad_id)
        hint = "padding is a token of the vocabulary"
        check_below("Embedding", "pad_id", pad_id, "vocab_size", vocab_size, hint)


def check_ids_in_vocabulary(call: str, ids: Any, vocab_size: int, name: str = "ids") -> None:
    """Refuse ids that stand for no row of the table; names the first and its place."""
    if 0 in ids.shape or (int(ids.min()) >= 0 and int(ids.max()) < vocab_size):
        return
    flat = ids.reshape(-1).tolist()
    at, token = next((n, i) for n, i in enumerate(flat) if not 0 <= i < vocab_size)
    index: list[int] = []
    for size in reversed(ids.shape):
        at, axis_index = divmod(at, size)
        index.insert(0, axis_index)
    where = f" at {name}[{', '.join(map(str, index))}]" if index else ""
    hint = "the tokens are of another vocabulary"
    expected = f"in [0, vocab_size) = [0, {vocab_size})"
    raise ValueError(f"{call}: {name} must be {expected}, got {token}{where}: {hint}")


def check_encoding(call: str, n: int, d_model: int, layout: str, start: int) -> None:
    """Refuse sizes that are no counts, and an unknown order of sines and cosines."""
    check_count(call, d_model=d_model)
    check_count(call, 0, n=n, start=start)
    check_choice(call, "layout", layout, LAYOUTS)


def check_max_len(call: str, T: int, start: int, max_len: int) -> None:
    """Refuse a sequence that runs past the table of positions."""
    check_count(call, 0, start=start)
    hint = "cut the sequence, or learn a longer table"
    check_at_most(call, "start + T", start + T, "max_len", max_len, hint)


def check_rotary(call: str, shape: Shape, base: float, layout: str) -> None:
    """Refuse vectors of odd width, a base that is not above 0, and an unknown layout."""
    check_choice(call, "layout", layout, LAYOUTS)
    if shape[-1] % 2 or not shape[-1]:
        message = f"{call}: d must be even and at least 2, got x = {format_shape(shape)}"
        raise ValueError(f"{message}: entries turn in pairs")
    check_range(call, "a number above 0", base=base)
