"""Helpers of the exercises on positions: waves, and encoders that know order or do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Encode: TypeAlias = Callable[[Array], Array]
TOLERANCE = 6e-3  # numbers worked out on paper have two decimals


def waves(places: int | Array, d_model: int, exponents: Array | None = None) -> Array:
    """(n, d_model): sine and cosine side by side, pair i with wavelength 2π · 10000^(2i / d).

    Args:
        places: the positions (n,), or how many of them, counted from 0.
        d_model: how many numbers a position has, even.
        exponents: those of 10000, times d_model: one for each pair. None is 2i.
    """
    pairs = np.arange(0, d_model, 2) if exponents is None else exponents
    position = np.arange(places) if isinstance(places, int) else places
    angle = position[:, None] / 10000.0 ** (pairs / d_model)  # (n, d_model / 2)
    out: Array = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(len(angle), d_model)
    return out


def encoder(
    add: Array | None = None,
    slope: float = 0.0,
    sentence: int | None = None,
    feature: bool = False,
    circle: bool = False,
    turn: bool = False,
) -> Encode:
    """Self-attention over (B, T, d) without a mask, with positions or without.

    Args:
        add: (T, d) or (B, 1, d), added to the vectors.
        slope: of a bias that falls with the distance of query and key, as ALiBi's does.
        sentence: the one sentence of the batch that gets `add`; None is all.
        feature: positions move one number of an output up, and its neighbour down by as much.
        circle: the bias takes the last token for a neighbour of the first.
        turn: each output is rotated by its position, and keeps its length.
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
        if circle:
            distance = np.minimum(distance, T - distance)
        scores = z @ z.mT / np.sqrt(x.dtype.type(x.shape[-1])) - x.dtype.type(slope) * distance
        e = np.exp(scores - scores.max(-1, keepdims=True))
        out: Array = e / e.sum(-1, keepdims=True) @ z
        if feature:
            out[..., 0] += places[:, 0]
            out[..., 1] -= places[:, 0]
        if turn:
            c, s = np.cos(np.arange(T)), np.sin(np.arange(T))
            one, two = out[..., 0].copy(), out[..., 1].copy()
            out[..., 0], out[..., 1] = c * one - s * two, s * one + c * two
        return out

    return encode
