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

    As `qkv.numpy.greedy`.
    """
    check_shapes("greedy", prefixes=(prefixes, "int B+ t+"))
    check_search("greedy", eos_id, max_new_tokens, pad_id)

    def most_likely(log_probs: Tensor, _: Tensor) -> Tensor:
        return log_probs.argmax(-1)  # (N,)

    return generate("greedy", step, prefixes, most_likely, eos_id, max_new_tokens, pad_id)
