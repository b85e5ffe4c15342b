"""The exercises on attention that stand behind the chapter's core: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.attention_helpers import EMBEDDINGS, TOLERANCE
from qkv.exercises.checks import as_array, exercise, is_close, reject


@exercise("attention-6")
def uniform_attention(answer: object) -> str:
    """A query projection with which every word receives the mean of all values."""
    w_q = as_array(answer, shape=(6, 2))
    reject(
        is_close(w_q, np.eye(6)[:, :2]),
        "The identity still asks for something.",
        "Which query makes all eight scores equal?",
    )
    reject(
        w_q.size and np.ptp(w_q) == 0 and w_q.any(),
        "Equal entries are not equal scores.",
        "Keys differ, so a query that is not zero tells them apart.",
    )
    reject(
        not is_close(EMBEDDINGS @ w_q, np.zeros((5, 2))),
        "With this projection some word still prefers some key.",
        "Uniform weights need equal scores for every pair of words.",
    )
    return "right: equal scores for all keys, so the output is the plain average of the values."


@exercise("attention-7")
def large_weight_without_effect(answer: object) -> str:
    """Values for the weights (0.9, 0.05, 0.05) with which the first key can go unnoticed."""
    values = as_array(answer).astype(float)
    reject(
        values.ndim not in (1, 2) or len(values) != 3,
        f"Three values were asked for; this has shape {values.shape}.",
        "One number for each key, or one row of numbers.",
    )
    rest = (values[1] + values[2]) / 2  # the weights without the first key: ½ and ½
    reject(
        float(np.ptp(values, axis=0).max()) < 0.1,
        "All three values are equal, or so close that nothing is proved.",
        "Find values that differ, by 0.1 or more.",
    )
    reject(
        not np.any(values[0]) and not is_close(values[0], rest),
        "An empty value still takes nine tenths of the weight away from the others.",
        "Compute the mix with the first key, then without it: weights ½ and ½.",
    )
    mix = np.array([0.9, 0.05, 0.05]) @ values
    reject(
        not is_close(mix, rest, TOLERANCE),
        "Without the first key the output is another one.",
        "Which mix do the other two make, with weights ½ and ½?",
    )
    return "right: a weight says how much a value counts, and not how much would change without it."
