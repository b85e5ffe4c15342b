"""Split the width into heads, and merge them again."""

from typing import Any

from torch import Tensor

from qkv.shapes.multi_head import check_heads
from qkv.torch.checks import check_shapes

__all__ = ["merge_heads", "split_heads"]


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Split the width into heads, and give the heads an axis before that of the tokens.

    As `qkv.numpy.split_heads`.
    """
    check_shapes("split_heads", x=(x, "... T width"))
    check_heads("split_heads", x.shape, n_heads)
    return split_heads_formula(x, n_heads)


def split_heads_formula(x: Tensor, n_heads: int) -> Tensor:
    """(B, T, n_heads · d) to (B, n_heads, T, d), which layers call."""
    *lead, T, width = x.shape
    # Split first, swap then: a direct reshape to (B, H, T, d) would mix tokens with heads.
    heads = x.reshape(*lead, T, n_heads, width // n_heads)  # (B, T, H, d)
    return heads.swapaxes(-3, -2)  # (B, H, T, d)


def merge_heads(x: Tensor) -> Tensor:
    """Merge the heads side by side again: undo `split_heads`.

    As `qkv.numpy.merge_heads`.
    """
    check_shapes("merge_heads", x=(x, "... H T d"))
    return merge_heads_formula(x)


def merge_heads_formula(x: Tensor) -> Tensor:
    """(B, H, T, d) to (B, T, H · d), which layers call."""
    *lead, H, T, d = x.shape
    return x.swapaxes(-3, -2).reshape(*lead, T, H * d)  # (B, T, H · d)


def join_beams(K: int, q: Tensor, *scores: Any) -> list[Any]:
    """(A · K, H, T, S) to (A, H, K · T, S): K beams ask as one text, whose memory they share.

    As `qkv.numpy.multi_head.heads.join_beams`.
    """
    (N, _, T, _), joined = q.shape, []
    for x in (q, *scores):
        if x is not None:
            _, H, _, S = (1,) * (4 - x.dim()) + tuple(x.shape)
            x = x.expand(N, H, T, S).reshape(N // K, K, H, T, S)
            x = x.swapaxes(1, 2).reshape(N // K, H, K * T, S)
        joined.append(x)
    return joined


def part_beams(K: int, *arrays: Tensor | None) -> list[Any]:
    """(A, H, K · T, d) to (A · K, H, T, d), or None: undo `join_beams`."""
    parted: list[Any] = []
    for x in arrays:
        if x is not None:
            A, H, rows, d = x.shape
            x = x.reshape(A, H, K, rows // K, d).swapaxes(1, 2)
            x = x.reshape(A * K, H, rows // K, d)
        parted.append(x)
    return parted
