"""How often does training find XOR of two features? Networks of 1 to 16 units, 200 starts each.

The answer is read from the hidden layer alone; in rows with "x added" also from x, as behind a
residual connection. All starts of one width are
trained at once: their weights have the start as the first axis.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store

WIDTHS = (1, 2, 4, 8, 16)
ROWS = {  # activation, the lower value of a feature, how weights start, rate
    "ReLU": ("relu", -1.0, "Glorot", 0.01),
    "ReLU, 0 and 1": ("relu", 0.0, "Glorot", 0.01),
    "ReLU, rate 0.03": ("relu", -1.0, "Glorot", 0.03),
    "ReLU, PyTorch": ("relu", -1.0, "PyTorch", 0.01),
    "GELU": ("gelu", -1.0, "Glorot", 0.01),
    "GELU, 0 and 1": ("gelu", 0.0, "Glorot", 0.01),
    "ReLU, x added": ("relu", -1.0, "Glorot", 0.01),
    "ReLU, 0 and 1, x added": ("relu", 0.0, "Glorot", 0.01),
    "ReLU, PyTorch, x added": ("relu", -1.0, "PyTorch", 0.01),
}
STEPS = 2000


def uniform(shape: tuple[int, ...], limit: float, rng: torch.Generator) -> Tensor:
    """Numbers between −limit and limit that can be trained."""
    return ((2 * torch.rand(shape, generator=rng) - 1) * limit).requires_grad_()


def start(width: int, kind: str, starts: int, rng: torch.Generator) -> list[Tensor]:
    """W_1, b_1, W_2, b_2 as Glorot starts them (biases 0), or as `torch.nn.Linear` does."""
    parameters = []
    for d_in, d_out in ((2, width), (width, 1)):
        glorot = kind == "Glorot"
        limit = math.sqrt(6 / (d_in + d_out)) if glorot else 1 / math.sqrt(d_in)
        parameters.append(uniform((starts, d_in, d_out), limit, rng))
        parameters.append(uniform((starts, 1, d_out), 0 if glorot else limit, rng))
    return parameters


def train(row: str, width: int, starts: int, steps: int) -> tuple[Tensor, Tensor]:
    """How many are right in the end, of each start; and which have a unit that is 0 for all four.

    The path from x to the answer, where there is one, begins at 0.
    """
    activation, lowest, kind, rate = ROWS[row]
    bend = F.relu if activation == "relu" else F.gelu
    w_1, b_1, w_2, b_2 = parameters = start(
        width, kind, starts, torch.Generator().manual_seed(width)
    )
    x = torch.tensor([[lowest, lowest], [lowest, 1], [1, 1], [1, lowest]])  # (4, 2)
    answers = torch.tensor([0.0, 1, 0, 1]).expand(starts, 4)
    past = torch.zeros(starts, 2, 1, requires_grad="x added" in row)
    trained = [*parameters, past] if past.requires_grad else parameters
    optimizer = torch.optim.Adam(trained, rate)
    for _ in range(steps):
        logits = (bend(x @ w_1 + b_1) @ w_2 + b_2 + x @ past)[..., 0]  # (starts, 4)
        loss = F.binary_cross_entropy_with_logits(logits, answers, reduction="none")
        optimizer.zero_grad()
        loss.mean(dim=1).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    right = ((logits > 0) == (answers > 0)).sum(dim=1)
    dead = (x @ w_1 + b_1 <= 0).all(dim=1).any(dim=1)
    return right, dead


def measure(small: bool = False) -> dict[str, Any]:
    """{"solved": {row: {width: % of the starts}}, "two units": {row: starts that failed}}."""
    torch.set_num_threads(1)
    starts, steps = (50, 400) if small else (200, STEPS)
    solved: dict[str, Any] = {}
    two: dict[str, Any] = {}
    for row in ROWS:
        solved[row] = {}
        for width in WIDTHS:
            right, dead = train(row, width, starts, steps)
            solved[row][str(width)] = round(100 * float((right == 4).float().mean()))
            if width == 2 and row.startswith("ReLU") and "added" not in row:
                two[row] = {
                    "failed": int((right < 4).sum()),
                    "three right": int((right == 3).sum()),
                    "with a dead unit": int(((right < 4) & dead).sum()),
                }
    return {"solved": solved, "two units": two}


def check(figures: dict[str, Any]) -> None:
    """Few ReLU units often fail, sixteen hardly ever; GELU needs fewer; some failures are dead."""
    for row, widths in figures["solved"].items():
        if "added" in row:
            assert widths["1"] >= 20
            assert widths["2"] >= 60
        elif row.startswith("ReLU"):
            assert widths["1"] == 0
            assert 5 <= widths["2"] <= 50
            assert widths["2"] + 10 < widths["4"] <= widths["16"]
        else:
            assert widths["2"] >= 80
        assert widths["16"] >= 90
    for of in figures["two units"].values():
        assert 0 < of["with a dead unit"] < of["failed"]
    shares = [of["with a dead unit"] / of["failed"] for of in figures["two units"].values()]
    assert shares[0] < 0.5 < shares[1]


if __name__ == "__main__":
    run_and_store("feed_forward_starts", measure)
