"""Helpers of the exercises on attention: attention with several scores, and with typical faults."""

from __future__ import annotations

import math

import numpy as np

import qkv.numpy as qn

TOLERANCE = 0.006  # answers worked by hand may be rounded to two places
# The chapter's embeddings, one of each kind: other, fluffy, blue, verdant, noun.
EMBEDDINGS = np.array(
    [[0, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1], [1, *[0] * 5]]
)


def correct(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return qn.scaled_dot_product_attention(q, k, v)[0]


def unscaled(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return scaled_by(q, k, v, 1)


def scaled_by(q: np.ndarray, k: np.ndarray, v: np.ndarray, divisor: float) -> np.ndarray:
    return qn.scaled_dot_product_attention(q, k, v, scale=1 / math.sqrt(divisor))[0]


def wrong_axis(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    return np.asarray(qn.softmax(scores, axis=-2) @ v)


def no_softmax(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) @ v)


# Attentions with other scores than the dot product: each a weighted average of the values.


def additive(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(2)
    kind = np.result_type(q, np.float32)  # float32 for float32, or the package refuses
    sizes = ((q.shape[-1], 4), (k.shape[-1], 4), 4)
    w_q, w_k, w_s = (rng.normal(size=s).astype(kind) for s in sizes)
    return qn.additive_attention(q, k, v, w_q, w_k, w_s)[0]


def nearest(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return weigh(-((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(axis=-1), v)


def plain_average(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return weigh(np.zeros((*q.shape[:-1], k.shape[-2])), v)


def in_float32(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return correct(*(np.asarray(x, dtype=np.float32) for x in (q, k, v)))


# Functions that are no attention, and would pass if only shapes or a few numbers were looked at.


def over_all_pairs(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    share = np.exp(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]))
    return np.asarray(share / share.sum(axis=(-2, -1), keepdims=True) @ v)


def divided_by_sum(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2)
    return np.asarray(scores / scores.sum(axis=-1, keepdims=True) @ v)


def values_in_scores(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    return weigh(scores + np.arange(1, v.shape[-1] + 1) @ v.swapaxes(-1, -2), v)


def value_direction_in_scores(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Doubled values leave these weights alone; other values do not."""
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    length = np.sqrt((v**2).sum(axis=-1, keepdims=True))
    return weigh(scores + (v / np.maximum(length, 1e-12)).sum(axis=-1)[..., None, :], v)


def first_keys_preferred(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    return weigh(scores - np.arange(k.shape[-2]), v)


def weigh(scores: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(qn.softmax(scores) @ v)


SHARES = "Give every key the same value. What must each query receive?"
# What attention-4 must refuse, and the hint for a detector that does not.
NO_ATTENTION = {
    "a softmax over the wrong axis": (wrong_axis, SHARES),
    "a softmax over all pairs at once": (over_all_pairs, SHARES),
    "no softmax at all": (no_softmax, SHARES),
    "scores divided by their sum": (
        divided_by_sum,
        "Its weights sum to 1, but some are negative. With which values is the output the weights?",
    ),
    "weights that depend on the values": (
        values_in_scores,
        "Double all values. What must happen to the output?",
    ),
    "weights that depend on the directions of the values": (
        value_direction_in_scores,
        "Doubled values keep their directions. Compare with random other values instead.",
    ),
    "weights that depend on where a key stands": (
        first_keys_preferred,
        "Shuffle the keys together with their values. What must not change?",
    ),
}
