"""Stable top-k: the k largest of each row, of equals the first, the same in both rooms."""

import numpy as np

from qkv.numpy.array_types import Bools, Floats, Ints

__all__ = ["stable_top_k", "stable_top_k_mask"]


def stable_top_k_mask(x: Floats, k: int) -> Bools:
    """Where the k largest of each row of (N, M) stand; of equals, the first."""
    threshold = np.partition(x, -k)[:, -k, None]  # (N, 1), the k-th largest
    mask: Bools = x >= threshold  # (N, M)
    if np.count_nonzero(mask) > k * len(
        x
    ):  # more equal to the threshold than there is room for: rare
        above, equal = x > threshold, x == threshold
        room = k - above.sum(-1, keepdims=True)  # (N, 1)
        mask = above | (equal & (equal.cumsum(-1) <= room))
    return mask


def stable_top_k(x: Floats, k: int) -> tuple[Floats, Ints]:
    """The k largest of each row of (N, M), falling, and their indices; of equals, the first."""
    places = np.flatnonzero(stable_top_k_mask(x, k))  # (N · k,), where the rows lie one by one
    indices = places.reshape(len(x), k) % x.shape[1]  # (N, k), rising
    order = np.argsort(-np.take_along_axis(x, indices, 1), 1, kind="stable")
    indices = np.take_along_axis(indices, order, 1)
    return np.take_along_axis(x, indices, 1), indices
