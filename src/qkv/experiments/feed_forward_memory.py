"""A feed-forward network as a memory: facts stored by training, one unit deleted, and capacity.

A fact is a random key vector and the word that answers it. The network's output is compared with
the vectors of all answers; a fact is known if the right answer has the largest dot product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store

Network: TypeAlias = Callable[[Tensor, list[Tensor]], Tensor]
D_MODEL, FACTS, D_FF = 16, 50, 64
WIDTHS = (8, 16, 32, 64)
MANY, ANSWERS, STEPS, RATE = 500, 50, 1500, 0.01


def feed_forward(x: Tensor, weights: list[Tensor], kept: Tensor | None = None) -> Tensor:
    """relu(x W_1 + b_1) W_2 + b_2; `kept` is 0 at each unit that was deleted."""
    w_1, b_1, w_2, b_2 = weights
    hidden = F.relu(x @ w_1 + b_1)
    return (hidden if kept is None else hidden * kept) @ w_2 + b_2


def deeper(x: Tensor, weights: list[Tensor]) -> Tensor:
    """The rival: two hidden layers, both with ReLU."""
    w_1, b_1, w_2, b_2, w_3, b_3 = weights
    return F.relu(F.relu(x @ w_1 + b_1) @ w_2 + b_2) @ w_3 + b_3


def linear(x: Tensor, weights: list[Tensor]) -> Tensor:
    """W_1 and W_2 without an activation: one matrix."""
    w_1, b_1, w_2, b_2 = weights
    return (x @ w_1 + b_1) @ w_2 + b_2


def start(widths: Sequence[int], seeds: int, rng: torch.Generator) -> list[Tensor]:
    """Weights (Glorot) and zero biases from width to width, the seed as their first axis."""
    weights: list[Tensor] = []
    for d_in, d_out in pairwise(widths):
        limit = math.sqrt(6 / (d_in + d_out))
        weights.append((2 * torch.rand((seeds, d_in, d_out), generator=rng) - 1) * limit)
        weights.append(torch.zeros(seeds, 1, d_out))
    return [w.requires_grad_() for w in weights]


def count(widths: Sequence[int]) -> int:
    """Parameters of a network with these widths."""
    return sum((d_in + 1) * d_out for d_in, d_out in pairwise(widths))


def rival_width(parameters: int) -> int:
    """The width of both hidden layers of the rival, with at most so many parameters."""
    width = 1
    while count((D_MODEL, width + 1, width + 1, D_MODEL)) <= parameters:
        width += 1
    return width


def learn(
    network: Network,
    weights: list[Tensor],
    keys: Tensor,
    answers: Tensor,
    table: Tensor,
    steps: int,
    rate: float,
) -> Tensor:
    """Train in place on all facts at once; which are known in the end, (seeds, facts)."""
    optimizer = torch.optim.Adam(weights, rate)
    for _ in range(steps):
        scores = network(keys, weights) @ table.mT  # (seeds, facts, answers)
        loss = F.cross_entropy(scores.mT, answers, reduction="none").mean(dim=1).sum()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        return (network(keys, weights) @ table.mT).argmax(dim=-1) == answers


def delete_units(seeds: int, steps: int, width: int) -> dict[str, Any]:
    """Delete, for each fact, the units that add most to its answer, until the fact is lost."""
    rng = torch.Generator().manual_seed(0)
    keys = torch.randn(seeds, FACTS, D_MODEL, generator=rng)
    table = torch.randn(seeds, FACTS, D_MODEL, generator=rng)  # one answer for each fact
    answers = torch.arange(FACTS).expand(seeds, FACTS)
    weights = start((D_MODEL, width, D_MODEL), seeds, rng)
    known = learn(feed_forward, weights, keys, answers, table, steps, RATE)
    w_1, b_1, w_2, _ = weights
    with torch.no_grad():
        hidden = F.relu(keys @ w_1 + b_1)  # (seeds, facts, width)
        order = (hidden * (table @ w_2.mT)).argsort(dim=-1, descending=True)
        needed, others = torch.zeros(seeds, FACTS), torch.zeros(seeds, FACTS)
        one_is_enough, others_of_one = 0.0, 0.0
        for deleted in range(1, width + 1):
            kept = torch.ones(seeds, FACTS, width)  # (seeds, the fact that is deleted, width)
            kept.scatter_(2, order[..., :deleted], 0.0)
            scores = feed_forward(keys[:, None], [w[:, None] for w in weights], kept[:, :, None])
            wrong = (scores @ table.mT[:, None]).argmax(dim=-1) != answers[:, None]
            own = wrong.diagonal(dim1=1, dim2=2)  # (seeds, facts)
            now = own & (needed == 0)
            needed[now] = deleted
            others[now] = wrong.sum(dim=-1)[now].float() - 1
            if deleted == 1:
                one_is_enough = float(own.float().mean())
                others_of_one = float((wrong.sum(dim=-1) - own.long()).float().mean())
        return {
            "known": int(known.sum()),
            "of": seeds * FACTS,
            "lost by its first unit, %": round(100 * one_is_enough),
            "others lost by it": round(others_of_one, 1),
            "units until lost": round(float(needed.mean()), 1),
            "others lost by then": round(float(others.mean()), 1),
        }


def capacity(seeds: int, steps: int) -> dict[str, Any]:
    """Known facts of MANY, by width, and those of rivals with no more parameters."""
    rng = torch.Generator().manual_seed(1)
    keys = torch.randn(seeds, MANY, D_MODEL, generator=rng)
    table = torch.randn(seeds, ANSWERS, D_MODEL, generator=rng)
    answers = torch.randint(0, ANSWERS, (seeds, MANY), generator=rng)
    figures: dict[str, Any] = {}
    for width in WIDTHS:
        widths = (D_MODEL, width, D_MODEL)
        narrow = rival_width(count(widths))
        rival = (D_MODEL, narrow, narrow, D_MODEL)
        models: dict[str, tuple[Network, Sequence[int]]] = {
            "network": (feed_forward, widths),
            "without activation": (linear, widths),
            "two hidden layers": (deeper, rival),
        }
        figures[str(width)] = {"parameters": count(widths), "rival's": count(rival)}
        for name, (network, sizes) in models.items():
            best = max(
                learn(network, start(sizes, seeds, rng), keys, answers, table, steps, rate)
                .sum(dim=1)
                .float()
                .mean()
                .item()
                for rate in (0.003, 0.01, 0.03)
            )
            figures[str(width)][name] = round(best)
    return figures


def measure(small: bool = False) -> dict[str, Any]:
    """{"deleted": {d_ff: …}, "capacity": {width: …}}; facts are means over the seeds."""
    torch.set_num_threads(1)
    seeds, steps = (1, 150) if small else (5, STEPS)
    deleted = {str(w): delete_units(seeds, 2 * steps, w) for w in (16, D_FF)}
    return {"deleted": deleted, "capacity": capacity(seeds, steps)}


def check(figures: dict[str, Any]) -> None:
    """One unit of 64 hardly ever holds a fact; one of 16 does, with others; width holds facts."""
    few, many = figures["deleted"]["16"], figures["deleted"][str(D_FF)]
    assert many["known"] == many["of"]
    assert few["known"] >= 0.95 * few["of"]
    assert many["lost by its first unit, %"] <= 20
    assert many["units until lost"] > 2
    assert few["lost by its first unit, %"] >= 60
    assert few["others lost by it"] > 2
    assert many["others lost by it"] < 0.5
    known = [figures["capacity"][str(width)] for width in WIDTHS]
    assert all(a["network"] < b["network"] for a, b in pairwise(known))
    for of in known:
        assert 0.3 < of["two hidden layers"] / of["network"] < 1.3  # 0.5 to 1.2 as far as seen
        assert of["rival's"] <= of["parameters"]
        assert of["without activation"] < of["network"]


if __name__ == "__main__":
    run_and_store("feed_forward_memory", measure)
