"""Helpers of the exercises on attention: attention as it should be, and with typical faults."""

from __future__ import annotations

import math

import numpy as np

import qkv.numpy as qn

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


def swapped(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return correct(k, q, v) if len(q) == len(k) else no_softmax(q, k, v)
