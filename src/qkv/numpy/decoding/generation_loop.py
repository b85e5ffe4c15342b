"""The autoregressive loop of greedy decoding and sampling: token by token, until all end."""

from collections.abc import Callable

import numpy as np

from qkv.decoding import has_kv_cache, resolve_pad_id
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
    (B, start), pad = prefixes.shape, resolve_pad_id(eos_id, pad_id)
    end = start + max_new_tokens
    tokens = np.full((B, end), pad, prefixes.dtype)
    tokens[:, :start] = prefixes
    rows = np.arange(B)  # the sentences that the step sees, N of them
    needed = np.ones(B, bool)  # (N,), which of these have not ended
    sums: Floats = np.zeros(B, np.float32)
    parents = None
    for length in range(start, end):
        prefixes = tokens[rows, :length]  # (N, t)
        log_probs = next_log_probs(call, step, prefixes, parents, eos_id, needed)  # (N, V)
        chosen = choose(log_probs, rows)  # (N,)
        gains = log_probs[np.arange(len(rows)), chosen]  # (N,)
        sums = sums.astype(log_probs.dtype, copy=False)
        sums[rows] += np.where(needed, gains, 0)
        tokens[rows, length] = np.where(needed, chosen, pad)
        if eos_id is not None:
            needed &= chosen != eos_id
            if not needed.any():
                break
        if has_kv_cache(step) and not needed.all():
            parents = np.flatnonzero(needed)
            rows, needed = rows[parents], needed[parents]
        else:
            parents = np.arange(len(rows))
    return tokens[:, : length + 1], sums
