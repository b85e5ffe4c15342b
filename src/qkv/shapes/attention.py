"""What attention refuses: masks, token ids, queries, keys and values that do not fit."""

import math

from qkv.shapes.core import (
    FLOATS,
    Array,
    axes_of,
    broadcast,
    check_axis,
    check_floats,
    check_shape,
    kind,
    listed,
    shown,
)
from qkv.shapes.scalars import number, whole


def check_mask(call: str, name: str, mask: Array) -> None:
    """Refuse a mask that is not boolean: 0 and 1 do not say which of the two may attend.

    Floats may be torch's habit, 0 and −∞ to be added to the scores, where 0 is what may attend.
    """
    if not hasattr(mask, "shape") or kind(mask) != "bool":
        mend = "True = may attend, so write mask == 1 where 1 means keep"
        if kind(mask) in FLOATS:
            mend = "True = may attend: pass 0 and -inf as bias=, or as mask == 0, "
            mend += "and 0 and 1 as mask == 1"
        raise ValueError(f"{call}: {name} must be a bool array, got {kind(mask)}: {mend}")


def check_masks(call: str, *masks: Array) -> None:
    """Refuse masks that are not boolean or do not broadcast against one another."""
    for n, mask in enumerate(masks, start=1):
        check_mask(call, f"mask {n}", mask)
    if masks and broadcast(*(mask.shape for mask in masks)) is None:
        came = " and ".join(listed(mask.shape) for mask in masks)
        mend = "check T and S, and keep axes of length 1"
        raise ValueError(f"{call}: masks must broadcast to (B, H, T, S), got {came}: {mend}")


def check_causal(call: str, T: int, S: int) -> None:
    """Refuse more queries than keys, and sizes that are no counts."""
    queries, keys = whole(T), whole(S)
    if queries is None or keys is None or queries < 0:
        came = f"{shown(T)} and {shown(S)}"
        raise ValueError(f"{call}: T and S must be counts, got {came}: pass len(tokens)")
    if T > S:
        mend = "the queries are the last T of the S positions"
        raise ValueError(f"{call}: T must be at most S = {S}, got {T}: {mend}")


def check_ids(call: str, ids: Array, pad_id: int) -> None:
    """Refuse token ids that are no whole numbers, or are not (B, S), and padding that is none."""
    if not hasattr(ids, "shape") or not kind(ids).startswith(("int", "uint")):
        raise ValueError(f"{call}: ids must be an integer array, got {kind(ids)}: pass token ids")
    if len(ids.shape) != 2:
        mend = "one sentence is a batch of one, ids[None, :]"
        raise ValueError(f"{call}: ids must be (B, S), got {listed(ids.shape)}: {mend}")
    if whole(pad_id) is None:
        mend = "where nothing is padding, there is no mask"
        raise ValueError(f"{call}: pad_id must be a whole number, got {shown(pad_id)}: {mend}")


def check_attention(
    call: str,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    bias: Array | None,
    *,
    scale: float | None = None,
    causal: bool = False,
    width: str = "d_k",
) -> None:
    """Refuse queries, keys, values, mask, bias and scale that do not fit together.

    `width` is the symbol for the width of a query: "d_k" where the keys must share it.
    """
    check_floats(call, q=q, k=k, v=v, bias=bias)
    # Shapes become words only in an error: a compiler cannot make text of a length that varies.
    if len(q.shape) < 2:
        mend = "one query is a sequence of one, q[None, :]"
        raise ValueError(f"{call}: q must be (..., T, {width}), got {listed(q.shape)}: {mend}")
    *axes, T, d = q.shape
    if d == 0:
        mend = "check W_q's output width"
        raise ValueError(f"{call}: {width} must be at least 1, got q = {listed(q.shape)}: {mend}")
    names = axes_of(q)

    def mend_for(x: Array, mend: str) -> str:
        shared = len(x.shape) == len(q.shape) and x.shape[:-2] == tuple(axes)
        return mend if shared else "q, k and v share all axes but the last two"

    d_k = d if width == "d_k" else "d_k"
    mend = mend_for(k, "check W_k's output width")
    check_shape(call, "k", k, (*names, "S", "d_k"), (*axes, "S", d_k), mend)
    S = k.shape[-2]
    mend = mend_for(v, "each key has one value")
    check_shape(call, "v", v, (*names, "S", "d_v"), (*axes, S, "d_v"), mend)

    if mask is not None:
        check_mask(call, "mask", mask)
    scores = (*axes, T, S)
    for name, x in (("mask", mask), ("bias", bias)):
        if x is not None and broadcast(x.shape, scores) != scores:
            expected = f"{listed((*names, 'T', 'S'))} = {listed(scores)}"
            mend = "a padding mask is (B, 1, 1, S), a causal one (1, 1, T, S)"
            if len(x.shape) > len(scores):
                mend = f"drop the leading axes of {name}"
            raise ValueError(
                f"{call}: {name} must broadcast to {expected}, got {listed(x.shape)}: {mend}"
            )
    if scale is not None and not math.isfinite(math.nan if number(scale) is None else scale):
        mend = "None is 1/√d_k"
        raise ValueError(f"{call}: scale must be a finite number, got {shown(scale)}: {mend}")
    if causal:
        check_causal(call, T, S)


def check_additive(call: str, q: Array, k: Array, w_q: Array, w_k: Array, w_s: Array) -> None:
    """Refuse projections of additive attention that do not fit q, k and one another."""
    check_floats(call, q=q, w_q=w_q, w_k=w_k, w_s=w_s)
    d_q, d_k = q.shape[-1], k.shape[-1]
    check_shape(call, "w_q", w_q, ("d_q", "d_a"), (d_q, "d_a"), "its rows are the width of q")
    d_a = w_q.shape[1]
    check_shape(
        call, "w_k", w_k, ("d_k", "d_a"), (d_k, d_a), "w_q and w_k share their output width"
    )
    check_shape(call, "w_s", w_s, ("d_a",), (d_a,), "w_s is one vector as wide as w_q's output")


def check_gradient(
    call: str, dout: Array, q: Array, k: Array, v: Array, weights: Array | None = None
) -> None:
    """Refuse an upstream gradient, or kept weights, that are not of this forward call."""
    check_floats(call, q=q, dout=dout, weights=weights)
    names = axes_of(q)
    sizes = (*q.shape[:-1], v.shape[-1])
    check_shape(call, "dout", dout, (*names, "T", "d_v"), sizes, "dout has the output's shape")
    if weights is not None:
        sizes = (*q.shape[:-1], k.shape[-2])
        check_shape(call, "weights", weights, (*names, "T", "S"), sizes, "pass the forward's own")


def check_softmax_gradient(
    call: str, dout: Array, weights: Array, axis: int, name: str = "weights"
) -> None:
    """Refuse an upstream gradient that is not shaped like the weights, or what else `name` says."""
    check_floats(call, **{name: weights}, dout=dout)
    check_axis(call, weights, axis)
    mend = f"pass what {call.removesuffix('_backward')} returned"
    check_shape(call, "dout", dout, (f"like {name}",), tuple(weights.shape), mend)
