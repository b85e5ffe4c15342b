"""The exercises of the chapter on scaling: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import (
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.exercises.scaling_further import (
    saturating_pair,
    scale_of_cosines,
    scale_of_sparse_entries,
    temperature_for_effective_tokens,
)
from qkv.exercises.scaling_helpers import (
    HIDDEN_DIVISORS,
    entry_statistics,
    hidden_head,
    pairs_drawn,
    queries_and_keys,
)

__all__ = [
    "dependent_entries",
    "divisor_of_a_head",
    "gradient_of_scores",
    "saturating_pair",
    "scale_measured_within_rows",
    "scale_of_cosines",
    "scale_of_sparse_entries",
    "scaled_score",
    "temperature_for_effective_tokens",
]


@exercise("scaling-1")
def scaled_score(answer: object) -> str:
    """q · k / √d_k for d_k = 4."""
    score = as_number(answer)
    reject_each(
        score,
        (12, "That is q · k before scaling.", "One division is still to come."),
        (
            3,
            "You divided by d_k itself.",
            "d_k is the variance; the formula divides by the standard deviation.",
        ),
        (
            24,
            "You multiplied by √d_k.",
            "Wider vectors give larger products; the scale has to make them smaller.",
        ),
    )
    reject(
        not is_close(score, 6),
        "The score is off.",
        "Multiply entry by entry, mind the minus sign, add up, then scale.",
    )
    return "q · k = 12, and √4 = 2."


@exercise("scaling-2")
def gradient_of_scores(answer: object) -> str:
    """ds for the weights (1/2, 1/4, 1/4) and dw = (0, 0, −1)."""
    ds = as_array(answer, (3,))
    w, dw = np.array([0.5, 0.25, 0.25]), np.array([0.0, 0.0, -1.0])
    right = w * (dw - (w * dw).sum())
    reject_each(
        ds,
        (
            -right,
            "Every sign is the other way round.",
            "Σ w dw is negative here, and it is subtracted.",
        ),
        (
            w * dw,
            "You have only the first part, w_j dw_j.",
            "A score moves every weight: take Σ w dw away before you multiply by w_j.",
        ),
        (
            dw - (w * dw).sum(),
            "The factor w_j in front is missing.",
            "The weight of the score's own key multiplies the whole bracket.",
        ),
        (
            w * (dw - dw.sum()),
            "You subtracted the sum of dw.",
            "The sum is weighted: each dw_i counts with w_i.",
        ),
    )
    reject(
        abs(ds.sum()) > 1e-6,
        f"Your three numbers add up to {ds.sum():.3g}.",
        "The same amount added to all scores changes no weight, so the gradients add up to 0.",
    )
    reject(
        not is_close(ds, right, 1e-6),
        "At least one of the three is off.",
        "First Σ w dw, one number; then w_j times (dw_j minus that number).",
    )
    return "(1/8, 1/16, −3/16): the wrong keys share the push in proportion to their weights."


@exercise("scaling-3")
def dependent_entries(answer: object) -> str:
    """`f(rng, n)`: entries of mean 0 and variance 1 whose scores have a variance over 1,000."""
    draw, rng = as_function(answer), np.random.default_rng(3)
    q, k = pairs_drawn(draw, rng)
    means, variances = entry_statistics(q, k)
    reject(
        variances > 0.1,
        f"Over the rows, the variance of one of your entries is off by {variances:.2f}.",
        "Larger entries would make any score large; keep the variance of each at 1.",
    )
    reject(
        means > 0.05,
        f"Over the rows, one of your entries has a mean of size {means:.2f}.",
        "Subtract from every entry what it is on average.",
    )
    again, _ = pairs_drawn(draw, rng)
    reject(
        np.array_equal(q, again),
        "A second call returned the same queries.",
        "Random vectors were asked for: draw them from rng.",
    )
    scores = (q * k).sum(axis=-1)
    variance = float(scores.var())
    reject(
        48 < variance < 80,
        f"The scores have variance {variance:.0f}: the rule holds for your draws.",
        "It assumes that the entries of one vector are independent of each other. Give that up.",
    )
    reject(
        variance <= 48,
        f"The scores have variance {variance:.0f}: you broke the rule the other way.",
        "Let all products of a row have the same sign, whichever it is.",
    )
    reject(
        variance <= 1000,
        f"The scores have variance {variance:.0f}: the right direction.",
        "How many entries of a vector can be one and the same number?",
    )
    return (
        f"Variance {variance:,.0f}: the mean and variance of single entries do not fix that of a "
        "score."
    )


@exercise("scaling-4")
def divisor_of_a_head(answer: object) -> str:
    """`f(head)`: what a head divides its scores by, found out from its weights alone."""
    find = as_function(answer)
    cases = [(d, dtype) for d in HIDDEN_DIVISORS for dtype in (np.float64, np.float32)]
    with np.errstate(all="ignore"):
        found = np.array([as_number(find(hidden_head(d, dtype))) for d, dtype in cases])
    wanted = np.array([d for d, _ in cases])
    reject(
        not bool(np.all(np.isfinite(found) & (found != 0))),
        "For one of the heads your answer is 0 or no finite number.",
        "A weight may be rounded to 0, and its logarithm is −∞: choose smaller scores.",
    )
    right = np.isclose(found, wanted, rtol=0.01)
    reject(
        bool(np.isclose(found, 1 / wanted, rtol=0.01).all()),
        "You found the factor that it multiplies by.",
        "The divisor is its inverse.",
    )
    reject(
        len(set(found.round(3))) == 1,
        "Your answer is the same for every head.",
        "Call the head with a query and keys of your choice, and look at the weights.",
    )
    reject(
        not right.any(),
        "None of the ten divisors is right.",
        "Two keys: the ratio of their weights is e to the difference of their scaled scores.",
    )
    reject(
        not right.all(),
        f"Right for {int(right.sum())} heads of 10.",
        "The others have another divisor or are float32: choose a difference that suits them all.",
    )
    return "Weights betray the scale: the logarithm of a ratio is the scaled difference."


@exercise("scaling-5")
def scale_measured_within_rows(answer: object) -> str:
    """`f(q, k)`: the factor that gives a row of scores variance 1, for any queries and keys."""
    scale = as_function(answer)
    rows, promoted, inverse, overall, columns, averaged = [], False, [], [], [], []
    for q, k in queries_and_keys(np.random.default_rng(5)):
        factor = scale(q, k)
        number = as_number(factor)
        reject(
            not np.isfinite(number) or number <= 0,
            "A scale is a positive, finite number.",
            "Take the root of a variance, and divide by it.",
        )
        scores = q @ np.swapaxes(k, -1, -2)
        promoted |= (scores * factor).dtype != scores.dtype
        rows.append(float((scores * number).var(axis=-1).mean()))
        inverse.append(float((scores / number).var(axis=-1).mean()))
        overall.append(float((scores * number).var()))
        columns.append(float((scores * number).var(axis=-2).mean()))
        spreads = (scores * number).std(axis=-1)
        averaged.append(min(abs(spreads.mean() - 1), abs((1 / spreads).mean() - 1)))
    reject(
        is_close(np.array(overall), np.ones(len(overall)), 1e-3),
        "Over all scores together the variance is 1, but not within the rows.",
        "What all keys of a row have in common changes no weight. Take each row by itself.",
    )
    reject(
        is_close(np.array(columns), np.ones(len(columns)), 1e-3),
        "The variance is 1 along the columns, over the queries, but not within the rows.",
        "Softmax sums over the keys, the last axis of the scores: axis=-1.",
    )
    reject(
        max(averaged) < 1e-3,
        "You took a root in each row first, and the mean afterwards.",
        "The mean of roots is not the root of the mean: average the variances, then one root.",
    )
    reject(
        is_close(np.array(inverse), np.ones(len(inverse)), 1e-3),
        "Your number is the one to divide by.",
        "Asked for is the factor: its inverse.",
    )
    reject(
        abs(rows[0] - 1) < 0.2 and max(abs(row - 1) for row in rows[1:]) > 0.2,
        "It fits independent entries of variance 1, and no others.",
        "Do not trust the rule: compute the scores of these q and k, and measure.",
    )
    reject(
        not is_close(np.array(rows), np.ones(len(rows)), 1e-3),
        f"The mean variance within a row comes to {max(rows, key=lambda row: abs(row - 1)):.2f}.",
        "Variance over the last axis, then the mean over all rows, then one root at the end.",
    )
    reject(
        promoted,
        "The scale is right, but it turns float32 scores into float64.",
        "A NumPy float64 does so, a Python number does not: return float(...).",
    )
    return "It fits other start values and similar tokens too: it measures what softmax feels."
