"""Split the width into heads, and merge them again."""

from typing import Any

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes
from qkv.shapes.multi_head import check_heads

__all__ = ["merge_heads", "split_heads"]


def split_heads(x: Floats, n_heads: int) -> Floats:
    """Split the width into heads, and give the heads an axis before that of the tokens.

    It moves numbers and computes none, so its backward is `merge_heads(dout)`.

    Args:
        x: (B, T, n_heads · d); any number of leading axes, also none.
        n_heads: number of heads; head h has the h-th run of d columns.
    Returns:
        (B, n_heads, T, d), a view of x where its layout allows.
    Raises:
        ValueError: n_heads does not divide the width.
    """
    check_shapes("split_heads", x=(x, "... T width"))
    check_heads("split_heads", x.shape, n_heads)
    return split_heads_formula(x, int(n_heads))


def split_heads_formula(x: Floats, n_heads: int) -> Floats:
    """(B, T, n_heads · d) to (B, n_heads, T, d), which layers call."""
    *lead, T, width = x.shape
    # Split first, swap then: a direct reshape to (B, H, T, d) would mix tokens with heads.
    heads = x.reshape(*lead, T, n_heads, width // n_heads)  # (B, T, H, d)
    return heads.swapaxes(-3, -2)  # (B, H, T, d)


def merge_heads(x: Floats) -> Floats:
    """Merge the heads side by side again: undo `split_heads`.

    It moves numbers and computes none, so its backward is `split_heads(dout, n_heads)`.

    Args:
        x: (B, H, T, d); any number of leading axes, also none.
    Returns:
        (B, T, H · d).
    Raises:
        ValueError: x has no axis of heads.
    """
    check_shapes("merge_heads", x=(x, "... H T d"))
    return merge_heads_formula(x)


def merge_heads_formula(x: Floats) -> Floats:
    """(B, H, T, d) to (B, T, H · d), which layers call."""
    *lead, H, T, d = x.shape
    return x.swapaxes(-3, -2).reshape(*lead, T, H * d)  # (B, T, H · d)


def group_heads(n_kv_heads: int, *arrays: Any) -> list[Any]:
    """(…, H, T, S) to (…, n_kv_heads, G, T, S): together the G heads that share their keys.

    Heads that a mask or bias leaves to broadcasting stay so.
    """
    grouped = []
    for x in arrays:
        if x is None or x.ndim < 3:
            grouped.append(x)
            continue
        *lead, H, T, S = x.shape
        groups = (1, 1) if H == 1 else (n_kv_heads, H // n_kv_heads)
        grouped.append(x.reshape(*lead, *groups, T, S))
    return grouped


def ungroup_heads(x: Floats) -> Floats:
    """(B, n_kv_heads, G, T, d) to (B, H, T, d)."""
    B, n_kv_heads, G, T, d = x.shape
    return x.reshape(B, n_kv_heads * G, T, d)


def share_heads(n_heads: int, *arrays: Floats) -> list[Floats]:
    """(B, n_kv_heads, S, d) to (B, n_kv_heads, G, S, d), without a copy."""
    shared = []
    for x in arrays:
        B, n_kv_heads, S, d = x.shape
        shape = B, n_kv_heads, n_heads // n_kv_heads, S, d
        shared.append(np.broadcast_to(x[:, :, None], shape))
    return shared


def join_beams(K: int, q: Floats, *scores: Any) -> list[Any]:
    """(A · K, H, T, S) to (A, H, K · T, S): K beams ask as one text, whose memory they share.

    Args:
        q: (A · K, H, T, d_k) queries.
        scores: masks and biases that broadcast to (A · K, H, T, S), or None.
    """
    (N, _, T, _), joined = q.shape, []
    for x in (q, *scores):
        if x is not None:
            _, H, _, S = (1,) * (4 - x.ndim) + tuple(x.shape)
            x = np.broadcast_to(x, (N, H, T, S)).reshape(N // K, K, H, T, S)
            x = x.swapaxes(1, 2).reshape(N // K, H, K * T, S)
        joined.append(x)
    return joined


def part_beams(K: int, *arrays: Floats | None) -> list[Any]:
    """(A, H, K · T, d) to (A · K, H, T, d), or None: undo `join_beams`."""
    parted: list[Any] = []
    for x in arrays:
        if x is not None:
            A, H, rows, d = x.shape
            x = x.reshape(A, H, K, rows // K, d).swapaxes(1, 2)
            x = x.reshape(A * K, H, rows // K, d)
        parted.append(x)
    return parted
