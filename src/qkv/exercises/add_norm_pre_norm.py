"""The exercise of the chapter on Add & Norm that builds a pre-norm sub-layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.exercises.add_norm_helpers import FAR, INPUTS, SAME, Array, normed, reject_other_dtype
from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    exercise,
    is_close,
    reject,
    reject_each,
)

__all__ = ["pre_norm_built"]


def step(x: Array, f: Any, gamma: Array, beta: Array, **options: Any) -> Array:
    """Pre-norm, or with options one of its likely mistakes."""
    out: Array = x + f(gamma * normed(x, **options) + beta)
    return out


@exercise("add_norm-4")
def pre_norm_built(answer: object) -> str:
    """`f(x, sublayer, gamma, beta)` is x + sublayer(LayerNorm(x))."""
    function = as_function(answer)
    for x, gamma, beta in INPUTS:
        f = _mixed if x.ndim > 1 else np.tanh
        calls: list[Array] = []
        counted = _counted(f, calls)
        got = as_array(function(x, counted, gamma, beta))
        reject(
            got.shape != x.shape,
            f"For x of shape {x.shape} the shape is {got.shape}.",
            "Every step keeps the shape. Which axis does keepdims=True keep?",
        )
        if is_close(got, step(x, f, gamma, beta), SAME[x.dtype.char]):
            reject(
                len(calls) != 1,
                f"f was called {len(calls)} times.",
                "f may be costly, or random. Keep its result in a variable.",
            )
            reject_other_dtype(got, x)
            kept = [array.copy() for array in (x, gamma, beta)]
            answer(kept[0], f, *kept[1:])  # type: ignore[operator]
            reject(
                not all(map(np.array_equal, kept, (x, gamma, beta))),
                "Your function has changed an array that it was given.",
                "The caller still needs it. x += … writes into x itself; x = x + … does not.",
            )
            continue
        out = gamma * normed(x) + beta
        reject_each(
            got,
            (
                gamma * normed(x + f(x)) + beta,
                "That is post-norm.",
                "In pre-norm, the norm comes before f, and nothing after the sum.",
            ),
            (
                out + f(out),
                "The residual connection carries the normalised vectors.",
                "What is added to f's output: x, or its norm?",
            ),
            (f(out), "The addition is missing.", "Where does x go around f?"),
            (x + out, "f is missing.", "What is done with the normalised vectors?"),
            (x + f(x), "The norm is missing.", "What does f read in pre-norm?"),
            (x + f(normed(x)), "γ and β are not used.", "The last two steps of the norm."),
            (
                x + gamma * f(normed(x)) + beta,
                "γ and β act after f.",
                "They belong to the norm, and f reads what the norm gives.",
            ),
            (x + f(gamma * normed(x)), "β is not used.", "What is added after the product?"),
            (
                step(x, f, gamma, beta, ddof=1),
                "The variance divides by d − 1.",
                "LayerNorm's variance is the mean of the squares.",
            ),
            (
                step(x, f, gamma, beta, outside=True),
                "ε stands outside the root.",
                "Add it to the variance, and take the root of the sum.",
            ),
            (
                step(x, f, gamma, beta, eps=0.0),
                "ε is missing.",
                "One token of the test holds tiny numbers. What is added to its variance?",
            ),
            tolerance=SAME[x.dtype.char],
        )
        wrong_axes = [axis for axis in range(x.ndim - 1) if x.ndim > 1]
        for axis in [*wrong_axes, None]:
            wrong = x.ndim > 1 and is_close(
                got, step(x, f, gamma, beta, axis=axis), SAME[x.dtype.char]
            )
            reject(
                wrong,
                "The mean is taken over the wrong axis, or over all of them.",
                "Each token has a mean of its own: over which axis do its numbers lie?",
            )
        raise WrongAnswer(
            f"Some numbers are off for x of shape {x.shape}.",
            "Try it on one token, 1, 4, 7, with an f that returns its input.",
        )
    x, gamma, beta = FAR
    read: list[Array] = []
    function(x, _counted(np.tanh, read), gamma, beta)
    reject(
        not is_close(read[0], gamma * normed(x) + beta, 5e-3),
        "In float32, numbers near 1000 that differ by little come out wrong.",
        "Squares near a million lose the small differences. What can be done before squaring?",
    )
    return "right, for one token, a sentence and a batch, in float32 too."


def _counted(f: Any, calls: list[Array]) -> Any:
    """f, which also keeps what it was called with."""

    def counted(x: Array) -> Any:
        calls.append(x)
        return f(x)

    return counted


def _mixed(x: Array) -> Array:
    """A sub-layer that mixes tokens and bends the numbers."""
    out: Array = np.tanh(x + x[..., ::-1, :] / 2)
    return out
