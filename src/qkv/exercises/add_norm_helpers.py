"""Helpers of the exercises on Add & Norm: norms, right and wrong, and what answers are tried on."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import reject

__all__ = [
    "FAR",
    "INPUTS",
    "SAME",
    "TOLERANCE",
    "Array",
    "normed",
    "reject_other_dtype",
]

Array: TypeAlias = np.ndarray[Any, Any]
TOLERANCE = 6e-3  # two decimals, rounded or cut
SAME = {"d": 1e-9, "f": 2e-5}  # how near a right answer is, by dtype


def normed(
    x: Array, *, axis: int | None = -1, ddof: int = 0, eps: float = 1e-5, outside: bool = False
) -> Array:
    """The norm without γ and β; ddof, outside and axis are the likely mistakes.

    Args:
        x: (..., d_model).
        axis: over which mean and variance are taken; None is over all numbers.
        ddof: 1 divides the squares by one less.
        eps: ε.
        outside: add it to the root, not under it.
    """
    centred = x - x.mean(axis=axis, keepdims=True)
    variance = x.var(axis=axis, keepdims=True, ddof=ddof)
    with np.errstate(divide="ignore", invalid="ignore"):
        out: Array = centred / (np.sqrt(variance) + eps if outside else np.sqrt(variance + eps))
    return out


def _inputs() -> list[tuple[Array, Array, Array]]:
    """x, γ, β: one token, a sentence, a batch with a faint token, and that in float32."""
    rng = np.random.default_rng(3)
    gamma, beta = rng.normal(size=(2, 5))
    one, sentence = 2 * rng.normal(size=5), rng.normal(size=(3, 5)) + 1
    batch = rng.normal(size=(2, 4, 5)) * 3 - 1
    batch[1, 2] /= 1000  # its variance is below ε
    found: list[tuple[Array, Array, Array]] = []
    for dtype in (np.float64, np.float32):
        g, b = gamma.astype(dtype), beta.astype(dtype)
        found += [(x.astype(dtype), g, b) for x in (one, sentence, batch)]
    return found


INPUTS = _inputs()

# One float32 token, γ, β: its numbers are near 1000 and differ by little.
FAR: tuple[Array, Array, Array] = (
    np.array([999.71, 1000.23, 999.83, 1000.07, 1000.31], np.float32),
    np.full(5, 0.5, np.float32),
    np.zeros(5, np.float32),
)


def reject_other_dtype(got: Array, x: Array) -> None:
    """Raise `WrongAnswer` unless the answer has the format of x."""
    reject(
        got.dtype != x.dtype,
        f"For {x.dtype} numbers the result is {got.dtype}.",
        "np.zeros and np.float64 bring float64 in. A plain number such as 1e-5 does not.",
    )
