"""The exercises of the chapter on scaling: the check of each answer."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qkv.exercises.checks import (
    TWO_DECIMALS,
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.language import gettext
from qkv.numpy import layer_norm, scaled_dot_product_attention, softmax

Array: TypeAlias = NDArray[Any]
HIDDEN_DIVISORS = (1.0, 3.0, 8.0, math.sqrt(512), 64.0)
PAIRS = 50_000  # rows asked of the reader's function: enough to measure a variance


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
            gettext("Right for {count} rows of 4, off where scores spread otherwise.").format(
                count=int((error < 0.01).sum())
            ),
            "Which temperatures does your search reach, and how near does it come to the end?",
        )
    worst = int(error.argmax())
    return WrongAnswer(
        gettext("{got:.2f} effective tokens came out where {target} were asked for.").format(
            got=effective[worst], target=targets[worst]
        ),
        "Do the tokens grow or shrink in number with the temperature? Halve an interval.",
    )


def effective_tokens(weights: Array) -> Array:
    """How many equally weighted tokens would have the same entropy: e^H, H = −Σ w ln w."""
    logs = np.log(np.where(weights > 0, weights, 1))  # 0 ln 0 counts as 0
    return np.asarray(np.exp(-(weights * logs).sum(axis=-1)))


@exercise("scaling-1")
def scaled_score(answer: object) -> str:
    """12 / √16: one of 8 heads of a model of width 128."""
    score = as_number(answer)
    reject_each(
        score,
        (12, "That is q · k before scaling.", "One division is still to come."),
        (
            0.75,
            "You divided by d_k itself.",
            "d_k is the variance; the formula divides by the standard deviation.",
        ),
        (
            48,
            "You multiplied by √d_k.",
            "Wider vectors give larger products; the scale has to make them smaller.",
        ),
        (
            1.5,
            "You divided by the number of heads.",
            "That number gives the width of one head, d_model / 8. Take its root.",
        ),
        (
            12 / math.sqrt(8),
            "You divided by the root of the number of heads.",
            "A score adds the products of one head: how wide is it?",
        ),
        (
            12 / math.sqrt(128),
            "You divided by √d_model, the width of all heads together.",
            "A score adds the products of one head: how many are they?",
        ),
        tolerance=5e-3,
    )
    reject(
        not is_close(score, 3),
        "The score is off.",
        "The heads share d_model equally. Divide by the root of one head's width.",
    )
    return "d_k = 128 / 8 = 16, and 12 / √16 = 3."


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
        abs(ds.sum()) > 2 * TWO_DECIMALS,  # each of the three may be cut or rounded
        gettext("Your three numbers add up to {total:.3g}.").format(total=ds.sum()),
        "The same amount added to all scores changes no weight, so the gradients add up to 0.",
    )
    reject(
        abs(ds - right).max() > 0.008,  # 0.1875 cut to two decimals is 0.0075 less
        "At least one of the three is off.",
        "First Σ w dw, one number; then w_j times (dw_j minus that number).",
    )
    return "(1/8, 1/16, −3/16): the wrong keys share the push in proportion to their weights."


@exercise("scaling-3")
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
        gettext("Right for {count} heads of 10.").format(count=int(right.sum())),
        "The others have another divisor or are float32: choose a difference that suits them all.",
    )
    return "The logarithm of a ratio of weights is the scaled difference of two scores."


@exercise("scaling-4")
def scale_measured_within_rows(answer: object) -> str:
    """`f(q, k)`: the factor that gives a row of scores variance 1, for any queries and keys."""
    scale = as_function(answer)
    rows, promoted, inverse, overall, columns = [], False, [], [], []
    unbiased, averaged = [], []
    for q, k in queries_and_keys(np.random.default_rng(5)):
        factor = scale(q, k)
        number = as_number(factor)
        reject(
            not np.isfinite(number) or number <= 0,
            "A scale is a positive, finite number.",
            "Take the root of a variance, and divide by it.",
        )
        scores = q @ np.swapaxes(k, -1, -2)
        if isinstance(factor, np.generic | np.ndarray):  # Python and torch numbers do no harm
            promoted |= (scores * factor).dtype != scores.dtype
        rows.append(float((scores * number).var(axis=-1).mean()))
        inverse.append(float((scores / number).var(axis=-1).mean()))
        overall.append(float((scores * number).var()))
        columns.append(float((scores * number).var(axis=-2).mean()))
        unbiased.append(float((scores * number).var(axis=-1, ddof=1).mean()))
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
        is_close(np.array(unbiased), np.ones(len(unbiased)), 1e-3),
        "You divided the squared deviations by the number of keys minus 1.",
        "np.var divides by the number of keys; torch.var and ddof=1 by one less.",
    )
    reject(
        abs(rows[0] - 1) < 0.2 and max(abs(row - 1) for row in rows[1:]) > 0.2,
        "It fits independent entries of variance 1, and no others.",
        "Do not trust the rule: compute the scores of these q and k, and measure.",
    )
    reject(
        not is_close(np.array(rows), np.ones(len(rows)), 1e-3),
        gettext("The mean variance within a row comes to {variance:.2f}.").format(
            variance=max(rows, key=lambda row: abs(row - 1))
        ),
        "Variance over the last axis, then the mean over all rows, then one root at the end.",
    )
    reject(
        promoted,
        "The scale is right, but it turns float32 scores into float64.",
        "A NumPy float64 does so, a Python number does not: return float(...).",
    )
    return "It fits other start values and similar tokens too: it measures what softmax feels."


@exercise("scaling-5")
def scale_of_sparse_entries(answer: object) -> str:
    """`f(d_k, p)`: the scale for entries that are zero with probability 1 − p."""
    scale = as_function(answer)
    rng = np.random.default_rng(6)
    cases = [(64, 1.0), (256, 0.0625), (100, 0.5)]
    cases += [(int(rng.integers(2, 2000)), float(rng.uniform(0.05, 1))) for _ in range(3)]
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
        not gives(1 / (p * np.sqrt(d_k)))
        and is_close(got * p * np.sqrt(d_k), np.ones(len(got)), 0.1),
        "Near, as a simulation or a rounded number is.",
        "Asked for is the formula in d_k and p: derive it.",
    )
    reject(
        not gives(1 / (p * np.sqrt(d_k))),
        "The scores do not come out with variance 1.",
        "Find the variance of one product, then of a sum of d_k of them.",
    )
    return "At p = 1/16 and d_k = 256 it is 1: what counts is the entries' variance, not d_k alone."


@exercise("scaling-6")
def size_of_a_score_at_the_start(answer: object) -> str:
    """√(128 · ¼ · ¼) = √8: entries of q and k have variance 512 / (4 · 512)."""
    size = as_number(answer)
    reject_each(
        size,
        (8, "That is the variance of a score.", "The typical size is its root."),
        (
            math.sqrt(128),
            "That is the size for entries of variance 1.",
            "What variance has an entry of q = x W_Q? It adds 512 products.",
        ),
        (
            0.25,
            "That is the size after the division.",
            "Asked for is the score before it.",
        ),
        (
            math.sqrt(32),
            "You counted the start values of one matrix only.",
            "A product of the score has an entry of q and an entry of k.",
        ),
        (
            32,
            "A product has the variance of q's entry times that of k's entry.",
            "Multiply both by d_k, and take the root at the end.",
        ),
        (
            math.sqrt(128) / 2048,
            "You left out the 512 products of an entry of q.",
            "An entry of q adds d_model products: variance d_model · 1 / (4 d_model).",
        ),
        tolerance=5e-3,
    )
    reject(
        not is_close(size, math.sqrt(8), 1e-2),
        "The size is off.",
        "First the variance of an entry of q, then of a sum of 128 products, then the root.",
    )
    return "√8 = 2.8, where entries of variance 1 give 11.3: a smaller start, as in the libraries."


@exercise("scaling-7")
def dependent_entries(answer: object) -> str:
    """`f(rng, n)`: entries of mean 0 and variance 1 whose scores have a variance over 1,000."""
    draw, rng = as_function(answer), np.random.default_rng(3)
    q, k = pairs_drawn(draw, rng)
    means, variances = entry_statistics(q, k)
    reject(
        variances > 0.2,  # what is drawn now and then, and large then, is off by 0.13
        gettext("Over the rows, the variance of one of your entries is off by {error:.2f}.").format(
            error=variances
        ),
        "Larger entries would make any score large; keep the variance of each at 1.",
    )
    reject(
        means > 0.05,
        gettext("Over the rows, one of your entries has a mean of size {mean:.2f}.").format(
            mean=means
        ),
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
        variance < 1e-6,
        "Your scores are all the same number.",
        "Here q and k always move together. Draw them apart, so that the score changes its sign.",
    )
    reject(
        48 < variance < 80,
        gettext("The scores have variance {variance:.0f}: the rule holds for your draws.").format(
            variance=variance
        ),
        "It assumes that the entries of one vector are independent of each other. Give that up.",
    )
    reject(
        variance <= 48,
        gettext(
            "The scores have variance {variance:.0f}: you broke the rule the other way."
        ).format(variance=variance),
        "Let all products of a row have the same sign, whichever it is.",
    )
    reject(
        variance <= 900,  # what is drawn falls short of a variance of 1,000 by chance
        gettext("The scores have variance {variance:.0f}: the right direction.").format(
            variance=variance
        ),
        "How many entries of a vector can be one and the same number?",
    )
    return gettext(
        "Variance {variance:,.0f}: the mean and variance of single entries do not fix that of a "
        "score."
    ).format(variance=variance)


@exercise("scaling-8")
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
        abs(factor / 16 - 1) > 0.01,  # a measured factor will do
        "The scores do not come out with variance 1.",
        "A cosine is q · k divided by two lengths. How long is a vector of 256 such entries?",
    )
    return (
        "Cosines are too small, so here √d_k multiplies; models with such scores learn the factor."
    )


@exercise("scaling-9")
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
        gettext("{count} keys share the best score, so each has a weight of {weight:.3f}.").format(
            count=level, weight=largest
        ),
        "Let one key alone agree with the query most.",
    )
    reject(
        largest < 0.6,
        gettext("The largest weight is {weight:.3f}: independent draws give as much.").format(
            weight=largest
        ),
        "The variance argument is about independent q and k. Give up the independence.",
    )
    reject(
        largest <= 0.99,
        gettext("The largest weight is {weight:.3f}: the winner must stand further out.").format(
            weight=largest
        ),
        "Raise the best score to the largest that ±1 entries allow, and lower the others.",
    )
    return gettext(
        "Largest weight {weight:.4f}: √d_k fits independent vectors, not aligned ones."
    ).format(weight=largest)


@exercise("scaling-10")
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
        gettext("Among the temperatures you returned is {lowest:g}.").format(lowest=taus.min()),
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
