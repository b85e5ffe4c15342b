"""Sparse patterns: which few keys a query of a long text attends to. True = may attend.

Join patterns with `|`, as Longformer and BigBird do: `window_mask(T, 2) | global_mask(T, [0])`.
Narrow them with `combine_masks`, as for padding. The T queries are the last of the S positions.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.numpy.masks import Bools
from qkv.shapes import check_causal, check_count, check_positions

__all__ = ["global_mask", "strided_mask", "window_mask"]


def window_mask(T: int, window: int, S: int | None = None, causal: bool = False) -> Bools:
    """Let a query attend to the keys at most `window` positions away.

        window_mask(6, 1)     window_mask(6, 1, causal=True)
        ■ ■ · · · ·           ■ · · · · ·
        ■ ■ ■ · · ·           ■ ■ · · · ·
        · ■ ■ ■ · ·           · ■ ■ · · ·
        · · ■ ■ ■ ·           · · ■ ■ · ·
        · · · ■ ■ ■           · · · ■ ■ ·
        · · · · ■ ■           · · · · ■ ■

    Args:
        T: number of queries.
        window: positions on each side; 0 leaves the query's own. Longformer's w is twice this.
        S: number of keys; None means T.
        causal: hide the keys after each query.
    Returns:
        (1, 1, T, S).
    Raises:
        ValueError: T is larger than S, or window is no count.
    Source: Beltagy, Peters and Cohan 2020 (Longformer), section 3.1.
    """
    check_count("window_mask", least=0, window=window)
    distance = _distances("window_mask", T, S)  # (T, S)
    return _pattern(abs(distance) <= window, distance, causal)


def strided_mask(T: int, stride: int, S: int | None = None, causal: bool = False) -> Bools:
    """Let a query attend to its own position and to every `stride`-th from there.

        strided_mask(6, 3)    strided_mask(6, 3, causal=True)
        ■ · · ■ · ·           ■ · · · · ·
        · ■ · · ■ ·           · ■ · · · ·
        · · ■ · · ■           · · ■ · · ·
        ■ · · ■ · ·           ■ · · ■ · ·
        · ■ · · ■ ·           · ■ · · ■ ·
        · · ■ · · ■           · · ■ · · ■

    Args:
        T: number of queries.
        stride: from one key to the next, at least 1.
        S: number of keys; None means T.
        causal: hide the keys after each query.
    Returns:
        (1, 1, T, S).
    Raises:
        ValueError: T is larger than S, or stride is no whole number of at least 1.
    Source: Child et al. 2019 (Sparse Transformer), section 4.3: one head takes this pattern and one
        `window_mask(T, stride, causal=True)`, both causal; two steps reach all earlier keys.
    """
    check_count("strided_mask", stride=stride)
    distance = _distances("strided_mask", T, S)  # (T, S)
    return _pattern(distance % stride == 0, distance, causal)


def global_mask(
    T: int, positions: Iterable[int], S: int | None = None, causal: bool = False
) -> Bools:
    """Let a few positions attend to all, and all attend to them.

        global_mask(6, [0, 3])    global_mask(6, [0, 3], causal=True)
        ■ ■ ■ ■ ■ ■               ■ · · · · ·
        ■ · · ■ · ·               ■ · · · · ·
        ■ · · ■ · ·               ■ · · · · ·
        ■ ■ ■ ■ ■ ■               ■ ■ ■ ■ · ·
        ■ · · ■ · ·               ■ · · ■ · ·
        ■ · · ■ · ·               ■ · · ■ · ·

    Args:
        T: number of queries.
        positions: of the global tokens, counted from the first key.
        S: number of keys; None means T.
        causal: hide the keys after each query.
    Returns:
        (1, 1, T, S).
    Raises:
        ValueError: T is larger than S, or a position lies outside the text.
    Source: Beltagy, Peters and Cohan 2020 (Longformer), section 3.1; Zaheer et al. 2020 (BigBird),
        section 2, where window and random keys come on top.
    """
    distance = _distances("global_mask", T, S)  # (T, S)
    T, S = distance.shape
    chosen = np.zeros(S, bool)
    chosen[list(check_positions("global_mask", positions, S))] = True
    return _pattern(chosen[S - T :, None] | chosen[None, :], distance, causal)


def _distances(call: str, T: int, S: int | None) -> NDArray[np.integer[Any]]:
    """How far each key stands before each query; negative where it comes after."""
    S = T if S is None else S
    check_causal(call, T, S)
    return np.arange(S - T, S)[:, None] - np.arange(S)[None, :]  # (T, S)


def _pattern(allowed: Bools, distance: NDArray[np.integer[Any]], causal: bool) -> Bools:
    """The pattern with axes for batch and heads, its future hidden if it is causal."""
    if causal:
        allowed = allowed & (distance >= 0)
    return allowed[None, None]  # (1, 1, T, S)
