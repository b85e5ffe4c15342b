"""What decoding asks of a model: a step, from prefixes to the next token's log-probabilities.

A step is any function from prefixes, (N, t) integers, to (N, V) log-probabilities: `log_softmax` of
a model's scores, none above 0 but for rounding, and −∞ for what must not come. All rows of a call
are equally long, t grows by one from call to call, and the rows keep their sentences: with B
sentences and K beams, N is B · K and row n is of sentence n // K. What the step knows about each
sentence, such as an encoder's output, it therefore repeats K times.

A step that keeps a cache has a method `reorder(parents)` besides. It is called before every call
but the first: row n of the call that follows continues row parents[n] of the call before, by one
token. Such a step is spared all that it can be: it first sees each sentence once, however many
beams there are, and nothing more of a sentence that has ended. So N changes, and `reorder` has to
pick what the step knows about the sentences along with its cache. It serves one search: begin
another with a new one.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.room import is_tensor
from qkv.shapes import check_other_room, check_peak, check_step, log_probability_limit

__all__ = ["Ints", "Step", "best_of", "keeps_cache", "next_scores", "top_mask"]

Ints = NDArray[np.integer[Any]]
Step: TypeAlias = Callable[[Ints], Floats]


def keeps_cache(step: Step) -> bool:
    """Whether a step wants to know where its rows come from."""
    return hasattr(step, "reorder")


def next_scores(
    call: str,
    step: Step,
    prefixes: Ints,
    parents: Ints | None,
    eos_id: int | None,
    needed: NDArray[np.bool_] | None = None,
) -> Floats:
    """What a step says about prefixes (N, t): (N, V), looked at, float32 or better.

    Args:
        parents: (N,) rows of the last call that these continue; None in the first.
        needed: (N,) rows that must have a token to go on with, others may be anything; None lets
            every row be a dead end.
    """
    if parents is not None and keeps_cache(step):
        step.reorder(parents)  # type: ignore[attr-defined]
    scores = step(prefixes)  # (N, V)
    check_other_room(call, "step's result", scores, "numpy", is_tensor)
    check_step(call, scores, len(prefixes), eos_id)
    peaks, limit = scores.max(-1), log_probability_limit(scores)  # (N,): a NaN goes through
    suspect = ~((peaks > -np.inf) & (peaks <= limit))
    if needed is not None:
        suspect &= needed
    for row in np.flatnonzero(suspect):
        check_peak(call, int(row), float(peaks[row]), limit, dead_end=needed is not None)
    return scores.astype(np.promote_types(scores.dtype, np.float32), copy=False)


def top_mask(x: Floats, count: int) -> NDArray[np.bool_]:
    """Where the `count` largest of each row of (N, M) stand; of equals, the first."""
    bar = np.partition(x, -count)[:, -count, None]  # (N, 1), the last that is large enough
    mask: NDArray[np.bool_] = x >= bar  # (N, M)
    if mask.sum() > count * len(x):  # more at the bar than there is room for, which is rare
        above, equal = x > bar, x == bar
        room = count - above.sum(-1, keepdims=True)  # (N, 1)
        mask = above | (equal & (equal.cumsum(-1) <= room))
    return mask


def best_of(x: Floats, count: int) -> tuple[Floats, Ints]:
    """The `count` largest of each row of (N, M) and their places, falling; of equals, the first."""
    at = np.nonzero(top_mask(x, count))[1].reshape(len(x), count)  # (N, count), rising places
    order = np.argsort(-np.take_along_axis(x, at, 1), 1, kind="stable")
    at = np.take_along_axis(at, order, 1)
    return np.take_along_axis(x, at, 1), at
