"""Checks for the exercises of "Why √d_k"."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.exercises.checks import as_array, as_function, as_number, close, exercise, refuse
from qkv.exercises.scaling_parts import effective_tokens, off_target
from qkv.numpy import scaled_dot_product_attention, softmax

Array = NDArray[Any]


@exercise("scaling-1")
def one(answer: object) -> str:
    score = as_number(answer)
    refuse(close(score, 12), "That is q · k before scaling.", "One division is still to come.")
    refuse(
        close(score, 3),
        "You divided by d_k itself.",
        "d_k is the variance; the formula divides by the standard deviation.",
    )
    refuse(
        close(score, 24),
        "You multiplied by √d_k.",
        "Wider vectors give larger products; the scale has to make them smaller.",
    )
    refuse(
        not close(score, 6),
        "The score is off.",
        "Multiply entry by entry, mind the minus sign, add up, then scale.",
    )
    return "q · k = 12, and √4 = 2."


@exercise("scaling-2")
def two(answer: object) -> str:
    variance = as_number(answer)
    refuse(
        close(variance, 1),
        "1 is what division by √d_k would give.",
        "How many products does one head add up, and what is their sum divided by?",
    )
    refuse(
        close(variance, 64),
        "64 is the variance before any scaling.",
        "Dividing scores by a number divides their variance by its square.",
    )
    refuse(
        close(variance, 8),
        "That is the inverse.",
        "These scores come out too small, not too large.",
    )
    refuse(
        close(variance, 64 / math.sqrt(512)),
        "You divided the variance by √d_model.",
        "The scores are divided by √d_model; what happens to their squares?",
    )
    refuse(
        close(variance, math.sqrt(1 / 8), 1e-3),
        "That is the standard deviation.",
        "The variance is its square.",
    )
    refuse(
        not close(variance, 0.125),
        "The variance is off.",
        "First the width of one head, then the variance of q · k, then the division.",
    )
    return "Eight times too small: with h heads √d_model flattens the weights, more so as h grows."


@exercise("scaling-3")
def three(answer: object) -> str:
    scale = as_function(answer)
    cases = [(64, 1.0), (256, 0.0625), (100, 0.5)]
    got = np.array([as_number(scale(d_k, p)) for d_k, p in cases])
    d_k, p = np.array(cases).T

    def gives(formula: Array) -> bool:
        return close(got, formula, 1e-6)

    refuse(
        gives(1 / np.sqrt(d_k)),
        "Your scale does not depend on p.",
        "What is the mean square of an entry that is 0 most of the time?",
    )
    refuse(
        gives(1 / np.sqrt(d_k * p)),
        "You counted the zeros of one vector only.",
        "A product is non-zero when both of its factors are.",
    )
    refuse(
        gives(1 / (d_k * p**2)),
        "You divided by the variance of the score.",
        "Scaling by c multiplies a variance by c squared.",
    )
    refuse(
        gives(np.sqrt(d_k) * p),
        "Your scale is upside down: it is the size of the scores themselves.",
        "Multiplying by it should bring that size back to 1.",
    )
    refuse(
        not gives(1 / (p * np.sqrt(d_k))),
        "The scores do not come out with variance 1.",
        "Find the variance of one product, then of a sum of d_k of them.",
    )
    return "At p = 1/16 and d_k = 256 it is 1: what counts is the entries' variance, not d_k alone."


@exercise("scaling-4")
def four(answer: object) -> str:
    factor = as_number(answer)
    refuse(
        close(factor, 1 / 16),
        "That is attention's usual scale.",
        "It is meant for scores that grow with d_k. Do cosines?",
    )
    refuse(
        close(factor, 1),
        "Cosines are bounded, but not of variance 1.",
        "Draw a thousand pairs and look at the size of their cosines.",
    )
    refuse(
        close(factor, 256),
        "That makes the variance 256.",
        "A factor of c multiplies a variance by c squared.",
    )
    refuse(
        close(factor, 1 / 256),
        "1/256 is the variance of a cosine, not the factor that mends it.",
        "By what must you multiply so that this variance becomes 1?",
    )
    refuse(
        not close(factor, 16),
        "The scores do not come out with variance 1.",
        "A cosine is q · k divided by two lengths. How long is a vector of 256 such entries?",
    )
    return (
        "Cosines are too small, so here √d_k multiplies; models with such scores learn the factor."
    )


@exercise("scaling-5")
def five(answer: object) -> str:
    refuse(
        not isinstance(answer, tuple | list) or len(answer) != 2,
        "Two arrays were asked for.",
        "Give the pair (q, k).",
    )
    assert isinstance(answer, tuple | list)
    q, k = as_array(answer[0], (1, 64)).astype(float), as_array(answer[1], (8, 64)).astype(float)
    refuse(
        not (np.all(abs(q) == 1) and np.all(abs(k) == 1)),
        "Some entries are neither 1 nor −1.",
        "Larger entries would saturate anything; the point is to do it without them.",
    )
    _, weights = scaled_dot_product_attention(q, k, np.eye(8))
    assert weights is not None
    largest = float(weights.max())
    refuse(
        close(weights, np.full((1, 8), 1 / 8)),
        "All eight keys have the same score, so the weights are uniform.",
        "Softmax sees differences between scores only: one key must stand out.",
    )
    refuse(
        largest < 0.6,
        f"The largest weight is {largest:.3f}: independent draws give as much.",
        "The variance argument is about independent q and k. Give up the independence.",
    )
    refuse(
        largest <= 0.99,
        f"The largest weight is {largest:.3f}: the winner must stand further out.",
        "Raise the best score to the largest that ±1 entries allow, and lower the others.",
    )
    return f"Largest weight {largest:.4f}: √d_k tames independent vectors, not aligned ones."


@exercise("scaling-6")
def six(answer: object) -> str:
    temperature = as_function(answer)
    rng = np.random.default_rng(6)
    targets, sizes = np.array([2.0, 4.0, 6.5, 1.5]), np.array([8.0, 1.0, 22.0, 0.1])
    scores = rng.standard_normal((4, 8)) * sizes[:, None]
    with warnings.catch_warnings(record=True) as noticed, np.errstate(invalid="warn"):
        warnings.simplefilter("always")
        taus = np.array(
            [[as_number(temperature(s, t))] for s, t in zip(scores, targets, strict=True)]
        )
        same_row = [as_number(temperature(scores[0], t)) for t in targets]
    nan_met = any("invalid value" in str(warning.message) for warning in noticed)
    refuse(
        not (np.all(np.isfinite(taus)) and np.all(taus > 0)) and not nan_met,
        f"Among the temperatures you returned is {taus.min():g}.",
        "A temperature is a positive, finite number.",
    )
    found = effective_tokens(softmax(scores / taus))
    right = close(found, targets, 0.01)
    refuse(
        not right and nan_met,
        "Somewhere your entropy became nan.",
        "A cold softmax has weights of exactly 0, and 0 · log 0 is nan: leave those out.",
    )
    refuse(
        not right and len(set(same_row)) == 1,
        "Your temperature does not depend on the target.",
        "The same scores need another temperature for 2 tokens than for 6.",
    )
    if not right:
        raise off_target(found, effective_tokens(softmax(scores * taus)), targets)
    return (
        "One number sets how many tokens a row mixes; √d_k is this temperature, fixed in advance."
    )
