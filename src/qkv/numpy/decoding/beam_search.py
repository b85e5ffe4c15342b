"""Beam search: keep the best few beginnings, and take each one token on."""

from typing import Literal

import numpy as np

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.decoding.finished import Finished, length_divisor
from qkv.numpy.decoding.steps import Ints, Step, best_of, keeps_cache, next_scores
from qkv.shapes import check_beams, check_penalty, check_prefixes

__all__ = ["beam_search"]


def beam_search(
    step: Step,
    prefixes: Ints,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    beams: int = 4,
    length_penalty: str = "power",
    alpha: float = 1.0,
    early_stopping: bool | Literal["never"] = False,
    n_best: int = 1,
    pad_id: int | None = None,
) -> tuple[Ints, Floats]:
    """Search for the sentences of the highest Σ log p / divisor(length), a few beams at a time.

    Of all continuations of all beams the best 2 · beams are looked at: those among the first
    `beams` that end are finished, the best `beams` of the others go on. Length counts the tokens
    after the prefix, the end among them. What has not ended after `max_new_tokens` competes as it
    stands. Of equals, the lower beam comes first, then the lower token id, then the older sentence.

    Args:
        step: from prefixes to log-probabilities, see `steps`; called with B · beams rows.
        prefixes: (B, t) integers, what each sentence begins with.
        eos_id: the token that ends; None for none.
        max_new_tokens: the most tokens after the prefix.
        beams: beginnings kept of each sentence.
        length_penalty, alpha: as `length_divisor` takes them.
        early_stopping: when a sentence is done. True: once `beams` of its sentences are finished.
            False: once no beam, divided as if it ended at its length, beats the worst of these.
            "never": once none can any more; where α > 0, that is divided as if it ended after
            max_new_tokens.
        n_best: how many to return of each, at most `beams`.
        pad_id: fills what is short; None means eos_id, or 0.
    Returns:
        (B, n_best, T) tokens, prefix and end among them, and (B, n_best) scores, both from the best
        down. Where there are fewer, a row of pad_id with the score −∞.
    Raises:
        ValueError: an argument is out of its range, or the step returns what is not (N, V)
            log-probabilities.
    Source: Sutskever et al. 2014, section 3.2; rules to stop: Hugging Face's `generate`.
    """
    call = "beam_search"
    check_prefixes(call, prefixes, eos_id, max_new_tokens, pad_id)
    check_beams(call, beams, n_best, early_stopping)
    check_penalty(call, length_penalty, alpha)
    beams, n_best = int(beams), int(n_best)
    cached = keeps_cache(step)
    tokens = np.repeat(prefixes[:, None], 1 if cached else beams, 1)  # (B, K, t)
    scores: Floats = np.zeros(tokens.shape[:2], np.float32)  # (B, K)
    scores[:, 1:] = -np.inf  # the same prefix again: whatever follows is no other sentence
    # the sentences that the step sees, A of them
    rows = np.arange(len(prefixes))
    searching = np.ones(len(rows), bool)
    parents = finished = None
    for length in range(1, max_new_tokens + 1):
        # all continuations
        A, K, t = tokens.shape
        new = next_scores(call, step, tokens.reshape(A * K, t), parents, eos_id)  # (A · K, V)
        V = new.shape[1]
        every = scores[:, :, None] + new.reshape(A, K, V)  # (A, K, V)
        totals, at = best_of(every.reshape(A, K * V), min(2 * beams, K * V))  # (A, C)
        beam, words = np.divmod(at, V)  # (A, C)
        grown = np.take_along_axis(tokens, beam[:, :, None], 1)  # (A, C, t)
        grown = np.concatenate([grown, words[:, :, None].astype(tokens.dtype)], 2)  # (A, C, t + 1)

        # those that end
        ends = np.full(words.shape, length == max_new_tokens) if eos_id is None else words == eos_id
        ends |= length == max_new_tokens
        if finished is None:
            pad = (eos_id or 0) if pad_id is None else pad_id
            finished = Finished(prefixes, beams, max_new_tokens, pad, totals)
        enter = ends & searching[:, None]
        enter[:, beams:] = False
        means = totals / length_divisor(length, length_penalty, alpha)
        finished.add(rows, grown, np.where(enter, means, -np.inf))

        # those that go on
        going = np.where(ends, -np.inf, totals)
        scores, at = best_of(going, min(beams, going.shape[1]))  # (A, K)
        tokens = np.take_along_axis(grown, at[:, :, None], 1)  # (A, K, t + 1)
        beam = np.take_along_axis(beam, at, 1)  # (A, K)

        # the sentences that are done
        assumed = max_new_tokens if early_stopping == "never" and alpha > 0 else length
        hope = scores[:, 0] / length_divisor(assumed, length_penalty, alpha)
        worst = finished.scores[rows].min(1)  # −∞ while a place is free
        searching &= hope > worst
        if early_stopping is True:
            searching &= np.isneginf(worst)
        if not searching.any():
            break
        kept = searching if cached else np.ones_like(searching)
        parents = (np.arange(A)[:, None] * K + beam)[kept].reshape(-1)
        rows, searching = rows[kept], searching[kept]
        tokens, scores = tokens[kept], scores[kept]
    assert finished is not None  # for the type checker: max_new_tokens is at least 1
    return finished.best(n_best)
