"""Sparse attention masks: sliding window, strided and global. True = may attend.

Join masks with `|`, as Longformer and BigBird do: `window_mask(T, 2) | global_mask(T, [0])`.
Narrow them with `combine_masks`, as for padding. The T queries are the last of the S positions.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from qkv.shapes import check_count
from qkv.shapes.attention import as_positions, check_causal

__all__ = ["global_mask", "strided_mask", "window_mask"]


def window_mask(
    T: int,
    window: int,
    S: int | None = None,
    causal: bool = False,
    *,
    device: torch.device | str | None = None,
) -> Tensor:
    """Sliding-window mask: a query may attend to the keys at most `window` positions away.

    As `qkv.numpy.window_mask`, with:
        device: where the mask is made.
    """
    check_count("window_mask", least=0, window=window)
    distance = _distance("window_mask", T, S, device)  # (T, S)
    return _attention_mask(abs(distance) <= window, distance, causal)


def strided_mask(
    T: int,
    stride: int,
    S: int | None = None,
    causal: bool = False,
    *,
    device: torch.device | str | None = None,
) -> Tensor:
    """Strided mask: a query may attend to its own position and every `stride`-th from there.

    As `qkv.numpy.strided_mask`, with:
        device: where the mask is made.
    """
    check_count("strided_mask", stride=stride)
    distance = _distance("strided_mask", T, S, device)  # (T, S)
    return _attention_mask(distance % stride == 0, distance, causal)


def global_mask(
    T: int,
    positions: Iterable[int],
    S: int | None = None,
    causal: bool = False,
    *,
    device: torch.device | str | None = None,
) -> Tensor:
    """Global mask: a few positions may attend to all, and all to them.

    As `qkv.numpy.global_mask`, with:
        device: where the mask is made.
    """
    distance = _distance("global_mask", T, S, device)  # (T, S)
    T, S = distance.shape
    is_global = torch.zeros(S, dtype=torch.bool, device=device)
    is_global[list(as_positions("global_mask", positions, S))] = True
    return _attention_mask(is_global[S - T :, None] | is_global[None, :], distance, causal)


def _distance(call: str, T: int, S: int | None, device: torch.device | str | None) -> Tensor:
    """Distance of each query from each key, (T, S); negative where the key comes after."""
    S = T if S is None else S
    check_causal(call, T, S)
    query = torch.arange(S - T, S, device=device)[:, None]  # (T, 1)
    return query - torch.arange(S, device=device)[None, :]  # (T, S)


def _attention_mask(allowed: Tensor, distance: Tensor, causal: bool) -> Tensor:
    """The mask with axes for batch and heads, its future hidden if it is causal."""
    if causal:
        allowed = allowed & (distance >= 0)
    return allowed[None, None]  # (1, 1, T, S)
