"""Attention masks: padding, causal and combined ones, boolean, True = may attend."""

import numpy as np

from qkv.numpy.array_types import Bools, Ints
from qkv.numpy.checks import check_masks, check_shapes
from qkv.shapes.attention import check_causal, check_pad_id

__all__ = ["causal_mask", "combine_masks", "padding_mask"]


def padding_mask(ids: Ints, pad_id: int) -> Bools:
    """Padding mask: every query may attend to the keys that are no padding.

    Args:
        ids: (B, S) token ids.
        pad_id: the id that fills short sentences up.
    Returns:
        (B, 1, 1, S), True where ids is not pad_id.
    Raises:
        ValueError: ids are no integers, or are not (B, S), or pad_id is no whole number.
    """
    check_shapes("padding_mask", ids=(ids, "int B S"))
    check_pad_id("padding_mask", pad_id)
    not_padding: Bools = ids != pad_id  # (B, S)
    return not_padding[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(T: int, S: int | None = None) -> Bools:
    """Causal mask: a query may attend to its own position and to those before it.

    The T queries are the last of the S positions: query i stands at position S - T + i.

    Args:
        T: number of queries.
        S: number of keys; None means T.
    Returns:
        (1, 1, T, S), True on and below the diagonal that ends bottom-right.
    Raises:
        ValueError: T is larger than S.
    """
    S = T if S is None else S
    check_causal("causal_mask", T, S)
    query = np.arange(S - T, S)[:, None]  # (T, 1)
    key = np.arange(S)[None, :]  # (1, S)
    return (key <= query)[None, None]  # (1, 1, T, S)


def combine_masks(*masks: Bools | None) -> Bools | None:
    """Combine masks by their logical and, broadcast; None stands for no mask.

    Args:
        masks: bool, shapes that broadcast against one another; None stands for no mask.
    Returns:
        The combined mask, or None if there was none.
    Raises:
        ValueError: a mask is not bool, or the shapes do not broadcast.
    """
    given = [mask for mask in masks if mask is not None]
    check_masks("combine_masks", *given)
    combined = None
    for mask in given:
        combined = mask if combined is None else combined & mask  # (B, H, T, S)
    return combined
