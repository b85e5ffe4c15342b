"""The autoregressive loop of greedy decoding and sampling: token by token, until all end."""

from collections.abc import Callable

import torch
from torch import Tensor

from qkv.decoding import has_kv_cache, resolve_pad_id
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

    As `qkv.numpy.decoding.generation_loop.generate`.
    """
    (B, start), device = prefixes.shape, prefixes.device
    pad, end = resolve_pad_id(eos_id, pad_id), start + max_new_tokens
    tokens = torch.cat([prefixes, prefixes.new_full((B, max_new_tokens), pad)], 1)  # (B, end)
    rows = torch.arange(B, device=device)  # the sentences that the step sees, N of them
    needed = torch.ones(B, dtype=torch.bool, device=device)  # (N,), which of these have not ended
    sums = torch.zeros(B, dtype=torch.float32, device=device)
    parents = None
    for length in range(start, end):
        prefixes = tokens[rows, :length]  # (N, t)
        log_probs = next_log_probs(call, step, prefixes, parents, eos_id, needed)  # (N, V)
        chosen = choose(log_probs, rows)  # (N,)
        gains = log_probs.gather(1, chosen[:, None])[:, 0]  # (N,)
        sums = sums.to(log_probs.dtype).index_add(0, rows, gains.masked_fill(~needed, 0))
        tokens[rows, length] = chosen.to(tokens.dtype).masked_fill(~needed, pad)
        if eos_id is not None:
            needed &= chosen != eos_id
            if not needed.any():
                break
        if has_kv_cache(step) and not needed.all():
            parents = needed.nonzero()[:, 0]
            rows, needed = rows[parents], needed[parents]
        else:
            parents = torch.arange(len(rows), device=device)
    return tokens[:, : length + 1], sums
