"""The autoregressive loop of greedy decoding and sampling: token by token, until all end."""

from collections.abc import Callable

import numpy as np

from qkv.decoding import fill_id, keeps_cache
from qkv.numpy.array_types import Floats, Ints
from qkv.numpy.decoding.step_function import StepFunction, next_log_probs

__all__ = ["generate"]


def generate(
    call: str,
    step: StepFunction,
    prefixes: Ints,
    choose: Callable[[Floats, Ints], Ints],
    eos_id: int | None,
    max_new_tokens: int,
    pad_id: int | None,
) -> tuple[Ints, Floats]:
    """Append one token to each sentence until all have ended, or max_new_tokens are there.

    Args:
        call: the public function, for messages.
        choose: from log-probabilities (N, V), and the rows (N,) of the batch that they are about,
            to the next token of each, (N,).
        step, prefixes, eos_id, max_new_tokens, pad_id: as `greedy` takes them.
    Returns:
        (B, T) tokens, and (B,) sums of their log-probabilities.
    """
    pad = fill_id(eos_id, pad_id)
    B, tokens = len(prefixes), prefixes
    unfinished = np.ones(B, bool)
    rows = np.arange(B)  # the sentences that the step sees, N of them
    parents = None
    sums: Floats = np.zeros(B, np.float32)
    for _ in range(max_new_tokens):
        needed = unfinished[rows]
        log_probs = next_log_probs(call, step, tokens[rows], parents, eos_id, needed)  # (N, V)
        chosen = choose(log_probs, rows)  # (N,)
        gains = np.zeros(B, log_probs.dtype)
        gains[rows] = np.take_along_axis(log_probs, chosen[:, None], 1)[:, 0]
        sums = np.where(unfinished, sums + gains, sums)
        new_tokens = np.full(B, pad, tokens.dtype)
        new_tokens[rows] = np.where(needed, chosen, pad)
        tokens = np.concatenate([tokens, new_tokens[:, None]], 1)  # (B, t + 1)
        if eos_id is not None:
            unfinished &= new_tokens != eos_id
        if not unfinished.any():
            break
        parents = np.flatnonzero(unfinished[rows]) if keeps_cache(step) else rows
        rows = rows[parents]
    return tokens, sums
