"""Explorers of the chapter on scaling: d_k and √d_k before training, and the number of keys."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.explore.framework.panels import Bars, Heatmap, Lines
from qkv.language import gettext, gettext_noop
from qkv.numpy import softmax

Array = NDArray[Any]

TOKENS = ("a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest")
DRAWS = 500  # the numbers are taken over these; the pictures show the first
STARVED = 0.01  # of an equal share

KEYS = tuple(2**i for i in range(1, 13))
FEWEST_ROWS, MOST_ROWS = 500, 4000  # of scores, for the most keys and for few
SHOWN = 8  # weights of one row that are drawn, largest first


def draw(rng: np.random.Generator, n: int, tokens: int, d_k: int) -> tuple[Array, Array]:
    """Queries and keys with independent entries of mean 0 and variance 1.

    Returns:
        q and k, each (n, tokens, d_k). Drawn column by column, so that for one seed a narrower
        draw is the first columns of a wider one.
    """
    columns = rng.standard_normal((d_k, 2, n, tokens))
    q, k = np.moveaxis(columns, 0, -1)
    return q, k


def effective_tokens(weights: Array) -> Array:
    """How many equally weighted tokens would have the same entropy: e^H, H = −Σ w ln w.

    Args:
        weights: (..., S), rows that sum to 1.
    Returns:
        (...), between 1 (one winner) and S (uniform).
    """
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    effective: Array = np.exp(-(weights * logs).sum(axis=-1))
    return effective


def starved(weights: Array) -> float:
    """Share of the keys with less than STARVED of an equal share of their row's weight.

    Args:
        weights: (..., S), rows that sum to 1.
    """
    return float((weights < STARVED / weights.shape[-1]).mean())


def saturation(d_k: int, scaled: bool, seed: int = 2) -> dict[str, Any]:
    """Scores and weights of one untrained head of width d_k.

    Args:
        d_k: width of its queries and keys.
        scaled: divide the scores by √d_k.
        seed: of the draws.
    Returns:
        Panels: the weights of *creature* (8,) and all weights (8, 8) of the first draw, and three
        numbers taken over DRAWS draws.
    """
    q, k = draw(np.random.default_rng(seed), DRAWS, len(TOKENS), d_k)
    scale = 1 / math.sqrt(d_k) if scaled else 1.0
    scores = q @ k.mT * scale  # (DRAWS, 8, 8)
    weights = softmax(scores)
    creature = TOKENS.index("creature")
    return {
        gettext_noop("weights of creature"): Bars(
            weights[0, creature], labels=TOKENS, limits=(0, 1)
        ),
        gettext_noop("all weights"): Heatmap(
            weights[0], rows=TOKENS, columns=TOKENS, highlight_row=creature
        ),
        gettext_noop("variance of the scores"): f"{scores.var():.3g}",
        gettext_noop("largest weight of a row, on average"): f"{weights.max(axis=-1).mean():.2f}",
        gettext_noop("starved keys"): f"{starved(weights):.0%}",
    }


@cache
def random_scores(seed: int) -> Array:
    """Independent Gaussian scores of variance 1, enough for FEWEST_ROWS rows of the most keys."""
    scores: Array = np.random.default_rng(seed).standard_normal(FEWEST_ROWS * KEYS[-1])
    return scores


def rows_of(keys: int, spread: float, seed: int) -> Array:
    """Weights (rows, keys) of independent scores with this standard deviation."""
    scores = random_scores(seed)[: MOST_ROWS * keys]
    weights: Array = softmax(scores[: len(scores) // keys * keys].reshape(-1, keys) * spread)
    return weights


@cache
def effective_by_keys(spread: float, seed: int) -> tuple[float, ...]:
    """Mean effective tokens of rows with this spread, for every number of KEYS."""
    return tuple(float(effective_tokens(rows_of(n, spread, seed)).mean()) for n in KEYS)


def number_of_keys(keys: int, spread: float, seed: int = 0) -> dict[str, Any]:
    """Weights of rows with many keys, the scores of each independent with one standard deviation.

    Args:
        keys: how many keys share a row.
        spread: standard deviation σ of a row's scores; √d_k if they are not scaled, 1 if they are.
        seed: of the draws.
    Returns:
        Panels: effective tokens for every number of KEYS beside n e^(−σ²/2), the largest weights of
        one row, and four numbers taken over FEWEST_ROWS rows or more.
    """
    weights = rows_of(keys, spread, seed)
    n = np.array(KEYS)
    largest = np.zeros(SHOWN)
    first = np.sort(weights[0])[::-1][:SHOWN]
    largest[: len(first)] = first
    shrink = math.exp(-(spread**2) / 2)
    return {
        gettext_noop("effective tokens"): Lines(
            n,
            {
                gettext("measured"): effective_by_keys(spread, seed),
                gettext("rule, at least 1"): np.maximum(
                    n * shrink, 1
                ),  # no row has less than one token
            },
            x_label=gettext("keys n"),
            y_label=gettext("tokens"),
            log_x=True,
            log_y=True,
            mark=keys,
        ),
        gettext_noop("one row's largest weights"): Bars(
            largest, labels=[f"{place}." for place in range(1, SHOWN + 1)], limits=(0, 1)
        ),
        gettext_noop("starved keys"): f"{starved(weights):.0%}",
        gettext_noop("effective tokens, on average"): f"{effective_tokens(weights).mean():.1f}",
        gettext_noop("by the rule n·e^(−σ²/2)"): (
            f"{keys * shrink:.1f}" if keys * shrink > 1 else gettext("below 1")
        ),
        gettext_noop("its limit for σ, √(2 ln n)"): f"{math.sqrt(2 * math.log(keys)):.1f}",
    }
