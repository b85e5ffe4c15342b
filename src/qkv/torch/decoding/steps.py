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
from typing import TypeAlias

import torch
from torch import Tensor

from qkv.shapes import check_other_room, check_peak, check_step, log_probability_limit
from qkv.torch.room import is_ndarray

__all__ = ["Step", "best_of", "keeps_cache", "next_scores", "top_mask"]

Step: TypeAlias = Callable[[Tensor], Tensor]


def keeps_cache(step: Step) -> bool:
    """Whether a step wants to know where its rows come from."""
    return hasattr(step, "reorder")


def next_scores(
    call: str,
    step: Step,
    prefixes: Tensor,
    parents: Tensor | None,
    eos_id: int | None,
    needed: Tensor | None = None,
) -> Tensor:
    """What a step says about prefixes (N, t): (N, V), looked at, float32 or better.

    Args:
        parents: (N,) rows of the last call that these continue; None in the first.
        needed: (N,) rows that must have a token to go on with, others may be anything; None lets
            every row be a dead end.
    """
    if parents is not None and keeps_cache(step):
        step.reorder(parents)  # type: ignore[attr-defined]
    scores = step(prefixes)  # (N, V)
    check_other_room(call, "step's result", scores, "torch", is_ndarray)
    check_step(call, scores, len(prefixes), eos_id)
    peaks, limit = scores.amax(-1), log_probability_limit(scores)  # (N,): a NaN goes through
    suspect = ~((peaks > -torch.inf) & (peaks <= limit))
    if needed is not None:
        suspect &= needed
    for row in suspect.nonzero()[:, 0].tolist():
        check_peak(call, row, float(peaks[row]), limit, dead_end=needed is not None)
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def top_mask(x: Tensor, count: int) -> Tensor:
    """Where the `count` largest of each row of (N, M) stand; of equals, the first."""
    bar = x.topk(count).values[:, -1:]  # (N, 1), the last that is large enough
    mask = x >= bar  # (N, M)
    if mask.sum() > count * len(x):  # more at the bar than there is room for, which is rare
        above, equal = x > bar, x == bar
        room = count - above.sum(-1, keepdim=True)  # (N, 1)
        mask = above | (equal & (equal.cumsum(-1) <= room))
    return mask


def best_of(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row of (N, M) and their places, falling; of equals, the first."""
    at = top_mask(x, count).nonzero()[:, 1].reshape(len(x), count)  # (N, count), rising places
    order = x.gather(1, at).argsort(dim=1, descending=True, stable=True)
    at = at.gather(1, order)
    return x.gather(1, at), at
