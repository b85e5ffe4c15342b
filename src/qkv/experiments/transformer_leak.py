"""A leak that the loss before training does not show: a few steps on random words show it.

The words of the target are drawn at random from 97, whatever the source says, so no model that does
not read them gets below ln 97 on new ones. The model has six layers in each half, post-norm, and an
output of its own.

Figures, shifted and not shifted: `before` and `after`, the loss on new random words before and
after training, for each seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

import qkv.torch as qt
from qkv.config import TransformerConfig
from qkv.experiments.stored_results import run_and_store

__all__ = ["check", "measure"]

V, T, SOS = 100, 8, 1
CONFIG = TransformerConfig(
    V, d_model=32, n_heads=4, d_ff=64, n_layers=6, dropout=0.0, tie_word_embeddings="none"
)


def _loss(model: qt.Transformer, rng: np.random.Generator, shifted: bool) -> torch.Tensor:
    source, words = torch.from_numpy(rng.integers(3, V, size=(2, 64, T)))
    reads = F.pad(words, (1, -1), value=SOS) if shifted else words
    return F.cross_entropy(model(source, reads).flatten(0, 1), words.flatten())


def _before_and_after(shifted: bool, seed: int, steps: int) -> tuple[float, float]:
    torch.manual_seed(seed)
    rng, model = np.random.default_rng(seed), qt.Transformer(CONFIG)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with torch.no_grad():
        before = _loss(model, np.random.default_rng(1000 + seed), shifted).item()
    for _ in range(steps):
        loss = _loss(model, rng, shifted)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        return before, _loss(model, np.random.default_rng(1000 + seed), shifted).item()


def measure(small: bool = False) -> dict[str, Any]:
    """Train with the target shifted by one and with the target not shifted."""
    seeds, steps = (1, 20) if small else (5, 300)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    figures: dict[str, Any] = {"steps": steps}
    for name, shifted in (("shifted", True), ("not shifted", False)):
        runs = [_before_and_after(shifted, seed, steps) for seed in range(seeds)]
        before, after = np.round(runs, 3).T.tolist()
        figures[name] = {"before": before, "after": after}
    torch.set_num_threads(threads)
    return figures


def check(figures: dict[str, Any]) -> None:
    """What the book says; a run of few steps shows only which loss falls."""
    honest, leaking = figures["shifted"], figures["not shifted"]
    guess = math.log(V - 3)
    assert max(abs(loss - guess) for loss in honest["before"] + leaking["before"]) < 0.6
    assert min(honest["after"]) > guess - 0.05
    if figures["steps"] >= 300:
        assert max(leaking["after"]) < guess / 2


if __name__ == "__main__":
    run_and_store("transformer_leak", measure)
