"""Explorer of the chapter on long texts: online softmax for one query, tile by tile."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from qkv.explore.framework.panels import Heatmap, Lines, Panels, Table
from qkv.language import gettext, gettext_noop

Array = np.ndarray[Any, Any]

EXPONENTIALS = np.array([2, 1, 4, 2, 8, 1, 16, 4])  # e^score of each key: all pencil numbers
VALUES = np.array([10, 20, 30, 40, 50, 60, 70, 80])  # one number a key, d_v = 1
BLOCK_SIZES = (1, 2, 4, 8)
HEADER = (
    gettext_noop("keys"),
    gettext_noop("e^peak"),
    gettext_noop("shrink"),
    gettext_noop("total"),
)
LENGTHS = 2 ** np.arange(3, 14)  # 8 to 8,192
FLOAT32 = 4  # bytes


class Step(NamedTuple):
    """What one query keeps after a tile; the peak is the highest score so far.

    `shrink` is exp(earlier peak − peak), `total` Σ exp(score − peak), `mix` the same sum with the
    values in it.
    """

    keys: slice
    peak: float
    shrink: float
    total: float
    mix: float


def block_size(*, block_size: int, tiles: int) -> Panels:
    """Online softmax of one query over eight keys, after so many tiles.

    Args:
        block_size: keys in a tile, one of BLOCK_SIZES.
        tiles: how many tiles have been read; more than there are change nothing, which is said.
    """
    every = online_softmax(np.log(EXPONENTIALS), VALUES, block_size)
    steps = every[:tiles]
    read = steps[-1].keys.stop
    shares = EXPONENTIALS / EXPONENTIALS[:read].max()
    shares[read:] = 0  # not read yet
    return {
        "shares": Heatmap(shares[None], [gettext("query")], range(len(VALUES)), colours="weights"),
        "steps": Table([*map(gettext, HEADER)], [_row(n, step) for n, step in enumerate(steps)]),
        gettext_noop("read"): _progress(len(steps), len(every)),
        gettext_noop("mix"): f"{steps[-1].mix:g}",
        "output": f"{steps[-1].mix / steps[-1].total:.2f}",
        gettext_noop("exact"): f"{exact():.2f}",
        "bytes": Lines(
            LENGTHS,
            {
                gettext("all scores"): FLOAT32 * LENGTHS**2,
                gettext("one tile"): _tile_bytes(block_size),
            },
            x_label=gettext("n, queries and keys"),
            y_label=gettext("bytes of scores at once, float32"),
            log_x=True,
            log_y=True,
        ),
    }


def online_softmax(scores: Array, values: Array, block_size: int) -> list[Step]:
    """The state of one query after each tile of keys.

    Args:
        scores: (S,).
        values: (S,), one number a key.
        block_size: keys in a tile.
    Source: Milakov and Gimelshein 2018.
    """
    peak, total, mix = -math.inf, 0.0, 0.0
    steps = []
    for start in range(0, len(scores), block_size):
        keys = slice(start, min(start + block_size, len(scores)))
        higher = max(peak, float(scores[keys].max()))
        shrink = math.exp(peak - higher)
        weights = np.exp(scores[keys] - higher)
        total = total * shrink + float(weights.sum())
        mix = mix * shrink + float(weights @ values[keys])
        peak = higher
        steps.append(Step(keys, peak, shrink, total, mix))
    return steps


def exact() -> float:
    """The output of softmax over all keys at once."""
    return float(EXPONENTIALS @ VALUES / EXPONENTIALS.sum())


def _row(n: int, step: Step) -> tuple[str, ...]:
    keys = range(step.keys.start, step.keys.stop)
    shown = f"{keys[0]}–{keys[-1]}" if len(keys) > 1 else f"{keys[0]}"
    shrink = f"{step.shrink:g}" if n else "–"
    return shown, f"{math.exp(step.peak):.0f}", shrink, f"{step.total:.5g}"


def _progress(read: int, tiles: int) -> str:
    """How many of the tiles were read, and whether the slider's next step finds one more."""
    if read < tiles:
        said = gettext("{read} of {tiles} tiles")
    elif tiles > 1:
        said = gettext("{read} of {tiles} tiles: no more to read")
    else:
        said = gettext("{read} of {tiles} tile: no more to read")
    return said.format(read=read, tiles=tiles)


def _tile_bytes(block_size: int) -> Array:
    """Bytes of a tile of block_size queries by block_size keys: the same for every length."""
    return np.full(len(LENGTHS), FLOAT32 * block_size**2)
