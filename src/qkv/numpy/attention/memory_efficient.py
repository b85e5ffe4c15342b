"""Memory-efficient attention: some queries at a time, for callers who need no weights."""

import math
from collections.abc import Iterator

import numpy as np

from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.attention.softmax import exp_in_place
from qkv.numpy.masks import causal_mask

MANY = 262_144  # scores, above which it pays to compute them a block at a time
IN_CACHE = 65_536  # scores in a block, so that they stay in the processor's cache
ROWS = 128  # queries in a block, even with more scores: BLAS multiplies fewer at a lower rate
CAUSAL_ROWS = 64  # queries in a causal block: the keys behind the last of them cost nothing

Heads = tuple[int | slice, ...]


def has_many_scores(q: Floats, k: Floats) -> bool:
    """Whether blocks pay: for many (B, H, T, S) scores, and not for one query, as in decoding."""
    many: bool = q.size * k.shape[-2] > MANY * q.shape[-1] and q.shape[-2] > 1
    return many


def memory_efficient_attention(
    q: Floats,
    k: Floats,
    v: Floats,
    mask: Bools | None,
    bias: Floats | None,
    scale: float,
    causal: bool,
) -> Floats:
    """The output of `scaled_dot_product_attention`, without its checks and its (T, S) weights.

    Softmax needs all scores of a query and none of another, so a block of queries is done at a
    time. Divided by Σ exp(score − peak) is what they mix, (R, d_v): it is less than (R, S) weights.

    Args:
        q, k, v, mask, bias, scale, causal: as `scaled_dot_product_attention` takes them.
    Returns:
        (B, H, T, d_v) mixed values.
    Source: Rabe and Staats 2021, which takes the queries in chunks.
    """
    T, S = q.shape[-2], k.shape[-2]
    shape = (*q.shape[:-1], S)  # (B, H, T, S)
    hidden = None if mask is None else np.broadcast_to(~mask, shape)  # a view: nothing is copied
    biases = None if bias is None else np.broadcast_to(bias, shape)
    ones = np.ones(S, q.dtype)
    out = np.empty_like(q, shape=(*q.shape[:-1], v.shape[-1]))  # (B, H, T, d_v)
    for heads, rows in _blocks(shape, causal):
        end = S - T + rows.stop if causal else S  # no query of the block sees a key from here on
        keys, values = k[heads][..., :end, :], v[heads][..., :end, :]
        scores = (q[heads][..., rows, :] * scale) @ keys.mT  # (…, R, end)
        if biases is not None:
            scores += biases[heads][..., rows, :end]
        if hidden is not None:
            np.copyto(scores, -np.inf, where=hidden[heads][..., rows, :end])
        if causal:  # the last R keys are those of the R queries
            R = rows.stop - rows.start
            np.copyto(scores[..., end - R :], -np.inf, where=~causal_mask(R)[0, 0])
        exp_in_place(scores)
        total = np.vecdot(scores, ones[:end])[..., None]  # (…, R, 1), faster than .sum
        mixed = np.matmul(scores, values, out=out[heads][..., rows, :])  # (…, R, d_v)
        mixed /= np.maximum(total, 1)  # an empty row has the total 0, any other 1 from its peak
    return out


def _blocks(shape: tuple[int, ...], causal: bool) -> Iterator[tuple[Heads, slice]]:
    """Some queries of one head or, where these have few scores, of several heads."""
    *lead, T, S = shape
    count = min(T, CAUSAL_ROWS if causal else max(IN_CACHE // S, ROWS))
    for heads in _some_heads(lead, count * S):
        for start in range(0, T, count):
            yield heads, slice(start, min(start + count, T))


def _some_heads(lead: list[int], scores: int) -> Iterator[Heads]:
    """Indices into the leading axes: as many heads as fit, when each has so many scores."""
    if not lead:
        yield ()
        return
    first, *others = lead
    if count := IN_CACHE // (scores * math.prod(others)):
        for start in range(0, first, count):
            yield (slice(start, start + count),)
        return
    for i in range(first):
        for heads in _some_heads(others, scores):
            yield i, *heads
