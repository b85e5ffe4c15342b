"""Check the sizes, inputs and cache of multi-head attention."""

from collections.abc import Iterable
from typing import Any

from qkv.shapes.attention import check_causal
from qkv.shapes.checker import ShapeChecker
from qkv.shapes.error_hints import ARRAY_HINTS
from qkv.shapes.formatting import format_shape
from qkv.shapes.option_checks import check_count
from qkv.shapes.scalars import as_int
from qkv.shapes.specs import Shape


def head_sizes(
    call: str,
    d_model: int,
    n_heads: int,
    d_k: int | None,
    d_v: int | None,
    n_kv_heads: int | None,
    rotary: bool,
) -> tuple[int, int, int]:
    """d_k, d_v and n_kv_heads with their defaults; refuses those that do not fit together."""
    check_count(call, d_model=d_model, n_heads=n_heads)
    if d_k is None:
        if d_model % n_heads:
            expected = f"a multiple of n_heads = {n_heads}"
            hint = "take another number of heads, or choose d_k"
            raise ValueError(f"{call}: d_model must be {expected}, got {d_model}: {hint}")
        d_k = d_model // n_heads
    d_v = d_k if d_v is None else d_v
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    check_count(call, d_k=d_k, d_v=d_v, n_kv_heads=n_kv_heads)
    if n_heads % n_kv_heads:
        hint = "each head of keys serves as many heads of queries"
        message = f"{call}: n_kv_heads must divide n_heads = {n_heads}, got {n_kv_heads}"
        raise ValueError(f"{message}: {hint}")
    if rotary:
        check_rotary_width(call, d_k, "rotary=True")
    return d_k, d_v, n_kv_heads


def check_rotary_width(call: str, d_k: int, condition: str) -> None:
    """Refuse heads of odd width where rotary turns pairs of their entries."""
    if d_k % 2:
        hint = "rotary turns pairs of numbers"
        raise ValueError(f"{call}: d_k must be even with {condition}, got {d_k}: {hint}")


def source_widths(
    call: str, d_model: int, kdim: int | None, vdim: int | None, rotary: bool
) -> tuple[int, int]:
    """kdim and vdim with their defaults; refuses those that are no counts, or do not fit rotary."""
    kdim, vdim = (d_model if width is None else width for width in (kdim, vdim))
    check_count(call, kdim=kdim, vdim=vdim)
    if rotary and (kdim, vdim) != (d_model, d_model):
        message = f"{call}: kdim and vdim must be d_model = {d_model}, got {kdim} and {vdim}"
        raise ValueError(f"{message}: with rotary=True x attends to itself")
    return kdim, vdim


def check_heads(call: str, shape: Shape, n_heads: int) -> None:
    """Refuse a width that cannot be cut into heads."""
    check_count(call, n_heads=n_heads)
    if shape[-1] % n_heads:
        expected = f"(..., T, n_heads · d) with n_heads = {n_heads}"
        hint = ARRAY_HINTS[f"{call}: x"]
        raise ValueError(f"{call}: x must be {expected}, got {format_shape(shape)}: {hint}")


def check_multi_head(
    check_shapes: ShapeChecker,
    call: str,
    x: Any,
    memory: Any,
    value: Any,
    mask: Any,
    bias: Any,
    cache: Any,
    *,
    parameter: Any,
    sizes: tuple[int, int, int, int, int],
    widths: tuple[int, int],
    causal: bool,
    rotary: bool,
    training: bool,
    mask_name: str = "mask",
) -> None:
    """Refuse whatever a call of MultiHeadAttention cannot use, before anything is computed or kept.

    Args:
        mask_name: what the call names its mask.
        parameter: one of the layer's, whose dtype counts.
        sizes: d_model, n_heads, n_kv_heads, d_k, d_v.
        widths: kdim, vdim.
    """
    d_model, n_heads, *_ = sizes
    kdim, vdim = widths
    check_shapes(
        call,
        d_model=d_model,
        kdim=kdim,
        vdim=vdim,
        **{"w_q.weight": (parameter, "...")},
        x=(x, "B T d_model"),
        memory=(memory, "B S d_model" if kdim == d_model else "B S kdim"),
        value=(value, "B S d_model" if vdim == d_model else "B S vdim"),
    )
    B, T, _ = x.shape
    _check_sources(call, memory, value, B, d_model, kdim, vdim)
    if memory is not None and rotary:
        hint = "the positions of x say nothing about those of another text"
        raise ValueError(f"{call}: memory must be None with rotary=True: {hint}")
    S = T if memory is None else memory.shape[1]
    if cache is not None:
        _check_cache(check_shapes, call, cache, B, memory, sizes, causal, training)
        if memory is None and cache.keys is not None:
            S += cache.keys.shape[2]
    if mask is not None or bias is not None:
        check_shapes(
            call,
            B=B,
            H=n_heads,
            T=T,
            S=S,
            x=(x, "..."),
            **{mask_name: (mask, "bool -> B H T S")},
            bias=(bias, "-> B H T S"),
        )
    if causal:
        check_causal(call, T, S)


