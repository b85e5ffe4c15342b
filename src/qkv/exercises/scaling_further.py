"""The exercises on scaling that stand behind the chapter's core: the check of each answer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.exercises.checks import (
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.exercises.scaling_helpers import effective_tokens, wrong_temperature
from qkv.numpy import scaled_dot_product_attention, softmax

Array = NDArray[Any]


@exercise("scaling-6")
def scale_of_sparse_entries(answer: object) -> str:
    """`f(d_k, p)`: the scale for entries that are zero with probability 1 − p."""
    scale = as_function(answer)
    cases = [(64, 1.0), (256, 0.0625), (100, 0.5)]
    got = np.array([as_number(scale(d_k, p)) for d_k, p in cases])
    d_k, p = np.array(cases).T

    def gives(formula: Array) -> bool:
        return is_close(got, formula, 1e-6)

    reject(
        gives(1 / np.sqrt(d_k)),
        "Your scale does not depend on p.",
        "What is the mean square of an entry that is 0 most of the time?",
    )
    reject(
        gives(1 / np.sqrt(d_k * p)),
        "You counted the zeros of one vector only.",
        "A product is non-zero when both of its factors are.",
    )
    reject(
        gives(1 / (d_k * p**2)),
        "You divided by the variance of the score.",
        "Scaling by c multiplies a variance by c squared.",
    )
    reject(
        gives(np.sqrt(d_k) * p),
        "Your scale is upside down: it is the size of the scores themselves.",
        "Multiplying by it should bring that size back to 1.",
    )
    reject(
        not gives(1 / (p * np.sqrt(d_k))),
        "The scores do not come out with variance 1.",
        "Find the variance of one product, then of a sum of d_k of them.",
    )
    return "At p = 1/16 and d_k = 256 it is 1: what counts is the entries' variance, not d_k alone."


@exercise("scaling-7")
def scale_of_cosines(answer: object) -> str:
    """The factor that gives cosines of 256 entries variance 1."""
    factor = as_number(answer)
    reject_each(
        factor,
        (
            1 / 16,
            "That is attention's usual scale.",
            "It is meant for scores that grow with d_k. Do cosines?",
        ),
        (
            1,
            "Cosines are bounded, but not of variance 1.",
            "Draw a thousand pairs and look at the size of their cosines.",
        ),
        (256, "That makes the variance 256.", "A factor of c multiplies a variance by c squared."),
        (
            1 / 256,
            "1/256 is the variance of a cosine, not the factor that mends it.",
            "By what must you multiply so that this variance becomes 1?",
        ),
        (
            np.sqrt(255),
            "You counted 255 coordinates.",
            "The mean of a cosine is 0 by symmetry, not measured: count all 256.",
        ),
    )
    reject(
        not is_close(factor, 16),
        "The scores do not come out with variance 1.",
        "A cosine is q · k divided by two lengths. How long is a vector of 256 such entries?",
    )
    return (
        "Cosines are too small, so here √d_k multiplies; models with such scores learn the factor."
    )


@exercise("scaling-8")
def saturating_pair(answer: object) -> str:
    """Queries and keys of ±1 that saturate softmax in spite of the scale."""
    reject(
        not isinstance(answer, tuple | list) or len(answer) != 2,
        "Two arrays were asked for.",
        "Give the pair (q, k).",
    )
    assert isinstance(answer, tuple | list)
    q, k = as_array(answer[0], (1, 64)).astype(float), as_array(answer[1], (8, 64)).astype(float)
    reject(
        not (np.all(abs(q) == 1) and np.all(abs(k) == 1)),
        "Some entries are neither 1 nor −1.",
        "Larger entries would saturate anything; the point is to do it without them.",
    )
    _, weights = scaled_dot_product_attention(q, k, np.eye(8))
    assert weights is not None
    largest = float(weights.max())
    reject(
        is_close(weights, np.full((1, 8), 1 / 8)),
        "All eight keys have the same score, so the weights are uniform.",
        "Softmax sees differences between scores only: one key must stand out.",
    )
    level = int(np.isclose(weights, largest).sum())
    reject(
        level > 1,
        f"{level} keys share the best score, so each has a weight of {largest:.3f}.",
        "Let one key alone agree with the query most.",
    )
    reject(
        largest < 0.6,
        f"The largest weight is {largest:.3f}: independent draws give as much.",
        "The variance argument is about independent q and k. Give up the independence.",
    )
    reject(
        largest <= 0.99,
        f"The largest weight is {largest:.3f}: the winner must stand further out.",
        "Raise the best score to the largest that ±1 entries allow, and lower the others.",
    )
    return f"Largest weight {largest:.4f}: √d_k tames independent vectors, not aligned ones."


@exercise("scaling-9")
def temperature_for_effective_tokens(answer: object) -> str:
    """`f(scores, target)`: the temperature at which a row mixes `target` tokens."""
    temperature = as_function(answer)
    rng = np.random.default_rng(6)
    targets, sizes = np.array([2.0, 4.0, 6.5, 1.5]), np.array([8.0, 1.0, 22.0, 0.1])
    scores = rng.standard_normal((4, 8)) * sizes[:, None]
    with warnings.catch_warnings(record=True) as caught, np.errstate(invalid="warn"):
        warnings.simplefilter("always")
        taus = np.array(
            [[as_number(temperature(s, t))] for s, t in zip(scores, targets, strict=True)]
        )
        same_row = [as_number(temperature(scores[0], t)) for t in targets]
    has_nan = any("invalid value" in str(warning.message) for warning in caught)
    reject(
        not (np.all(np.isfinite(taus)) and np.all(taus > 0)) and not has_nan,
        f"Among the temperatures you returned is {taus.min():g}.",
        "A temperature is a positive, finite number.",
    )
    effective = effective_tokens(softmax(scores / taus))
    right = is_close(effective, targets, 0.01)
    reject(
        not right and has_nan,
        "Somewhere your entropy became nan.",
        "A cold softmax has weights of exactly 0, and 0 · log 0 is nan: leave those out.",
    )
    reject(
        not right and len(set(same_row)) == 1,
        "Your temperature does not depend on the target.",
        "The same scores need another temperature for 2 tokens than for 6.",
    )
    if not right:
        raise wrong_temperature(effective, effective_tokens(softmax(scores * taus)), targets)
    return (
        "One number sets how many tokens a row mixes; √d_k is this temperature, fixed in advance."
    )
