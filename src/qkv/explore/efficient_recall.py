"""Explorer of the chapter on long texts: recall from a state of so many numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.experiments import stored_result
from qkv.explore.framework.panels import Lines, Panels, Table
from qkv.language import gettext, gettext_noop

Array = np.ndarray[Any, Any]

STATES = ("32", "64", "128")
WIDTHS = ("8 + 8", "4 + 4", "2 + 2")  # numbers of a key and of a value
HEADER = (
    gettext_noop("way"),
    gettext_noop("it keeps"),
    gettext_noop("a query has"),
    gettext_noop("of 16 pairs, %"),
)
UNITS = {
    gettext_noop("window"): "pairs",
    gettext_noop("low rank"): "sums",
    gettext_noop("linear"): "features",
    gettext_noop("random features"): "features",
}
KEPT = {
    "pairs": gettext_noop("{count} pairs"),
    "sums": gettext_noop("{count} sums"),
    "features": gettext_noop("{count} features"),
}
# Of a kind beside its curve, where its whole name has no room.
SHORT = {"random features": gettext_noop("random")}


def recall(*, state: str, width: str) -> Panels:
    """The stored trainings of `efficient_recall`: right answers of each way of keeping pairs.

    Args:
        state: how many numbers a layer keeps, one of STATES.
        width: numbers of a key vector and of a value vector, one of WIDTHS.
    """
    pairs = stored_result("efficient_recall").figures["pairs"]
    numbers, one = int(state), int(width.split()[0])
    shares = {kind: shares_of(kind, numbers, one) for kind in UNITS}
    return {
        "curves": Lines(
            pairs,
            {gettext(SHORT.get(kind, kind)): of.mean(axis=0) for kind, of in shares.items()},
            x_label=gettext("pairs that were read"),
            y_label="%",
        ),
        "table": Table(
            [*map(gettext, HEADER)], [_row(kind, of, numbers, one) for kind, of in shares.items()]
        ),
    }


def shares_of(kind: str, state: int, width: int) -> Array:
    """Right answers in %, (seeds, numbers of pairs)."""
    for row in stored_result("efficient_recall").figures["rows"]:
        if (row["kind"], row["state"], row["width"]) == (kind, state, width):
            return 100 * np.array(row["accuracy"])
    raise KeyError(f"no stored training of {kind} with {state} numbers, {width} + {width} a pair")


def kept(kind: str, state: int, width: int) -> int:
    """How many pairs, sums or features so many numbers hold."""
    return state // (width + 1 if UNITS[kind] == "features" else 2 * width)


def query_width(kind: str, state: int, width: int) -> int:
    """Numbers of a query, and of a key: the last two ways keep no key, so theirs may be wider."""
    return {"linear": kept(kind, state, width), "random features": 8}.get(kind, width)


def _row(kind: str, of: Array, state: int, width: int) -> tuple[str, ...]:
    low, high = of[:, -1].min(), of[:, -1].max()
    keeps = gettext(KEPT[UNITS[kind]]).format(count=kept(kind, state, width))
    right = gettext("{low} to {high}").format(low=f"{low:.0f}", high=f"{high:.0f}")
    return gettext(kind), keeps, f"{query_width(kind, state, width)}", right
