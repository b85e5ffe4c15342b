"""Explorer of the chapter on embeddings: mix the vectors of neighbours into a word's own vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.explore.framework.panels import Panels, Scatter
from qkv.language import gettext

Array = np.ndarray[Any, Any]

# Two numbers for each word, chosen by hand: how large, how famous. (2,) each.
WORDS = {"tower": (2.0, 0.0), "Eiffel": (1.0, 3.0), "miniature": (-3.0, -1.0)}
COMPARED = {"skyscraper": (2.5, -0.6), "landmark": (1.5, 1.8), "toy": (-1.0, -1.0)}
SHARES = tuple(range(0, 60, 10))  # percent


def mix(*, eiffel: int, miniature: int) -> Panels:
    """Where "tower" moves when its neighbours' vectors are mixed into it: shares that sum to 1.

    Args:
        eiffel, miniature: their shares in percent; what is left is the share of "tower" itself.
    """
    vector = mixed(eiffel, miniature)
    distances = {word: float(np.linalg.norm(vector - at)) for word, at in COMPARED.items()}
    large, famous = vector
    others = [WORDS["Eiffel"], WORDS["miniature"], *COMPARED.values()]
    points, before = np.array([vector, *others]), np.array([WORDS["tower"], *others])  # (6, 2)
    return {
        "plane": Scatter(
            points,
            (gettext("mix"), "Eiffel", "miniature", *COMPARED),
            start=before,
            groups=(
                gettext("mix"),
                *[gettext("neighbours")] * 2,
                *[gettext("compared")] * len(COMPARED),
            ),
            limits=(-3.5, 3.5),
            x_label=gettext("large"),
            y_label=gettext("famous"),
        ),
        "vector": gettext("large {large}, famous {famous}").format(
            large=_tenths(large), famous=_tenths(famous)
        ),
        "nearest": min(distances, key=lambda word: distances[word]),
    }


def _tenths(number: float) -> str:
    return f"{number:.1f}".replace("-", "−")


def mixed(eiffel: int, miniature: int) -> Array:
    """(2,): the weighted sum of the three rows, the shares in percent."""
    shares = np.array([100 - eiffel - miniature, eiffel, miniature])
    rows = np.array(list(WORDS.values()))  # (3, 2)
    out: Array = shares @ rows / 100  # divided last: tenths without rounding
    return out
