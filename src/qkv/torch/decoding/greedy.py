"""Greedy decoding: the likeliest token at each step."""

import torch
from torch import Tensor

from qkv.shapes.decoding import check_search
from qkv.torch.checks import check_shapes
from qkv.torch.decoding.generation_loop import generate
from qkv.torch.decoding.step_function import StepFunction

__all__ = ["greedy"]


@torch.no_grad()
def greedy(
    step: StepFunction,
    prefixes: Tensor,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    pad_id: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Greedy decoding: take the likeliest token at each step; of equals, the lowest id.

    Args:
        step: from prefixes to log-probabilities, see `step_function`; called with B rows.
        prefixes: (B, t) integers, what each sentence begins with.
        eos_id: the token that ends; None for none.
        max_new_tokens: the most tokens after the prefix.
        pad_id: fills what is short; None means eos_id, or 0.
    Returns:
        (B, T) tokens, prefix and end among them, and (B,) sums of their log-probabilities.
    Raises:
        ValueError: an argument is out of its range, the step returns what is not (N, V)
            log-probabilities, or all tokens are impossible.
    """
    check_shapes("greedy", prefixes=(prefixes, "int B+ t+"))
    check_search("greedy", eos_id, max_new_tokens, pad_id)

    def most_likely(log_probs: Tensor, _: Tensor) -> Tensor:
        return log_probs.argmax(-1)  # (N,)

    return generate("greedy", step, prefixes, most_likely, eos_id, max_new_tokens, pad_id)
