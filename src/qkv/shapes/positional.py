"""What positions refuse: layouts, odd widths, places beyond a table, positions that do not fit."""

from qkv.shapes.attention import check_causal
from qkv.shapes.core import Array, axes_of, broadcast, check_floats, kind, listed, shown
from qkv.shapes.layers import check_choice, check_count, check_width
from qkv.shapes.scalars import number

LAYOUTS = ("interleaved", "halves")


def check_encoding(call: str, n: int, d_model: int, layout: str, start: int) -> None:
    """Refuse sizes that are no counts, and an unknown order of sines and cosines."""
    check_count(call, d_model=d_model)
    check_count(call, 0, n=n, start=start)
    check_choice(call, "layout", layout, LAYOUTS)


def check_places(call: str, x: Array, max_len: int, d_model: int, start: int) -> None:
    """Refuse what is not (..., T, d_model), and a sequence that runs past the table."""
    check_width(call, x, "d_model", d_model)
    check_count(call, 0, start=start)
    if len(x.shape) < 2:
        mend = "one vector is a sequence of one, x[None, :]"
        raise ValueError(f"{call}: x must be (..., T, d_model), got {listed(x.shape)}: {mend}")
    end = start + x.shape[-2]
    if end > max_len:
        mend = "cut the sequence, or learn a longer table"
        raise ValueError(
            f"{call}: start + T must be at most max_len = {max_len}, got {end}: {mend}"
        )


def check_rotary(call: str, x: Array, positions: Array | None, base: float, layout: str) -> None:
    """Refuse vectors of odd width, and positions that are not one whole number for each."""
    check_floats(call, x=x)
    check_choice(call, "layout", layout, LAYOUTS)
    # Shapes become words only in an error: a compiler cannot make text of a length that varies.
    if len(x.shape) < 2:
        mend = "one vector is a sequence of one, x[None, :]"
        raise ValueError(f"{call}: x must be (..., T, d), got {listed(x.shape)}: {mend}")
    if x.shape[-1] % 2 or not x.shape[-1]:
        mend = "entries turn in pairs"
        raise ValueError(
            f"{call}: d must be even and at least 2, got x = {listed(x.shape)}: {mend}"
        )
    found = number(base)
    if found is None or not found > 0:
        mend = "10000 is usual"
        raise ValueError(f"{call}: base must be a number above 0, got {shown(base)}: {mend}")
    if positions is None:
        return
    if not hasattr(positions, "shape") or not kind(positions).startswith(("int", "uint")):
        mend = "count them 0, 1, 2 and so on"
        raise ValueError(
            f"{call}: positions must be an integer array, got {kind(positions)}: {mend}"
        )
    wanted = tuple(x.shape[:-1])
    if broadcast(tuple(positions.shape), wanted) != wanted:
        raise ValueError(
            f"{call}: positions must broadcast to {listed((*axes_of(x), 'T'))} = {listed(wanted)}, "
            f"got {listed(positions.shape)}: each vector has one position"
        )


def check_alibi(call: str, n_heads: int, T: int, S: int) -> None:
    """Refuse a number of heads that is no count, and more queries than keys."""
    check_count(call, n_heads=n_heads)
    check_causal(call, T, S)
