"""Attention masks: padding, causal, prefix and combined ones, boolean, True = may attend."""

import numpy as np

from qkv.numpy.array_types import Bools, Ints
from qkv.numpy.checks import check_masks, check_shapes
from qkv.shapes.attention import check_causal, check_pad_id, check_prefix

__all__ = ["causal_mask", "combine_masks", "padding_mask", "prefix_mask"]


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
    return padding_mask_formula(ids, pad_id)


def padding_mask_formula(ids: Ints, pad_id: int) -> Bools:
    """`padding_mask` without its checks."""
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


def prefix_mask(lengths: Ints, T: int) -> Bools:
    """Prefix mask: the tokens of a prefix attend to one another, and what follows is causal.

    Args:
        lengths: (B,) number of tokens in the prefix of each sentence, each in [0, T].
        T: number of tokens, each of them a query and a key.
    Returns:
        (B, 1, T, T), True on and below the diagonal, and in the first `lengths` columns.
    Raises:
        ValueError: lengths are no integers, are not (B,), or do not lie in [0, T].
    Source: Raffel et al. 2020, section 3.2.1.
    """
    check_shapes("prefix_mask", lengths=(lengths, "int B"))
    check_prefix("prefix_mask", lengths, T)
    in_prefix: Bools = np.arange(T) < lengths[:, None]  # (B, T)
    return causal_mask(T) | in_prefix[:, None, None, :]  # (B, 1, T, T)


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
    return combine_masks_formula(*given)


def combine_masks_formula(*masks: Bools | None) -> Bools | None:
    """`combine_masks` without its checks."""
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask  # (B, H, T, S)
    return combined
