"""What the checks of "Why √d_k" share: effective tokens, and what missed them."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qkv.exercises.checks import Wrong, close

Array: TypeAlias = NDArray[Any]


def off_target(found: Array, inverse: Array, targets: Array) -> Wrong:
    """Name what went wrong, from the effective tokens found when dividing and when multiplying."""
    bits = np.log2(found)
    if close(inverse, targets, 0.01):
        return Wrong("You found the factor to multiply by.", "A temperature divides the scores.")
    if close(bits, np.minimum(targets, 3), 0.02):  # 8 keys hold no more than 3 bits
        return Wrong(
            "The entropy in bits has come out as the number asked for in tokens.",
            "One bit of entropy is two tokens, two bits are four.",
        )
    if close(bits * math.log(2), np.minimum(np.log2(targets), math.log(8)), 0.02):
        return Wrong(
            "Natural and binary logarithms are mixed.",
            "Entropy in bits goes with powers of 2, entropy in nats with powers of e.",
        )
    if close(bits, np.log(targets), 0.02):
        return Wrong(
            "Your entropy is in bits and your power is of e.",
            "Take the power of the number whose logarithm you took.",
        )
    off = np.abs(found - targets)
    if off.min() < 0.01:
        return Wrong(
            f"Right for {int((off < 0.01).sum())} rows of 4, off where scores spread otherwise.",
            "Which temperatures does your search reach, and how near does it come to the end?",
        )
    worst = int(off.argmax())
    return Wrong(
        f"{found[worst]:.2f} effective tokens came out where {targets[worst]} were asked for.",
        "Do the tokens grow or shrink in number with the temperature? Halve an interval.",
    )


def effective_tokens(weights: Array) -> Array:
    """How many equally weighted tokens would have the same entropy: e^H, H = −Σ w ln w."""
    logs = np.log(np.where(weights > 0, weights, 1))  # 0 ln 0 counts as 0
    return np.asarray(np.exp(-(weights * logs).sum(axis=-1)))
