"""Post-norm and pre-norm trained with and without warm-up, at several learning rates and seeds.

The task: read eight random tokens, write them in reverse order. The model: a stack of encoder
layers, Adam, one learning rate that is constant or rises linearly over the first steps.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import qkv.torch as qt

Figures = dict[str, Any]

VOCABULARY, LENGTH, WIDTH, HEADS, HIDDEN = 16, 8, 32, 4, 64
GUESSING = math.log(VOCABULARY)  # the loss of a model that says 1/16 for every token
LEARNT = 0.5 * GUESSING
PLACEMENTS = ("post", "pre")


class Reverser(nn.Module):
    """Tokens and their positions, encoder layers, for pre-norm a final norm, and logits."""

    def __init__(self, layers: int, placement: str) -> None:
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(VOCABULARY, WIDTH))
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH))
        self.layers = nn.ModuleList(
            qt.EncoderLayer(WIDTH, HEADS, HIDDEN, norm_first=placement == "pre")
            for _ in range(layers)
        )
        self.norm = qt.LayerNorm(WIDTH) if placement == "pre" else nn.Identity()
        self.logits = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids: Tensor) -> Tensor:
        """ids: (B, T) -> logits (B, T, V)."""
        x = self.tokens[ids] + self.places  # (B, T, d_model)
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.logits(self.norm(x))  # (B, T, V)
        return logits


def final_loss(
    placement: str, rate: float, warm_up: int, seed: int, *, layers: int, steps: int
) -> float:
    """Train one model; the mean loss of its last twenty steps, in nats per token."""
    torch.manual_seed(seed)
    model = Reverser(layers, placement)
    adam = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    losses = []
    for step in range(1, steps + 1):
        for group in adam.param_groups:
            group["lr"] = rate * min(1.0, step / warm_up) if warm_up else rate
        ids = torch.randint(VOCABULARY, (32, LENGTH))  # (B, T)
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flip(1).flatten())
        adam.zero_grad()
        torch.autograd.backward(loss)
        adam.step()
        losses.append(loss.item())
    return sum(losses[-20:]) / 20


def measure(small: bool = False) -> Figures:
    """Final losses by depth, placement and warm-up: one row a learning rate, one number a seed."""
    rates = [1e-2] if small else [3e-4, 1e-3, 3e-3, 1e-2]
    seeds = range(1 if small else 3)
    depths = [6] if small else [2, 8]
    steps, warm_up = (45, 15) if small else (500, 100)

    def losses(placement: str, layers: int, first: int) -> list[list[float]]:
        runs = [
            [final_loss(placement, rate, first, s, layers=layers, steps=steps) for s in seeds]
            for rate in rates
        ]
        return [[round(loss, 4) for loss in row] for row in runs]

    return {
        "layers": depths,
        "steps": steps,
        "warm_up": warm_up,
        "rates": rates,
        "seeds": len(seeds),
        "guessing": round(GUESSING, 4),
        "constant": {p: [losses(p, n, 0) for n in depths] for p in PLACEMENTS},
        "warmed": {p: [losses(p, n, warm_up) for n in depths] for p in PLACEMENTS},
    }


def learnt(losses: list[float]) -> bool:
    """Whether every seed got below half of the loss of guessing."""
    return max(losses) < LEARNT


def check(figures: Figures) -> None:
    """What the chapter says; a small run has too few steps for all of it."""
    constant, warmed = figures["constant"], figures["warmed"]
    post, pre = constant["post"][-1], constant["pre"][-1]
    assert min(post[-1]) > 0.9 * GUESSING  # the deepest stack, the largest rate, no warm-up
    assert max(pre[-1]) < 0.5 * GUESSING
    if figures["steps"] < 500:
        return
    for shallow in (constant, warmed):
        assert all(learnt(row) for way in PLACEMENTS for row in shallow[way][0])
    assert all(learnt(row) for row in (*pre, *warmed["pre"][-1]))
    assert [learnt(row) for row in post] == [False, True, False, False]
    assert [learnt(row) for row in warmed["post"][-1]] == [False, True, True, True]


if __name__ == "__main__":
    from qkv.experiments.stored_results import run_and_store

    run_and_store("add_norm_warm_up", measure)
