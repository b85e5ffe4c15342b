"""How often does training find the comparison? Networks of 1 to 32 units, 200 starts each.

All starts of one width are trained at once: their weights have the start as the first axis.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored import run_and_store

WIDTHS = (1, 2, 4, 8, 16, 32)
RATES = (0.01, 0.03)
LOWEST = {"−1 and 1": -1.0, "0 and 1": 0.0}  # how the two features are written
STEPS = 2000


def uniform(shape: tuple[int, ...], rng: torch.Generator) -> Tensor:
    """Glorot's start for (..., d_in, d_out): as `Linear` draws it."""
    limit = math.sqrt(6 / (shape[-2] + shape[-1]))
    return ((2 * torch.rand(shape, generator=rng) - 1) * limit).requires_grad_()


def train(width: int, rate: float, lowest: float, starts: int, steps: int) -> int:
    """How many starts of a hundred end with all four right, after Adam on the four."""
    rng = torch.Generator().manual_seed(width)
    w_1, w_2 = uniform((starts, 2, width), rng), uniform((starts, width, 1), rng)
    b_1 = torch.zeros(starts, 1, width, requires_grad=True)
    b_2 = torch.zeros(starts, 1, 1, requires_grad=True)
    x = torch.tensor([[lowest, lowest], [lowest, 1], [1, 1], [1, lowest]])  # (4, 2)
    answers = torch.tensor([0.0, 1, 0, 1]).expand(starts, 4)
    optimizer = torch.optim.Adam([w_1, b_1, w_2, b_2], rate)
    for _ in range(steps):
        logits = (F.relu(x @ w_1 + b_1) @ w_2 + b_2)[..., 0]  # (starts, 4)
        loss = F.binary_cross_entropy_with_logits(logits, answers, reduction="none")
        optimizer.zero_grad()
        loss.mean(dim=1).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    right = ((logits > 0) == (answers > 0)).all(dim=1)
    return round(100 * float(right.float().mean()))


def measure(small: bool = False) -> dict[str, Any]:
    """{how features are written: {width: {rate: starts of a hundred with four right}}}."""
    torch.set_num_threads(1)
    starts, steps = (50, 400) if small else (200, STEPS)
    return {
        written: {
            str(width): {str(rate): train(width, rate, lowest, starts, steps) for rate in RATES}
            for width in WIDTHS
        }
        for written, lowest in LOWEST.items()
    }


def check(figures: dict[str, Any]) -> None:
    """One unit never solves it, two solve it in fewer than half, sixteen nearly always."""
    for widths in figures.values():
        assert max(widths["1"].values()) == 0
        for rate in widths["2"]:
            assert 5 <= widths["2"][rate] <= 50
            assert widths["2"][rate] + 10 < widths["4"][rate] < widths["16"][rate]
            assert widths["16"][rate] >= 90


if __name__ == "__main__":
    run_and_store("feed_forward_starts", measure)
