"""A feed-forward network as a memory: facts stored by training, then a unit deleted.

A fact is a random key vector and the word that answers it. The network's output is compared with
the vectors of all answers; a fact is known if the right answer has the largest dot product. One
network also pays for what is active: the loss has the sum of its units (times ACTIVE) and the
squares of its matrices (times SQUARES), so that few units for a fact cost less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store

D_MODEL, FACTS, D_FF = 16, 50, 64
STEPS, RATE = 3000, 0.01
ACTIVE, SQUARES = 0.01, 1e-4


def feed_forward(x: Tensor, weights: list[Tensor], kept: Tensor | None = None) -> Tensor:
    """relu(x W_1 + b_1) W_2 + b_2; `kept` is 0 at each unit that was deleted."""
    w_1, b_1, w_2, b_2 = weights
    hidden = F.relu(x @ w_1 + b_1)
    return (hidden if kept is None else hidden * kept) @ w_2 + b_2


def start(widths: Sequence[int], seeds: int, rng: torch.Generator) -> list[Tensor]:
    """Weights (Glorot) and zero biases from width to width, the seed as their first axis."""
    weights: list[Tensor] = []
    for d_in, d_out in pairwise(widths):
        limit = math.sqrt(6 / (d_in + d_out))
        weights.append((2 * torch.rand((seeds, d_in, d_out), generator=rng) - 1) * limit)
        weights.append(torch.zeros(seeds, 1, d_out))
    return [w.requires_grad_() for w in weights]


def learn(
    weights: list[Tensor], keys: Tensor, answers: Tensor, table: Tensor, steps: int, pays: bool
) -> Tensor:
    """Train in place on all facts at once; which are known in the end, (seeds, facts)."""
    optimizer = torch.optim.Adam(weights, RATE)
    for _ in range(steps):
        scores = feed_forward(keys, weights) @ table.mT  # (seeds, facts, answers)
        loss = F.cross_entropy(scores.mT, answers, reduction="none").mean(dim=1).sum()
        if pays:
            active = F.relu(keys @ weights[0] + weights[1]).mean(dim=1).sum()
            loss = loss + ACTIVE * active + SQUARES * sum((w**2).sum() for w in weights[::2])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        return (feed_forward(keys, weights) @ table.mT).argmax(dim=-1) == answers


def delete_units(seeds: int, steps: int, width: int, pays: bool = False) -> dict[str, Any]:
    """Delete, for each fact, the unit that adds most to its answer: is it lost, and are others?"""
    rng = torch.Generator().manual_seed(0)
    keys = torch.randn(seeds, FACTS, D_MODEL, generator=rng)
    table = torch.randn(seeds, FACTS, D_MODEL, generator=rng)  # one answer for each fact
    answers = torch.arange(FACTS).expand(seeds, FACTS)
    weights = start((D_MODEL, width, D_MODEL), seeds, rng)
    known = learn(weights, keys, answers, table, steps, pays)
    w_1, b_1, w_2, _ = weights
    with torch.no_grad():
        hidden = F.relu(keys @ w_1 + b_1)  # (seeds, facts, width)
        first = (hidden * (table @ w_2.mT)).argmax(dim=-1, keepdim=True)
        kept = torch.ones(seeds, FACTS, width).scatter_(2, first, 0.0)  # a row for each deletion
        scores = feed_forward(keys[:, None], [w[:, None] for w in weights], kept[:, :, None])
        wrong = (scores @ table.mT[:, None]).argmax(dim=-1) != answers[:, None]
        own = wrong.diagonal(dim1=1, dim2=2)  # (seeds, facts)
        others = wrong.sum(dim=-1) - own.long()
        return {
            "known": int(known.sum()),
            "of": seeds * FACTS,
            "lost by its first unit, %": round(100 * float(own.float().mean())),
            "others lost by it": round(float(others.float().mean()), 1),
        }


def measure(small: bool = False) -> dict[str, Any]:
    """{"deleted": {d_ff: …}}; the last one pays for its active units. Means over the seeds."""
    torch.set_num_threads(1)
    seeds, steps = (1, 1000) if small else (5, STEPS)
    deleted = {str(w): delete_units(seeds, steps, w) for w in (16, D_FF)}
    deleted[f"{D_FF}, pays"] = delete_units(seeds, steps, D_FF, pays=True)
    return {"deleted": deleted}


def check(figures: dict[str, Any]) -> None:
    """One unit of 64 hardly ever holds a fact, unless it pays; one of 16 does, with others."""
    few, many, pays = figures["deleted"].values()
    assert many["known"] == many["of"]
    assert few["known"] >= 0.95 * few["of"]
    assert many["lost by its first unit, %"] <= 20
    assert few["lost by its first unit, %"] >= 60
    assert few["others lost by it"] > 2
    assert many["others lost by it"] < 0.5
    assert pays["lost by its first unit, %"] > many["lost by its first unit, %"]


if __name__ == "__main__":
    run_and_store("feed_forward_memory", measure)
