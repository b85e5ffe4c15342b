"""Beam search: the best few unfinished sentences, each extended by a token at a time."""

from typing import Literal

import torch
from torch import Tensor

from qkv.decoding import BeamScorer, best_sentences, has_kv_cache, resolve_pad_id
from qkv.shapes.decoding import check_beam_size, check_length_penalty, check_search
from qkv.torch.checks import check_shapes
from qkv.torch.decoding.stable_top_k import stable_top_k
from qkv.torch.decoding.step_function import StepFunction, next_log_probs

__all__ = ["beam_search"]


@torch.no_grad()
def beam_search(
    step: StepFunction,
    prefixes: Tensor,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    beam_size: int = 4,
    length_penalty: float = 1.0,
    length_formula: str = "power",
    early_stopping: bool | Literal["never"] = False,
    n_best: int = 1,
    pad_id: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Beam search for the sentences of the highest Σ log p / normalizer(length).

    As `qkv.numpy.beam_search`.
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
    device = prefixes.device
    tokens = prefixes.repeat_interleave(K, 0)  # (B · K, t)
    scores = torch.zeros((len(prefixes), K), dtype=torch.float32, device=device)  # (B, K)
    scores[:, 1:] = -torch.inf  # the same prefix again: whatever follows is no other sentence
    while True:
        log_probs = next_log_probs(call, step, tokens, parents, eos_id)  # (A · K, V)
        K, V = scores.shape[1], log_probs.shape[1]
        totals = (scores[:, :, None] + log_probs.reshape(-1, K, V)).reshape(-1, K * V)  # (A, K · V)
        sums, places = stable_top_k(totals, min(2 * beam_size, K * V))  # (A, C)
        beams = scorer.process(sums.tolist(), places.tolist(), K, V)
        if not scorer.searching:
            break
        # the A sentences that go on
        parents = torch.tensor(beams.parents, dtype=torch.long, device=device)  # (A · K,)
        appended = tokens.new_tensor(beams.tokens)[:, None]  # (A · K, 1)
        tokens = torch.cat([tokens[parents], appended], 1)  # (A · K, t + 1)
        scores = sums.new_tensor(beams.scores).reshape(len(scorer.sentences), -1)  # (A, K)
    pad = resolve_pad_id(eos_id, pad_id)
    best, best_scores = best_sentences(scorer.hypotheses, n_best, prefixes.tolist(), pad)
    return prefixes.new_tensor(best), sums.new_tensor(best_scores)
