"""Helpers of the exercises on scaling: effective tokens, and why a temperature misses a target."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qkv.exercises.checks import WrongAnswer, is_close

Array: TypeAlias = NDArray[Any]


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
