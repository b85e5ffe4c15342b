"""Attention masks: padding, causal, prefix and combined ones, boolean, True = may attend."""

import torch
from torch import Tensor

from qkv.shapes.attention import check_causal, check_pad_id, check_prefix
from qkv.torch.checks import check_masks, check_shapes

__all__ = ["causal_mask", "combine_masks", "padding_mask", "prefix_mask"]


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Padding mask: every query may attend to the keys that are no padding.

    As `qkv.numpy.padding_mask`.
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

    As `qkv.numpy.causal_mask`, with:
        device: where the mask is made.
    """
    S = T if S is None else S
    check_causal("causal_mask", T, S)
    query = torch.arange(S - T, S, device=device)[:, None]  # (T, 1)
    key = torch.arange(S, device=device)[None, :]  # (1, S)
    return (key <= query)[None, None]  # (1, 1, T, S)


def prefix_mask(lengths: Tensor, T: int) -> Tensor:
    """Prefix mask: the tokens of a prefix attend to one another, and what follows is causal.

    As `qkv.numpy.prefix_mask`.
    """
    check_shapes("prefix_mask", lengths=(lengths, "int B"))
    check_prefix("prefix_mask", lengths, T)
    in_prefix = torch.arange(T, device=lengths.device) < lengths[:, None]  # (B, T)
    return causal_mask(T, device=lengths.device) | in_prefix[:, None, None, :]  # (B, 1, T, T)


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """Combine masks by their logical and, broadcast; None stands for no mask.

    As `qkv.numpy.combine_masks`.
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
