"""What the token table refuses: ids that are no whole numbers, or stand for no row of it."""

from typing import Any

from qkv.shapes.core import Array, check_floats, kind, listed
from qkv.shapes.layers import check_count
from qkv.shapes.training import check_number


def check_tokens(call: str, ids: Array) -> None:
    """Refuse token ids that are no array of whole numbers."""
    if not hasattr(ids, "shape") or not kind(ids).startswith(("int", "uint")):
        raise ValueError(f"{call}: ids must be an integer array, got {kind(ids)}: pass token ids")


def check_in_table(call: str, ids: Any, vocab_size: int) -> None:
    """Refuse ids that stand for no row of the table; names the first and its place."""
    if 0 in ids.shape or (int(ids.min()) >= 0 and int(ids.max()) < vocab_size):
        return
    flat = ids.reshape(-1).tolist()
    at, came = next((n, i) for n, i in enumerate(flat) if not 0 <= i < vocab_size)
    place: list[int | str] = []
    for size in reversed(ids.shape):
        at, rest = divmod(at, size)
        place.insert(0, rest)
    where = f" at ids[{', '.join(map(str, place))}]" if place else ""
    mend = "the tokens are of another vocabulary"
    raise ValueError(
        f"{call}: ids must be in [0, vocab_size) = [0, {vocab_size}), got {came}{where}: {mend}"
    )


def check_table(call: str, table: Array) -> None:
    """Refuse what is not one float vector for each token."""
    check_floats(call, table=table)
    if len(table.shape) != 2:
        mend = "each token has one vector"
        raise ValueError(
            f"{call}: table must be (vocab_size, d_model), got {listed(table.shape)}: {mend}"
        )


def check_scale(call: str, scale: float) -> None:
    """Refuse a factor that is no number above 0; True would say whether, and not by how much."""
    if isinstance(scale, bool):
        mend = "write math.sqrt(d_model), or 1.0 for the vectors as they are"
        raise ValueError(f"{call}: scale must be a number above 0, got {scale}: {mend}")
    check_number(call, "scale", scale, above=True)


def check_embedding(vocab_size: int, d_model: int, pad_id: int | None, scale: float | None) -> None:
    """Refuse sizes that are no counts, a padding id outside the vocabulary, and a wrong factor."""
    check_count("Embedding", vocab_size=vocab_size, d_model=d_model)
    if scale is not None:
        check_scale("Embedding", scale)
    if pad_id is None:
        return
    check_count("Embedding", 0, pad_id=pad_id)
    if pad_id >= vocab_size:
        raise ValueError(
            f"Embedding: pad_id must be below vocab_size = {vocab_size}, got {pad_id}: "
            "padding is a token of the vocabulary"
        )
