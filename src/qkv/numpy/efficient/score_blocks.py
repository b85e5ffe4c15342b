"""Attention scores, one block of keys at a time."""

import math
from collections.abc import Iterator

import numpy as np

from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.half_precision import upcast


def score_blocks(
    q: Floats,
    k: Floats,
    mask: Bools | None,
    bias: Floats | None,
    causal: bool,
    scale: float | None,
    block_size: int,
    rows: slice,
) -> Iterator[tuple[slice, Floats]]:
    """Scores of these queries, a block of keys at a time; −∞ where a query may not attend."""
    T, S = q.shape[-2], k.shape[-2]
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    queries = upcast(q[..., rows, :]) * scale  # (B, H, R, d_k)
    shape = (*q.shape[:-1], S)
    masks = None if mask is None else np.broadcast_to(mask, shape)  # a view: nothing is copied
    biases = None if bias is None else np.broadcast_to(bias, shape)
    last_keys = np.arange(rows.start, rows.stop)[:, None] + S - T  # (R, 1)
    # No query of these sees a key behind the last of them.
    for start in range(0, S - T + rows.stop if causal else S, block_size):
        cols = slice(start, min(start + block_size, S))
        scores = queries @ upcast(k[..., cols, :]).mT  # (B, H, R, C)
        if biases is not None:
            scores += biases[..., rows, cols]
        if masks is not None:
            np.copyto(scores, -np.inf, where=~masks[..., rows, cols])
        if causal:
            np.copyto(scores, -np.inf, where=np.arange(cols.start, cols.stop) > last_keys)
        yield cols, scores
