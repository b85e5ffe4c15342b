"""What multi-head attention refuses: heads that do not divide, memories and caches of others."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from qkv.shapes.attention import check_attention
from qkv.shapes.core import Array, check_floats, check_shape, listed
from qkv.shapes.layers import check_count
from qkv.shapes.scalars import whole
from qkv.shapes.sources import check_sources, check_vectors


class Cache(Protocol):
    """What the caches of both rooms have in common here."""

    @property
    def keys(self) -> Any: ...
    @property
    def values(self) -> Any: ...
    @property
    def complete(self) -> bool: ...


class Planned(NamedTuple):
    """Shape and dtype of an array that is not computed yet."""

    shape: tuple[int, ...]
    dtype: Any


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
            mend = "take another number of heads, or choose d_k"
            raise ValueError(
                f"{call}: d_model must be a multiple of n_heads = {n_heads}, got {d_model}: {mend}"
            )
        d_k = d_model // n_heads
    d_v = d_k if d_v is None else d_v
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    check_count(call, d_k=d_k, d_v=d_v, n_kv_heads=n_kv_heads)
    if n_heads % n_kv_heads:
        mend = "each head of keys serves as many heads of queries"
        raise ValueError(
            f"{call}: n_kv_heads must divide n_heads = {n_heads}, got {n_kv_heads}: {mend}"
        )
    if rotary and d_k % 2:
        mend = "rotary turns pairs of numbers"
        raise ValueError(f"{call}: d_k must be even with rotary=True, got {d_k}: {mend}")
    return d_k, d_v, n_kv_heads


def check_split(call: str, x: Array, n_heads: int) -> None:
    """Refuse what cannot be cut into heads along its last axis."""
    check_floats(call, x=x)
    check_count(call, n_heads=n_heads)
    if len(x.shape) < 2 or x.shape[-1] % n_heads:
        expected = f"(..., T, n_heads · d) with n_heads = {n_heads}"
        mend = "the heads stand side by side in the last axis"
        raise ValueError(f"{call}: x must be {expected}, got {listed(x.shape)}: {mend}")


def check_merge(call: str, x: Array) -> None:
    """Refuse what has no axis of heads."""
    check_floats(call, x=x)
    if len(x.shape) < 3:
        mend = "pass what split_heads returned"
        raise ValueError(f"{call}: x must be (..., H, T, d), got {listed(x.shape)}: {mend}")


def check_multi_head(
    call: str,
    x: Array,
    memory: Array | None,
    value: Array | None,
    mask: Array | None,
    bias: Array | None,
    cache: Cache | None,
    *,
    parameter: Array | None,
    sizes: tuple[int, int, int, int, int],
    widths: tuple[int, int],
    causal: bool,
    rotary: bool,
    training: bool,
) -> None:
    """Refuse whatever a call of MultiHeadAttention cannot use, before anything is computed or kept.

    Args:
        parameter: one of the layer's, whose dtype counts; None where dtypes are converted.
        sizes: d_model, n_heads, n_kv_heads, d_k, d_v.
        widths: kdim, vdim.
    """
    d_model, n_heads, n_kv_heads, d_k, d_v = sizes
    check_vectors(call, "x", x, ("B", "T", d_model), parameter, "one sentence is x[None]")
    B, T, _ = x.shape
    check_sources(call, memory, value, B, parameter, d_model, widths)
    if memory is not None and rotary:
        mend = "the positions of x say nothing about those of another text"
        raise ValueError(f"{call}: memory must be None with rotary=True: {mend}")
    past = 0
    if cache is not None:
        _check_cache(call, cache, B, memory, (n_kv_heads, d_k, d_v), causal, training)
        past = 0 if cache.keys is None else cache.keys.shape[2]
    S = past + T if memory is None else memory.shape[1]
    # Where dtypes are converted, the bias is converted too, so only its kind counts.
    convert = parameter is None and bias is not None and hasattr(bias, "dtype")
    dtype = bias.dtype if bias is not None and convert else x.dtype
    q, k, v = (Planned((B, n_heads, *last), dtype) for last in ((T, d_k), (S, d_k), (S, d_v)))
    check_attention(call, q, k, v, mask, bias, causal=causal)


def _check_cache(
    call: str,
    cache: Cache,
    B: int,
    memory: Array | None,
    sizes: tuple[int, int, int],
    causal: bool,
    training: bool,
) -> None:
    if not hasattr(cache, "keys") or not hasattr(cache, "complete"):
        came = type(cache).__name__
        raise ValueError(f"{call}: cache must be a KeyValueCache, got {came}")
    if training:
        mend = "a cache is for decoding, where nothing is learnt: call eval() first"
        raise ValueError(f"{call}: cache must be None in training mode: {mend}")
    if memory is not None and causal:
        mend = "no key of a memory comes after a query"
        raise ValueError(f"{call}: causal must be False with a memory and a cache: {mend}")
    if cache.keys is None:
        return
    mend = "each attention has a cache of its own"
    if cache.complete != (memory is not None):
        holds, wants = ("a memory", "x") if cache.complete else ("x", "a memory")
        raise ValueError(f"{call}: cache must hold keys of {wants}, got keys of {holds}: {mend}")
    n_kv_heads, d_k, d_v = sizes
    S = memory.shape[1] if memory is not None else cache.keys.shape[2]
    if cache.keys.shape[0] != B:
        mend = "begin a new cache with each batch, and reorder it when sentences go"
    elif cache.keys.shape[2] != S:
        mend = "begin a new cache with each memory"
    for name, held, d in (("keys", cache.keys, d_k), ("values", cache.values, d_v)):
        symbols = ("B", "n_kv_heads", "S", "d_k" if name == "keys" else "d_v")
        check_shape(call, f"cache.{name}", held, symbols, (B, n_kv_heads, S, d), mend)


def check_entry(call: str, k: Array, v: Array, cache: Cache) -> None:
    """Refuse keys and values that do not fit each other, or what a cache holds already."""
    check_floats(call, k=k, v=v)
    past_k, past_v = cache.keys, cache.values
    if past_k is not None and (cache.complete or call.endswith("fill")):
        mend = "a memory is put in once, tokens are appended: begin a new cache"
        raise ValueError(f"{call}: the cache must be empty, got {past_k.shape[2]} keys: {mend}")
    symbols = ("B", "n_kv_heads", "T")
    mend = "pass the heads of the new tokens alone"
    if past_k is None:
        check_shape(call, "k", k, (*symbols, "d_k"), ("B", "n_kv_heads", "T", "d_k"), mend)
        check_shape(call, "v", v, (*symbols, "d_v"), (*k.shape[:3], "d_v"), mend)
        return
    check_floats(call, cache=past_k, k=k)
    B, n_kv_heads, _, d_k = past_k.shape
    check_shape(call, "k", k, (*symbols, "d_k"), (B, n_kv_heads, "T", d_k), mend)
    sizes = (B, n_kv_heads, k.shape[2], past_v.shape[3])
    check_shape(call, "v", v, (*symbols, "d_v"), sizes, mend)


def check_reorder(call: str, indices: Iterable[object], cache: Cache) -> list[int]:
    """The indices as a list; refuses those that are no rows of the cache."""
    listing = indices.tolist() if hasattr(indices, "tolist") else list(indices)
    if cache.keys is None:
        raise ValueError(f"{call}: the cache must hold keys, got none: append some first")
    if not isinstance(listing, list):
        raise ValueError(f"{call}: indices must be (N,), got {listing!r}: one for each new row")
    B = cache.keys.shape[0]
    rows = []
    for n, i in enumerate(listing):
        row = whole(i)
        if row is None or not 0 <= row < B:
            raise ValueError(
                f"{call}: indices[{n}] must be a row of the cache, 0 to {B - 1}, got {i!r}: "
                "name the old row that each new row goes on from"
            )
        rows.append(row)
    return rows
