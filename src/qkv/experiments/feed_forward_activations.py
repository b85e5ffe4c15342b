"""ReLU, GELU and SwiGLU with equally many parameters, on three small tasks, over paired seeds.

One task is to store facts (random vectors with random answers). The others are to learn a smooth
function from examples, with new examples as the test; the first of them is odd, f(−x) = −f(x).
Every activation has its best of four rates, chosen by its mean over the seeds.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store

D_MODEL = 16
WIDTHS = {"relu": 48, "gelu": 48, "gelu_tanh": 48, "swiglu": 32}  # 2 · 48 = 3 · 32 matrices' widths
RATES = (0.003, 0.01, 0.03, 0.1)
PAIRS = (("gelu", "relu"), ("swiglu", "relu"), ("swiglu", "gelu"), ("gelu_tanh", "gelu"))


def network(x: Tensor, weights: list[Tensor], activation: str) -> Tensor:
    """Without biases: activation(x W_1) W_2, or (silu(x W_gate) · (x W_1)) W_2."""
    w_1, w_2 = weights[0], weights[1]
    hidden = x @ w_1
    if activation == "swiglu":
        return (F.silu(x @ weights[2]) * hidden) @ w_2
    if activation == "relu":
        return F.relu(hidden) @ w_2
    return F.gelu(hidden, approximate="tanh" if activation == "gelu_tanh" else "none") @ w_2


def start(activation: str, seeds: int) -> list[Tensor]:
    """Glorot's start of W_1, W_2 and, for SwiGLU, W_gate, the seed as the first axis."""
    rng = torch.Generator().manual_seed(7)
    width = WIDTHS[activation]
    limit = math.sqrt(6 / (D_MODEL + width))
    shapes = [(seeds, D_MODEL, width), (seeds, width, D_MODEL)]
    shapes += [(seeds, D_MODEL, width)] if activation == "swiglu" else []
    drawn = [(2 * torch.rand(shape, generator=rng) - 1) * limit for shape in shapes]
    return [w.requires_grad_() for w in drawn]


def facts(seeds: int) -> dict[str, Tensor]:
    """800 random vectors with one of 50 answers each; those seen are those tested."""
    rng = torch.Generator().manual_seed(1)
    x = torch.randn(seeds, 800, D_MODEL, generator=rng)
    answers = torch.randint(0, 50, (seeds, 800), generator=rng)
    return {"x": x, "y": answers, "table": torch.randn(seeds, 50, D_MODEL, generator=rng)}


def smooth(seeds: int, shifted: bool) -> dict[str, Tensor]:
    """1,000 examples of a random function sin(x A + c) B, and 500 more as the test."""
    rng = torch.Generator().manual_seed(2)
    x = torch.randn(seeds, 1500, D_MODEL, generator=rng)
    a = torch.randn(seeds, D_MODEL, 24, generator=rng) / math.sqrt(D_MODEL)
    b = torch.randn(seeds, 24, D_MODEL, generator=rng) / math.sqrt(12)
    c = 3 * torch.randn(seeds, 1, 24, generator=rng) if shifted else 0.0
    y = torch.sin(x @ a + c) @ b
    return {"x": x[:, :1000], "y": y[:, :1000], "new x": x[:, 1000:], "new y": y[:, 1000:]}


def train(task: dict[str, Tensor], activation: str, rate: float, steps: int) -> Tensor:
    """The error of each seed in the end: share of facts not known, or mean squared error."""
    seeds = len(task["x"])
    weights = start(activation, seeds)
    optimizer = torch.optim.Adam(weights, rate)
    for _ in range(steps):
        out = network(task["x"], weights, activation)
        if "table" in task:
            scores = out @ task["table"].mT
            loss = F.cross_entropy(scores.mT, task["y"], reduction="none").mean(dim=1)
        else:
            loss = ((out - task["y"]) ** 2).mean(dim=(1, 2))
        optimizer.zero_grad()
        loss.sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        if "table" in task:
            scores = network(task["x"], weights, activation) @ task["table"].mT
            return (scores.argmax(dim=-1) != task["y"]).float().mean(dim=1)
        new = network(task["new x"], weights, activation)
        return ((new - task["new y"]) ** 2).mean(dim=(1, 2))


def measure(small: bool = False) -> dict[str, Any]:
    """{task: {"parameters", "errors": {activation: mean}, "wins": {pair: seeds of `seeds`}}}."""
    torch.set_num_threads(1)
    seeds, steps = (2, 30) if small else (20, 600)
    figures: dict[str, Any] = {}
    tasks = {"facts": facts(seeds), "waves": smooth(seeds, shifted=False)}
    tasks["shifted waves"] = smooth(seeds, shifted=True)
    for name, task in tasks.items():
        best: dict[str, Tensor] = {}
        rates: dict[str, float] = {}
        for activation in WIDTHS:
            runs = {rate: train(task, activation, rate, steps) for rate in RATES}
            rates[activation] = min(runs, key=lambda rate: float(runs[rate].mean()))
            best[activation] = runs[rates[activation]]
        figures[name] = {
            "seeds": seeds,
            "parameters": {a: sum(w[0].numel() for w in start(a, 1)) for a in WIDTHS},
            "rates": rates,
            "errors": {a: round(float(e.mean()), 3) for a, e in best.items()},
            "wins": {f"{a} < {b}": int((best[a] < best[b]).sum()) for a, b in PAIRS},
        }
    return figures


def check(figures: dict[str, Any]) -> None:
    """Equal parameters; what wins is stored, and no more than that is said."""
    for task in figures.values():
        assert set(task["parameters"].values()) == {2 * D_MODEL * 48}
        assert all(0 <= wins <= task["seeds"] for wins in task["wins"].values())


if __name__ == "__main__":
    run_and_store("feed_forward_activations", measure)
