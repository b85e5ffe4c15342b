"""Attention masks: padding, causal, prefix and combined ones, boolean, True = may attend."""

import torch
from torch import Tensor

from qkv.shapes.attention import check_causal, check_pad_id, check_prefix
from qkv.torch.checks import check_masks, check_shapes

__all__ = ["causal_mask", "combine_masks", "padding_mask", "prefix_mask"]


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
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


def padding_mask_formula(ids: Tensor, pad_id: int) -> Tensor:
    """`padding_mask` without its checks."""
    not_padding = ids != pad_id  # (B, S)
    return not_padding[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(
    T: int, S: int | None = None, *, device: torch.device | str | None = None
) -> Tensor:
    """Causal mask: a query may attend to its own position and to those before it.

    The T queries are the last of the S positions: query i stands at position S - T + i.

    Args:
        T: number of queries.
        S: number of keys; None means T.
        device: where the mask is made.
    Returns:
        (1, 1, T, S), True on and below the diagonal that ends bottom-right.
    Raises:
        ValueError: T is larger than S.
    """
    S = T if S is None else S
    check_causal("causal_mask", T, S)
    query = torch.arange(S - T, S, device=device)[:, None]  # (T, 1)
    key = torch.arange(S, device=device)[None, :]  # (1, S)
    return (key <= query)[None, None]  # (1, 1, T, S)


def prefix_mask(lengths: Tensor, T: int) -> Tensor:
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
    in_prefix = torch.arange(T, device=lengths.device) < lengths[:, None]  # (B, T)
    return causal_mask(T, device=lengths.device) | in_prefix[:, None, None, :]  # (B, 1, T, T)


def combine_masks(*masks: Tensor | None) -> Tensor | None:
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


def combine_masks_formula(*masks: Tensor | None) -> Tensor | None:
    """`combine_masks` without its checks."""
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask  # (B, H, T, S)
    return combined
