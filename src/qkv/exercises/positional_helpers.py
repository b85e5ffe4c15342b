"""Helpers of the exercises on positions: waves, and encoders that know order or do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Encode: TypeAlias = Callable[[Array], Array]
TOLERANCE = 6e-3  # numbers worked out on paper have two decimals


def waves(n: int, d_model: int, exponents: Array | None = None) -> Array:
    """(n, d_model): sine and cosine side by side, pair i with wavelength 2π · 10000^(2i / d)."""
    pairs = np.arange(0, d_model, 2) if exponents is None else exponents
    angle = np.arange(n)[:, None] / 10000.0 ** (pairs / d_model)  # (n, d_model / 2)
    out: Array = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d_model)
    return out


def encoder(
    add: Array | None = None, slope: float = 0.0, sentence: int | None = None, feature: bool = False
) -> Encode:
    """Self-attention over (B, T, d) without a mask, with positions or without.

    Args:
        add: (T, d) or (B, 1, d), added to the vectors.
        slope: of a bias that falls with the distance of query and key, as ALiBi's does.
        sentence: the one sentence of the batch that gets `add`; None is all.
        feature: positions move one number of an output up, and its neighbour down by as much.
    """

    def encode(x: Array) -> Array:
        T = x.shape[1]
        z = x.copy()
        places = np.zeros((T, x.shape[2]), x.dtype) if add is None else np.asarray(add, x.dtype)
        places = places[: len(x)] if places.ndim == 3 else places[:T]
        if not feature:
            whose = slice(None) if sentence is None else slice(sentence, sentence + 1)
            z[whose] += places
        distance = abs(np.arange(T)[:, None] - np.arange(T))
        scores = z @ z.mT / np.sqrt(x.dtype.type(x.shape[-1])) - x.dtype.type(slope) * distance
        e = np.exp(scores - scores.max(-1, keepdims=True))
        out: Array = e / e.sum(-1, keepdims=True) @ z
        if feature:
            out[..., 0] += places[:, 0]
            out[..., 1] -= places[:, 0]
        return out

    return encode