def _check_sources(
    call: str, memory: Any, value: Any, B: int, d_model: int, kdim: int, vdim: int
) -> None:
    """Refuse to make keys or values of an array that is missing, or of another width."""
    if memory is None:
        if value is not None:
            hint = "a value stands beside a memory: pass x as the memory too"
            raise ValueError(f"{call}: value must be None without a memory: {hint}")
        for name, width in (("kdim", kdim), ("vdim", vdim)):
            if width != d_model:
                hint = f"x is d_model = {d_model} wide, and {name} is another"
                raise ValueError(f"{call}: memory must be (B, S, {kdim}), got None: {hint}")
    elif value is None and kdim != vdim:
        expected = f"(B, S, vdim) = {format_shape((B, memory.shape[1], vdim))}"
        hint = f"the memory is kdim = {kdim} wide, and vdim is another"
        raise ValueError(f"{call}: value must be {expected}, got None: {hint}")


def _check_cache(
    check_shapes: ShapeChecker,
    call: str,
    cache: Any,
    B: int,
    memory: Any,
    sizes: tuple[int, int, int, int, int],
    causal: bool,
    training: bool,
) -> None:
    if not hasattr(cache, "keys") or not hasattr(cache, "is_static"):
        came = type(cache).__name__
        raise ValueError(f"{call}: cache must be a KeyValueCache, got {came}")
    check_cache_mode(call, training)
    if memory is not None and causal:
        hint = "no key of a memory comes after a query"
        raise ValueError(f"{call}: causal must be False with a memory and a cache: {hint}")
    keys = cache.keys
    if keys is None:
        return
    if cache.is_static != (memory is not None):
        holds, wants = ("a memory", "x") if cache.is_static else ("x", "a memory")
        hint = "each attention has a cache of its own"
        raise ValueError(f"{call}: cache must hold keys of {wants}, got keys of {holds}: {hint}")
    _, _, n_kv_heads, d_k, d_v = sizes
    S = keys.shape[2] if memory is None else memory.shape[1]
    arrays = {"cache.keys": (keys, "B n_kv_heads S d_k")}
    arrays["cache.values"] = (cache.values, "B n_kv_heads S d_v")
    check_shapes(call, B=B, n_kv_heads=n_kv_heads, S=S, d_k=d_k, d_v=d_v, **arrays)


def check_cache_mode(call: str, training: bool) -> None:
    """Refuse a cache while a layer learns."""
    if training:
        hint = "a cache is for decoding, where nothing is learnt: call eval() first"
        raise ValueError(f"{call}: cache must be None in training mode: {hint}")


def check_cache_update(check_shapes: ShapeChecker, call: str, k: Any, v: Any, cache: Any) -> None:
    """Refuse keys and values that do not fit each other, or what a cache holds already."""
    keys, values = cache.keys, cache.values
    if keys is not None and (cache.is_static or call.endswith("set_static")):
        hint = "a memory is put in once, tokens are appended: begin a new cache"
        raise ValueError(f"{call}: the cache must be empty, got {keys.shape[2]} keys: {hint}")
    check_shapes(
        call,
        cache=(keys, "B n_kv_heads past d_k"),
        values=(values, "B n_kv_heads past d_v"),
        k=(k, "B n_kv_heads T d_k"),
        v=(v, "B n_kv_heads T d_v"),
    )


def as_cache_rows(call: str, indices: Iterable[object], cache: Any) -> list[int]:
    """The indices as a list of Python ints; refuses those that are no rows of the cache."""
    values = indices.tolist() if hasattr(indices, "tolist") else list(indices)
    if cache.keys is None:
        raise ValueError(f"{call}: the cache must hold keys, got none: append some first")
    if not isinstance(values, list):
        raise ValueError(f"{call}: indices must be (N,), got {values!r}: one for each new row")
    B = cache.keys.shape[0]
    rows = []
    for n, value in enumerate(values):
        row = as_int(value)
        if row is None or not 0 <= row < B:
            raise ValueError(
                f"{call}: indices[{n}] must be a row of the cache, 0 to {B - 1}, got {value!r}: "
                "name the old row that each new row goes on from"
            )
        rows.append(row)
    return rows
