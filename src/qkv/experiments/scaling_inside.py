"""Does a head inside a model find its keys from large scores, if the loss −ln w stands at the end?

Words are of 24 types, and every type has a fixed partner. Each sentence holds four such pairs, and
each word carries a tag, drawn anew. From a word's output the model has to tell its partner's tag,
with cross-entropy. W_Q, W_K, W_V and W_O learn together, from fresh sentences, by Adam.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from qkv.experiments.stored_results import run_and_store

TYPES, TAGS, D_MODEL, D_K = 24, 8, 32, 512
BATCH, STEPS, LAST = 16, 600, 20  # sentences a step; steps; the last ones, which are counted
DIVISORS = {"1": 1.0, "√512": math.sqrt(D_K), "512": 512.0}
RATES = [3e-4, 1e-3, 3e-3, 1e-2, 3e-2]
FEW = [1e-2]  # rates of a small run
PARTNER = torch.tensor([1, 0, 3, 2, 5, 4, 7, 6])  # of each of a sentence's 8 places


def found(divisor: float, rate: float, seed: int) -> float:
    """Share of words that give their partner more than half of the weight, in the LAST steps."""
    draws = torch.Generator().manual_seed(seed)

    def normal(rows: int, columns: int, size: float = 1.0) -> torch.Tensor:
        return size * torch.randn(rows, columns, generator=draws)

    types, tags = normal(TYPES, D_MODEL), normal(TAGS, D_MODEL)  # their sum has variance 2
    w_q, w_k = (normal(D_MODEL, D_K, (2 * D_MODEL) ** -0.5) for _ in range(2))
    w_v, w_o = (normal(D_MODEL, n, D_MODEL**-0.5) for n in (D_MODEL, TAGS))
    weights = [w_q, w_k, w_v, w_o]
    adam = torch.optim.Adam([w.requires_grad_() for w in weights], rate)
    shares = []
    for _ in range(STEPS):
        pairs = torch.rand(BATCH, TYPES // 2, generator=draws).argsort(1)[:, :4]
        words = torch.stack([2 * pairs, 2 * pairs + 1], -1).flatten(1)  # (B, T)
        tag = torch.randint(TAGS, words.shape, generator=draws)  # (B, T)
        x = types[words] + tags[tag]  # (B, T, d_model)
        w = torch.softmax(x @ w_q @ (x @ w_k).mT / divisor, -1)  # (B, T, T)
        logits = w @ (x @ w_v) @ w_o  # (B, T, TAGS)
        loss = F.cross_entropy(logits.flatten(0, 1), tag[:, PARTNER].flatten())
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        right = w.detach()[:, torch.arange(8), PARTNER]  # (B, T)
        shares.append(float((right > 0.5).float().mean()))
    return sum(shares[-LAST:]) / LAST


def measure(small: bool = False) -> dict[str, Any]:
    """The share of each seed, by divisor and rate."""
    rates, seeds = (FEW, 1) if small else (RATES, 5)
    shares = {
        name: [[found(divisor, rate, seed) for seed in range(seeds)] for rate in rates]
        for name, divisor in DIVISORS.items()
    }
    return {"steps": STEPS, "rates": rates, "shares": shares}


def check(figures: dict[str, Any]) -> None:
    """At a rate of 0.01, with either divisor nearly all words find their partner; undivided not."""
    for name, shares in figures["shares"].items():
        at = shares[figures["rates"].index(1e-2)]
        assert max(at) < 0.8 if name == "1" else min(at) > 0.9


if __name__ == "__main__":
    run_and_store("scaling_inside", measure)
