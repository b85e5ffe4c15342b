"""A leak that the loss before training does not show: a few steps on random words show it.

The words of the target are drawn at random from 97, whatever the source says, so no model that does
not read them gets below ln 97 on new ones. On words that it was trained with it does: it learns 16
pairs by heart. The model has six layers in each half, post-norm, and an output of its own.

Figures, shifted, not shifted, and shifted with the same 16 pairs in each step: `before`, `after`,
the loss on new random words before and after training, and `trained`, the last loss in training,
for each seed.
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


def _loss(
    model: qt.Transformer, rng: np.random.Generator, shifted: bool, pairs: int = 64
) -> torch.Tensor:
    source, words = torch.from_numpy(rng.integers(3, V, size=(2, pairs, T)))
    reads = F.pad(words, (1, -1), value=SOS) if shifted else words
    return F.cross_entropy(model(source, reads).flatten(0, 1), words.flatten())


def _losses(shifted: bool, same: bool, seed: int, steps: int) -> tuple[float, float, float]:
    torch.manual_seed(seed)
    rng, model = np.random.default_rng(seed), qt.Transformer(CONFIG)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with torch.no_grad():
        before = _loss(model, np.random.default_rng(1000 + seed), shifted).item()
    for _ in range(steps):
        if same:
            loss = _loss(model, np.random.default_rng(seed), shifted, pairs=16)
        else:
            loss = _loss(model, rng, shifted)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        after = _loss(model, np.random.default_rng(1000 + seed), shifted).item()
    return before, after, loss.item()


def measure(small: bool = False) -> dict[str, Any]:
    """Train with the target shifted by one, not shifted, and shifted with the same few pairs."""
    seeds, steps = (1, 20) if small else (5, 300)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    figures: dict[str, Any] = {"steps": steps}
    for name in ("shifted", "not shifted", "same pairs"):
        shifted, same = name != "not shifted", name == "same pairs"
        runs = [_losses(shifted, same, seed, steps) for seed in range(seeds)]
        before, after, trained = np.round(runs, 3).T.tolist()
        figures[name] = {"before": before, "after": after, "trained": trained}
    torch.set_num_threads(threads)
    return figures


def check(figures: dict[str, Any]) -> None:
    """What the book says; a run of few steps shows only which loss falls."""
    honest, leaking, same = (figures[k] for k in ("shifted", "not shifted", "same pairs"))
    guess = math.log(V - 3)
    assert max(abs(loss - guess) for loss in honest["before"] + leaking["before"]) < 0.6
    assert min(honest["after"] + same["after"]) > guess - 0.05
    if figures["steps"] >= 300:
        assert max(leaking["after"]) < guess / 2
        assert max(same["trained"]) < 0.2


if __name__ == "__main__":
    run_and_store("transformer_leak", measure)
