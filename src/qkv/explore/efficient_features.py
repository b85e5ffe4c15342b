"""Explorer of the chapter on long texts: Performer's random features beside exact weights."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Heatmap, Lines, Panels

Array = np.ndarray[Any, Any]

TOKENS = ("The", "cat", "sat", "on", "the", "mat")
D_K = 16
FEATURES = (4, 16, 64, 256, 1024)
SCALES = (0.5, 1.0, 1.5, 2.0)
DRAWS = 20


def features(*, n_features: int, scale: float) -> Panels:
    """Performer's weights beside those of softmax, and their error over 20 draws.

    Args:
        n_features: random directions, one of FEATURES.
        scale: multiplies q and k, whose entries have standard deviation 1.
    """
    exact, draws = exact_weights(scale), performer_weights(n_features, scale)
    errors = np.array([all_errors(number, scale) for number in FEATURES])  # (sizes, draws)
    row = FEATURES.index(n_features)
    return {
        "exact": Heatmap(exact, TOKENS, TOKENS, colours="weights"),
        "performer": Heatmap(draws[0], TOKENS, TOKENS, colours="weights"),
        "error": f"{errors[row, 0]:.2f}",
        "spread": f"{errors[row].min():.2f} to {errors[row].max():.2f}",
        "errors": Lines(
            FEATURES,
            {
                "largest": errors.max(axis=1),
                "median": np.median(errors, axis=1),
                "smallest": errors.min(axis=1),
            },
            x_label="number of features",
            y_label="error of the weights, relative",
            log_x=True,
            log_y=True,
            mark=n_features,
        ),
    }


def exact_weights(scale: float) -> Array:
    """Softmax's weights, (T, S)."""
    q, k = _queries_and_keys(scale)
    weights = qn.scaled_dot_product_attention(q, k, k)[1]
    assert weights is not None  # for the type checker
    return weights


@lru_cache
def performer_weights(n_features: int, scale: float) -> Array:
    """Performer's weights, (draws, T, S): what it gives if the values are the identity matrix."""
    q, k = _queries_and_keys(scale)
    draws = [
        qn.orthogonal_random_features(
            D_K, n_features, rng=np.random.default_rng(seed), dtype=np.float64
        )
        for seed in range(DRAWS)
    ]
    return np.array([qn.performer_attention(q, k, np.eye(len(TOKENS)), w) for w in draws])


@lru_cache
def all_errors(n_features: int, scale: float) -> Array:
    """‖Performer's weights − softmax's‖ / ‖softmax's‖ (Frobenius) of each draw, (draws,)."""
    exact = exact_weights(scale)
    differences = performer_weights(n_features, scale) - exact
    errors: Array = np.linalg.norm(differences, axis=(1, 2)) / np.linalg.norm(exact)
    return errors


def _queries_and_keys(scale: float) -> tuple[Array, Array]:
    q, k = scale * np.random.default_rng(0).normal(size=(2, len(TOKENS), D_K))
    return q, k
