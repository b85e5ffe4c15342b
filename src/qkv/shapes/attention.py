"""Check queries, keys, values, masks and sizes of attention."""

from collections.abc import Iterable
from typing import Any

from qkv.shapes.checker import ShapeChecker
from qkv.shapes.formatting import format_shape, format_value
from qkv.shapes.option_checks import check_at_most, check_count, check_range
from qkv.shapes.scalars import as_int
from qkv.shapes.specs import broadcast_shapes


def check_attention(
    check_shapes: ShapeChecker,
    call: str,
    q: Any,
    k: Any,
    v: Any,
    mask: Any,
    bias: Any,
    *,
    scale: float | None = None,
    causal: bool = False,
    d_q: str = "d_k",
    mask_spec: str = "bool -> *batch T S",
    **more: Any,
) -> None:
    """Refuse queries, keys, values, mask, bias and scale that do not fit together.

    Args:
        d_q: the symbol for the width of a query: "d_k" where the keys must share it.
        more: further arrays of the call, each with its spec.
    """
    check_shapes(
        call,
        q=(q, f"*batch T {d_q}+"),
        k=(k, "*batch S d_k"),
        v=(v, "*batch S d_v"),
        mask=(mask, mask_spec),
        bias=(bias, "-> *batch T S"),
        **more,
    )
    if scale is not None:
        check_range(call, "a finite number", scale=scale)
    if causal:
        check_causal(call, q.shape[-2], k.shape[-2])


def check_causal(call: str, T: int, S: int) -> None:
    """Refuse more queries than keys, and sizes that are no counts."""
    queries, keys = as_int(T), as_int(S)
    if queries is None or keys is None or queries < 0:
        came = f"{format_value(T)} and {format_value(S)}"
        raise ValueError(f"{call}: T and S must be counts, got {came}: pass len(tokens)")
    check_at_most(call, "T", T, "S", S, "the queries are the last T of the S positions")


def check_prefix(call: str, lengths: Any, T: int) -> None:
    """Refuse a T that is no count, and prefixes that are shorter than nothing or longer than T."""
    check_count(call, 0, T=T)
    for i, length in enumerate(lengths.tolist()):
        if not 0 <= length <= T:
            raise ValueError(f"{call}: lengths[{i}] must lie in [0, T] = [0, {T}], got {length}")


def check_pad_id(call: str, pad_id: int) -> None:
    """Refuse a padding id that is no whole number."""
    if as_int(pad_id) is None:
        hint = "where nothing is padding, there is no mask"
        came = format_value(pad_id)
        raise ValueError(f"{call}: pad_id must be a whole number, got {came}: {hint}")


def check_masks(check_shapes: ShapeChecker, call: str, *masks: Any) -> None:
    """Refuse masks that are not boolean or do not broadcast against one another."""
    for n, mask in enumerate(masks, start=1):
        check_shapes(call, **{f"mask {n}": (mask, "bool ...")})
    if broadcast_shapes(mask.shape for mask in masks) is None:
        came = " and ".join(format_shape(mask.shape) for mask in masks)
        hint = "check T and S, and keep axes of length 1"
        raise ValueError(f"{call}: masks must broadcast to (B, H, T, S), got {came}: {hint}")


def as_positions(call: str, positions: Iterable[int], S: int) -> tuple[int, ...]:
    """The positions as Python ints; refuses what is no sequence of positions of the text."""
    result = []
    for value in positions if isinstance(positions, Iterable) else [None]:
        position = as_int(value)
        if position is None:
            raise ValueError(
                f"{call}: positions must be whole numbers, got {positions!r}: one is written (0,)"
            )
        if not 0 <= position < S:
            raise ValueError(
                f"{call}: positions must lie in [0, {S}), got {position}: count from the first key"
            )
        result.append(position)
    return tuple(result)
