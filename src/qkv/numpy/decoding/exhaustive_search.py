"""Exhaustive search: every sentence there is, to measure a search by where V is tiny."""

import numpy as np

from qkv.decoding import BeamHypotheses, best_sentences, length_normalizer, resolve_pad_id
from qkv.numpy.array_types import Floats, Ints
from qkv.numpy.checks import check_shapes
from qkv.numpy.decoding.step_function import StepFunction, next_log_probs
from qkv.shapes import check_count
from qkv.shapes.decoding import check_length_penalty, check_search

__all__ = ["exhaustive_search"]


def exhaustive_search(
    step: StepFunction,
    prefixes: Ints,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    length_penalty: float = 1.0,
    length_formula: str = "power",
    n_best: int = 1,
    pad_id: int | None = None,
) -> tuple[Ints, Floats]:
    """Exhaustive search: the sentences of the highest Σ log p / normalizer(length) of all.

    These are V^max_new_tokens where none ends earlier, and else fewer.

    Args:
        step: from prefixes to log-probabilities, see `step_function`; of the N rows of a call, as
            many belong to the first sentence as to each of the others, and they stand together.
        prefixes, eos_id, max_new_tokens, length_penalty, length_formula, n_best, pad_id: as for
            `beam_search`.
    Returns:
        (B, n_best, T) tokens and (B, n_best) scores, as `beam_search`.
    Raises:
        ValueError: an argument is out of its range, or the step returns what is not (N, V)
            log-probabilities.
    """
    call = "exhaustive_search"
    check_shapes(call, prefixes=(prefixes, "int B+ t+"))
    check_search(call, eos_id, max_new_tokens, pad_id)
    check_count(call, n_best=n_best)
    check_length_penalty(call, length_penalty, length_formula)
    B, start = prefixes.shape
    hypotheses = [BeamHypotheses(int(n_best)) for _ in range(B)]
    tokens, parents = prefixes[:, None], None  # (B, M, t)
    scores: Floats = np.zeros((B, 1), np.float32)  # (B, M)
    for length in range(1, max_new_tokens + 1):
        M, t = tokens.shape[1:]
        prefixes_so_far = tokens.reshape(B * M, t)
        log_probs = next_log_probs(call, step, prefixes_so_far, parents, eos_id)  # (B · M, V)
        V = log_probs.shape[1]
        scores = (scores[:, :, None] + log_probs.reshape(B, M, V)).reshape(B, M * V)  # (B, M · V)
        every_token = np.tile(np.arange(V, dtype=tokens.dtype), (B, M))[:, :, None]  # (B, M · V, 1)
        every_prefix = np.repeat(tokens, V, 1)  # (B, M · V, t)
        tokens = np.concatenate([every_prefix, every_token], 2)  # (B, M · V, t + 1)
        ends = np.tile(np.arange(V) == (-1 if eos_id is None else eos_id), M)  # (M · V,)
        finished = ends | (length == max_new_tokens)
        normalizer = length_normalizer(length, length_penalty, length_formula)
        for n in range(B):
            written = tokens[n, finished, start:].tolist()
            for score, sentence in zip(scores[n, finished].tolist(), written, strict=True):
                hypotheses[n].add(score / normalizer, sentence)
        tokens, scores = tokens[:, ~ends], scores[:, ~ends]
        parents = (np.arange(B)[:, None] * M + np.repeat(np.arange(M), V)[~ends]).reshape(-1)
    pad = resolve_pad_id(eos_id, pad_id)
    best, best_scores = best_sentences(hypotheses, int(n_best), prefixes.tolist(), pad)
    return np.array(best, prefixes.dtype), np.array(best_scores, scores.dtype)
