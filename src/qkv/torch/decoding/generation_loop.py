"""The autoregressive loop of greedy decoding and sampling: token by token, until all end."""

from collections.abc import Callable

import torch
from torch import Tensor

from qkv.decoding import fill_id, keeps_cache
from qkv.torch.decoding.step_function import StepFunction, next_log_probs

__all__ = ["generate"]


def generate(
    call: str,
    step: StepFunction,
    prefixes: Tensor,
    choose: Callable[[Tensor, Tensor], Tensor],
    eos_id: int | None,
    max_new_tokens: int,
    pad_id: int | None,
) -> tuple[Tensor, Tensor]:
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
    unfinished = torch.ones(B, dtype=torch.bool, device=tokens.device)
    rows = torch.arange(B, device=tokens.device)  # the sentences that the step sees, N of them
    parents = None
    sums = torch.zeros(B, dtype=torch.float32, device=tokens.device)
    for _ in range(max_new_tokens):
        needed = unfinished[rows]
        log_probs = next_log_probs(call, step, tokens[rows], parents, eos_id, needed)  # (N, V)
        chosen = choose(log_probs, rows)  # (N,)
        gains = log_probs.new_zeros(B)
        gains[rows] = log_probs.gather(1, chosen[:, None])[:, 0]
        sums = torch.where(unfinished, sums + gains, sums)
        new_tokens = tokens.new_full((B,), pad)
        new_tokens[rows] = chosen.to(tokens.dtype).masked_fill(~needed, pad)
        tokens = torch.cat([tokens, new_tokens[:, None]], 1)  # (B, t + 1)
        if eos_id is not None:
            unfinished &= new_tokens != eos_id
        if not unfinished.any():
            break
        parents = unfinished[rows].nonzero()[:, 0] if keeps_cache(step) else rows
        rows = rows[parents]
    return tokens, sums
