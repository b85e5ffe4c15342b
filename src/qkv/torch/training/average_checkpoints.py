"""Averaging the parameters of checkpoints."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from qkv.torch.checks import check_checkpoints

__all__ = ["average_checkpoints"]


@torch.no_grad()
def average_checkpoints(states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Average the parameters of checkpoints; sums are float64, so that none is lost in them.

    As `qkv.numpy.average_checkpoints`.

    The new state is on the device of the first.
    """
    check_checkpoints("average_checkpoints", states)
    average = {}
    for name, first in states[0].items():
        total = torch.zeros(first.shape, dtype=torch.float64)  # in memory: not every device has it
        for state in states:
            total += state[name].cpu()
        average[name] = (total / len(states)).to(first.device, first.dtype)
    return average
