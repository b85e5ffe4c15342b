"""Attention scores, one block of keys at a time."""

from collections.abc import Iterator

import torch
from torch import Tensor


def score_blocks(
    queries: Tensor,
    k: Tensor,
    masks: Tensor | None,
    biases: Tensor | None,
    last_keys: Tensor | None,
    block_size: int,
    n_keys: int,
) -> Iterator[tuple[slice, Tensor]]:
    """Scores of some queries, a block of keys at a time; −∞ where a query may not attend.

    Args:
        queries: (B, H, R, d_k), scaled.
        masks, biases: their (B, H, R, S).
        last_keys: (R, 1), the last key that each may see; None means all.
        n_keys: how many keys any of them may see.
    """
    for start in range(0, n_keys, block_size):
        cols = slice(start, min(start + block_size, k.shape[-2]))
        scores = queries @ k[..., cols, :].to(queries.dtype).mT  # (B, H, R, C)
        if biases is not None:
            scores = scores + biases[..., cols]
        if masks is not None:
            scores = scores.masked_fill(~masks[..., cols], -torch.inf)
        if last_keys is not None:
            keys = torch.arange(cols.start, cols.stop, device=k.device)
            scores = scores.masked_fill(keys > last_keys, -torch.inf)
        yield cols, scores
