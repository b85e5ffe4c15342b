"""Exhaustive search: every sentence there is, to measure a search by where V is tiny."""

import torch
from torch import Tensor

from qkv.decoding import BeamHypotheses, best_sentences, length_normalizer, resolve_pad_id
from qkv.shapes import check_count
from qkv.shapes.decoding import check_length_penalty, check_search
from qkv.torch.checks import check_shapes
from qkv.torch.decoding.step_function import StepFunction, next_log_probs

__all__ = ["exhaustive_search"]


@torch.no_grad()
def exhaustive_search(
    step: StepFunction,
    prefixes: Tensor,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    length_penalty: float = 1.0,
    length_formula: str = "power",
    n_best: int = 1,
    pad_id: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Exhaustive search: the sentences of the highest Σ log p / normalizer(length) of all.

    As `qkv.numpy.exhaustive_search`.
    """
    call = "exhaustive_search"
    check_shapes(call, prefixes=(prefixes, "int B+ t+"))
    check_search(call, eos_id, max_new_tokens, pad_id)
    check_count(call, n_best=n_best)
    check_length_penalty(call, length_penalty, length_formula)
    (B, start), device = prefixes.shape, prefixes.device
    hypotheses = [BeamHypotheses(int(n_best)) for _ in range(B)]
    tokens, parents = prefixes[:, None], None  # (B, M, t)
    scores = torch.zeros((B, 1), dtype=torch.float32, device=device)  # (B, M)
    for length in range(1, max_new_tokens + 1):
        M, t = tokens.shape[1:]
        prefixes_so_far = tokens.reshape(B * M, t)
        log_probs = next_log_probs(call, step, prefixes_so_far, parents, eos_id)  # (B · M, V)
        V = log_probs.shape[1]
        scores = (scores[:, :, None] + log_probs.reshape(B, M, V)).reshape(B, M * V)  # (B, M · V)
        ids = torch.arange(V, device=device)  # (V,)
        every_token = ids.to(tokens.dtype).repeat(B, M)[:, :, None]  # (B, M · V, 1)
        every_prefix = tokens.repeat_interleave(V, 1)  # (B, M · V, t)
        tokens = torch.cat([every_prefix, every_token], 2)  # (B, M · V, t + 1)
        ends = (ids == (-1 if eos_id is None else eos_id)).repeat(M)  # (M · V,)
        finished = ends | (length == max_new_tokens)
        normalizer = length_normalizer(length, length_penalty, length_formula)
        for n in range(B):
            written = tokens[n, finished, start:].tolist()
            for score, sentence in zip(scores[n, finished].tolist(), written, strict=True):
                hypotheses[n].add(score / normalizer, sentence)
        tokens, scores = tokens[:, ~ends], scores[:, ~ends]
        rows = torch.arange(B, device=device)[:, None] * M  # (B, 1)
        beams = torch.arange(M, device=device).repeat_interleave(V)[~ends]
        parents = (rows + beams).reshape(-1)
    pad = resolve_pad_id(eos_id, pad_id)
    best, best_scores = best_sentences(hypotheses, int(n_best), prefixes.tolist(), pad)
    return prefixes.new_tensor(best), scores.new_tensor(best_scores)
