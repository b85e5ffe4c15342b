"""Try everything: what a search is measured against, where the vocabulary is tiny."""

import numpy as np

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.decoding.finished import Finished, length_divisor
from qkv.numpy.decoding.steps import Ints, Step, next_scores
from qkv.shapes import check_count, check_penalty, check_prefixes

__all__ = ["brute_force"]


def brute_force(
    step: Step,
    prefixes: Ints,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    length_penalty: str = "power",
    alpha: float = 1.0,
    n_best: int = 1,
    pad_id: int | None = None,
) -> tuple[Ints, Floats]:
    """Find the sentences of the highest Σ log p / divisor(length) among all that there are.

    These are V^max_new_tokens where none ends earlier, and else fewer.

    Args:
        step: from prefixes to log-probabilities, see `steps`; of the N rows of a call, as many
            belong to the first sentence as to each of the others, and they stand together.
        prefixes, eos_id, max_new_tokens, length_penalty, alpha, n_best, pad_id: as for
            `beam_search`.
    Returns:
        (B, n_best, T) tokens and (B, n_best) scores, as `beam_search`.
    Raises:
        ValueError: an argument is out of its range, or the step returns what is not (N, V)
            log-probabilities.
    """
    call = "brute_force"
    check_prefixes(call, prefixes, eos_id, max_new_tokens, pad_id)
    check_count(call, n_best=n_best)
    check_penalty(call, length_penalty, alpha)
    B = len(prefixes)
    tokens, parents, finished = prefixes[:, None], None, None  # (B, M, t)
    scores: Floats = np.zeros((B, 1), np.float32)  # (B, M)
    for length in range(1, max_new_tokens + 1):
        M, t = tokens.shape[1:]
        new = next_scores(call, step, tokens.reshape(B * M, t), parents, eos_id)  # (B · M, V)
        V = new.shape[1]
        totals = (scores[:, :, None] + new.reshape(B, M, V)).reshape(B, M * V)  # (B, M · V)
        words = np.tile(np.arange(V, dtype=tokens.dtype), (B, M))[:, :, None]  # (B, M · V, 1)
        grown = np.concatenate([np.repeat(tokens, V, 1), words], 2)  # (B, M · V, t + 1)
        if finished is None:
            pad = (eos_id or 0) if pad_id is None else pad_id
            finished = Finished(prefixes, n_best, max_new_tokens, pad, totals)
        ends = np.tile(np.arange(V) == (-1 if eos_id is None else eos_id), M)  # (M · V,)
        done = ends | (length == max_new_tokens)
        means = totals[:, done] / length_divisor(length, length_penalty, alpha)
        finished.add(np.arange(B), grown[:, done], means)
        tokens, scores = grown[:, ~ends], totals[:, ~ends]
        parents = (np.arange(B)[:, None] * M + np.repeat(np.arange(M), V)[~ends]).reshape(-1)
    assert finished is not None  # for the type checker: max_new_tokens is at least 1
    return finished.best(n_best)
