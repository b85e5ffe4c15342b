"""Beam search: the best few unfinished sentences, each extended by a token at a time."""

from typing import Literal

import numpy as np

from qkv.decoding import BeamScorer, best_sentences, has_kv_cache, resolve_pad_id
from qkv.numpy.array_types import Floats, Ints
from qkv.numpy.checks import check_shapes
from qkv.numpy.decoding.stable_top_k import stable_top_k
from qkv.numpy.decoding.step_function import StepFunction, next_log_probs
from qkv.shapes.decoding import check_beam_size, check_length_penalty, check_search

__all__ = ["beam_search"]


def beam_search(
    step: StepFunction,
    prefixes: Ints,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    beam_size: int = 4,
    length_penalty: float = 1.0,
    length_formula: str = "power",
    early_stopping: bool | Literal["never"] = False,
    n_best: int = 1,
    pad_id: int | None = None,
) -> tuple[Ints, Floats]:
    """Beam search for the sentences of the highest Σ log p / normalizer(length).

    Of all continuations of all beams the best 2 · beam_size are looked at: those among the first
    beam_size that end are finished, the best beam_size of the others go on. Length counts the
    tokens after the prefix, the end among them. What has not ended after max_new_tokens competes as
    it stands. Of equals, the lower beam comes first, then the lower token id, then the older
    sentence.

    Args:
        step: from prefixes to log-probabilities, see `step_function`; called with B · beam_size
            rows.
        prefixes: (B, t) integers, what each sentence begins with.
        eos_id: the token that ends; None for none.
        max_new_tokens: the most tokens after the prefix.
        beam_size: unfinished sentences kept of each.
        length_penalty, length_formula: as `length_normalizer` takes them; with a penalty of 0 sums
            compare as they are, with 1 and "power" means.
        early_stopping: when a sentence is done. True: once beam_size of its hypotheses are
            finished. False: once no beam, divided as if it ended at its length, beats the worst of
            these. "never": once none can any more; where the penalty is above 0, that is divided as
            if it ended after max_new_tokens.
        n_best: how many to return of each, at most beam_size.
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
    check_shapes(call, prefixes=(prefixes, "int B+ t+"))
    check_search(call, eos_id, max_new_tokens, pad_id)
    check_beam_size(call, beam_size, n_best, early_stopping)
    check_length_penalty(call, length_penalty, length_formula)
    beam_size, n_best = int(beam_size), int(n_best)
    cached = has_kv_cache(step)
    scorer = BeamScorer(
        len(prefixes),
        beam_size,
        eos_id,
        max_new_tokens,
        length_penalty,
        length_formula,
        early_stopping,
        drop_finished=cached,
    )
    K, parents = 1 if cached else beam_size, None
    tokens = np.repeat(prefixes, K, 0)  # (B · K, t)
    scores: Floats = np.zeros((len(prefixes), K), np.float32)  # (B, K)
    scores[:, 1:] = -np.inf  # the same prefix again: whatever follows is no other sentence
    while True:
        log_probs = next_log_probs(call, step, tokens, parents, eos_id)  # (A · K, V)
        K, V = scores.shape[1], log_probs.shape[1]
        totals = (scores[:, :, None] + log_probs.reshape(-1, K, V)).reshape(-1, K * V)  # (A, K · V)
        sums, places = stable_top_k(totals, min(2 * beam_size, K * V))  # (A, C)
        beams = scorer.process(sums.tolist(), places.tolist(), K, V)
        if not scorer.searching:
            break
        parents = np.array(beams.parents, np.intp)  # (A · K,), of the A sentences that go on
        appended = np.array(beams.tokens, tokens.dtype)[:, None]  # (A · K, 1)
        tokens = np.concatenate([tokens[parents], appended], 1)  # (A · K, t + 1)
        scores = np.array(beams.scores, sums.dtype).reshape(len(scorer.sentences), -1)  # (A, K)
    pad = resolve_pad_id(eos_id, pad_id)
    best, best_scores = best_sentences(scorer.hypotheses, n_best, prefixes.tolist(), pad)
    return np.array(best, prefixes.dtype), np.array(best_scores, sums.dtype)
