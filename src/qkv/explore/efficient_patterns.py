"""Explorer of the chapter on long texts: sparse patterns, their scores and what they reach."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Heatmap, Lines, Panels
from qkv.language import gettext, gettext_noop

Array = np.ndarray[Any, Any]

PATTERNS = (
    gettext_noop("all pairs"),
    gettext_noop("window"),
    gettext_noop("strided"),
    gettext_noop("global"),
    gettext_noop("window + strided"),
    gettext_noop("window + global"),
    gettext_noop("window + global + random"),
)
WINDOW, GLOBAL, RANDOM = 1, (0,), 1
LENGTHS = (8, 16, 24)
LAYERS = (1, 2, 3, 4)
COUNTED = 2 ** np.arange(3, 11)  # 8 to 1,024


def patterns(*, pattern: str, n: int, layers: int) -> Panels:
    """A sparse pattern: its mask, the scores it needs, and what each query reaches.

    Args:
        pattern: one of PATTERNS: a window of one key on each side, every √n-th key (rounded
            down), one global token at position 0, one random key a query, joined by *or*.
        n: tokens, queries and keys alike.
        layers: of attention, one above the other, each with the same pattern.
    """
    mask = pattern_mask(pattern, n)
    reached = reach(mask, layers)
    query = n // 2
    return {
        "mask": Heatmap(mask, range(n), range(n), colours="mask", highlight_row=query),
        "reached": Heatmap(reached, range(n), range(n), colours="mask", highlight_row=query),
        "count": gettext("{some} of {all}").format(some=mask.sum(), all=n * n),
        "read": gettext("{some} of {all}").format(some=reached[query].sum(), all=n),
        "meet": str(path_length(mask) or gettext("never")),
        gettext_noop("scores"): Lines(
            COUNTED,
            {gettext("all pairs"): COUNTED**2, gettext("this pattern"): _counts(pattern)},
            x_label=gettext("n, tokens"),
            y_label=gettext("scores in a layer"),
            log_x=True,
            log_y=True,
            mark=n,
        ),
    }


def pattern_mask(pattern: str, n: int) -> Array:
    """The (n, n) mask of that name, True = allowed; not causal."""
    masks = {
        "all pairs": np.ones((n, n), dtype=bool),
        "window": qn.window_mask(n, WINDOW)[0, 0],
        "strided": qn.strided_mask(n, math.isqrt(n))[0, 0],
        "global": qn.global_mask(n, GLOBAL)[0, 0],
        "random": random_mask(n, RANDOM),
    }
    parts = [masks[name] for name in pattern.split(" + ")]
    return np.asarray(np.logical_or.reduce(parts))


def random_mask(n: int, keys: int) -> Array:
    """(n, n): each query may attend to so many keys, drawn once, as in BigBird."""
    drawn = np.random.default_rng(0).random((n, n)).argsort(axis=1) < keys
    return np.asarray(drawn)


def reach(mask: Array, layers: int) -> Array:
    """(n, n): True where a token's vector can be in a query's output after so many layers."""
    reached = mask
    for _ in range(layers - 1):
        reached = mask @ reached  # of booleans: there is a key between them
    return reached


def path_length(mask: Array) -> int | None:
    """The number of layers until every query has read from every token; None if that never is."""
    reached, layers = mask, 1
    while not reached.all():
        further = mask @ reached
        if np.array_equal(further, reached):
            return None
        reached, layers = further, layers + 1
    return layers


@lru_cache
def _counts(pattern: str) -> Array:
    return np.array([pattern_mask(pattern, int(n)).sum() for n in COUNTED])
