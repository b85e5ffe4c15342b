"""Helpers of the exercises on scaling: what answers are called with, and why a number is off."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qkv.exercises.checks import WrongAnswer, as_array, is_close, reject
from qkv.numpy import layer_norm, scaled_dot_product_attention

Array: TypeAlias = NDArray[Any]

HIDDEN_DIVISORS = (1.0, 3.0, 8.0, math.sqrt(512), 64.0)
PAIRS = 20_000  # rows asked of the reader's function: enough to measure a variance


def pairs_drawn(draw: Callable[..., object], rng: np.random.Generator) -> tuple[Array, Array]:
    """PAIRS queries and keys of width 64 from the reader's function."""
    drawn = draw(rng, PAIRS)
    reject(
        not isinstance(drawn, tuple | list | np.ndarray) or len(drawn) != 2,
        "Two arrays were asked for.",
        "Return the pair (q, k).",
    )
    assert isinstance(drawn, tuple | list | np.ndarray)
    q, k = (as_array(part, (PAIRS, 64)).astype(float) for part in drawn)
    return q, k


def entry_statistics(q: Array, k: Array) -> tuple[float, float]:
    """How far the means of single entries are from 0 and their variances from 1, at worst."""
    both = np.concatenate([q, k], axis=1)  # (PAIRS, 128)
    return float(abs(both.mean(axis=0)).max()), float(abs(both.var(axis=0) - 1).max())


def hidden_head(divisor: float, dtype: DTypeLike) -> Callable[[Any, Any], Array]:
    """A head that shows its weights alone, and computes in `dtype`."""

    def head(q: Any, k: Any) -> Array:
        q, k = np.asarray(q).astype(dtype), np.asarray(k).astype(dtype)
        _, weights = scaled_dot_product_attention(q, k, k, scale=1 / divisor)
        assert weights is not None
        return weights

    return head


def queries_and_keys(rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Independent entries; similar tokens, batched, behind LayerNorm; keys with a mean; float32."""
    yield rng.standard_normal((40, 64)), rng.standard_normal((30, 64))
    similar = rng.standard_normal((2, 1, 1, 24)) + 0.5 * rng.standard_normal((2, 3, 7, 24))
    x = layer_norm(similar, np.ones(24), np.zeros(24))  # (B, H, T, d_model)
    w_q, w_k = rng.standard_normal((2, 24, 16)) / math.sqrt(24)
    yield x @ w_q, x @ w_k
    yield rng.standard_normal((5, 64)) / 3, 2 + rng.standard_normal((11, 64))
    q, k = rng.standard_normal((2, 9, 32)).astype(np.float32)
    yield 3 * q, k


def wrong_temperature(effective: Array, inverse: Array, targets: Array) -> WrongAnswer:
    """Name what went wrong, from the effective tokens when dividing and when multiplying."""
    bits = np.log2(effective)
    if is_close(inverse, targets, 0.01):
        return WrongAnswer(
            "You found the factor to multiply by.", "A temperature divides the scores."
        )
    if is_close(bits, np.minimum(targets, 3), 0.02):  # 8 keys hold no more than 3 bits
        return WrongAnswer(
            "The entropy in bits has come out as the number asked for in tokens.",
            "One bit of entropy is two tokens, two bits are four.",
        )
    if is_close(bits * math.log(2), np.minimum(np.log2(targets), math.log(8)), 0.02):
        return WrongAnswer(
            "Natural and binary logarithms are mixed.",
            "Entropy in bits goes with powers of 2, entropy in nats with powers of e.",
        )
    if is_close(bits, np.log(targets), 0.02):
        return WrongAnswer(
            "Your entropy is in bits and your power is of e.",
            "Take the power of the number whose logarithm you took.",
        )
    error = np.abs(effective - targets)
    if error.min() < 0.01:
        return WrongAnswer(
            f"Right for {int((error < 0.01).sum())} rows of 4, off where scores spread otherwise.",
            "Which temperatures does your search reach, and how near does it come to the end?",
        )
    worst = int(error.argmax())
    return WrongAnswer(
        f"{effective[worst]:.2f} effective tokens came out where {targets[worst]} were asked for.",
        "Do the tokens grow or shrink in number with the temperature? Halve an interval.",
    )


def effective_tokens(weights: Array) -> Array:
    """How many equally weighted tokens would have the same entropy: e^H, H = −Σ w ln w."""
    logs = np.log(np.where(weights > 0, weights, 1))  # 0 ln 0 counts as 0
    return np.asarray(np.exp(-(weights * logs).sum(axis=-1)))
