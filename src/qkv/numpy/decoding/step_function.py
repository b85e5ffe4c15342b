"""The step function of decoding: from prefixes to log-probabilities of the next token.

A step is any function from prefixes, (N, t) integers, to (N, V) log-probabilities: `log_softmax` of
a model's logits, none above 0 but for rounding, and −∞ for what must not come. All rows of a call
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

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from qkv.decoding import has_kv_cache
from qkv.numpy.array_types import Bools, Floats, Ints
from qkv.numpy.checks import check_shapes
from qkv.shapes.decoding import check_log_probabilities, check_vocabulary, log_probability_limit

__all__ = ["StepFunction", "next_log_probs"]

StepFunction: TypeAlias = Callable[[Ints], Floats]


def next_log_probs(
    call: str,
    step: StepFunction,
    prefixes: Ints,
    parents: Ints | None,
    eos_id: int | None,
    needed: Bools | None = None,
) -> Floats:
    """Call a step function on prefixes (N, t): its (N, V), checked, in float32 or better.

    Args:
        parents: (N,) rows of the last call that these continue; None in the first.
        needed: (N,) rows that must have a token to go on with, others may be anything; None lets
            every row be a dead end.
    """
    if parents is not None and has_kv_cache(step):
        step.reorder(parents)  # type: ignore[attr-defined]
    scores = step(prefixes)  # (N, V)
    check_shapes(call, N=len(prefixes), **{"step's result": (scores, "N V")})
    check_vocabulary(call, scores.shape[1], eos_id)
    limit = log_probability_limit(scores)
    for row, peak in enumerate(scores.max(-1).tolist()):  # a NaN goes through
        if not -math.inf < peak <= limit and (needed is None or needed[row]):
            check_log_probabilities(call, row, peak, limit, dead_end=needed is not None)
    return scores.astype(np.promote_types(scores.dtype, np.float32), copy=False)
