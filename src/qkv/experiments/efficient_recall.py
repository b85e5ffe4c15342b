"""Associative recall: pairs of a key and a value are read; then, for a key, its value is asked.

One layer of each kind of attention is trained on the same pairs, for the same number of steps. All
that a layer has when it is asked is its *state*, of so many numbers:

- window: key and value vector of the last pairs, w + w numbers a pair; of all pairs, if they fit:
  then it is exact attention;
- low rank: those of r learnt weighted sums of all pairs, w + w numbers a sum (Linformer);
- linear: Σ φ(k) vᵀ and Σ φ(k) over all pairs, φ(k) = elu(W k) + 1, learnt (Katharopoulos et al.),
  w + 1 numbers a feature;
- random features: the same, with Performer's φ of keys of 8 numbers, which imitates softmax.

A pair is one token, the sum of two embeddings. Every key of a sequence is asked, each from the
state after the last pair. The stored figures were joined from several runs of `row`, so no time of
a whole run was noted. Source of the task: Arora et al. 2024 (Zoology) and earlier ones.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import qkv.torch as qt
from qkv.experiments.stored_results import run_and_store

__all__ = ["KINDS", "Recall", "check", "measure", "window_bound"]

Figures = dict[str, Any]

KEYS, VALUES, D_MODEL = 32, 16, 32
PAIRS, WIDTHS, STATES = (2, 4, 8, 16), (8, 4, 2), (32, 64, 128)
KINDS = ("window", "low rank", "linear", "random features")
STEPS, BATCH, RATE, WARM_UP, SEEDS, TESTED = 2000, 64, 0.01, 50, 5, 500


class Recall(nn.Module):
    """One layer that reads pairs into a state, and answers each of their keys from it.

    Args:
        kind: one of KINDS.
        width: numbers of a value vector, and of a key vector where keys are kept.
        state: the numbers that it may keep.
        seed: of what is drawn and not learnt.
    """

    def __init__(self, kind: str, width: int, state: int, seed: int) -> None:
        super().__init__()
        self.kind, self.kept = kind, state // (2 * width)  # pairs or sums
        self.keys, self.values = nn.Embedding(KEYS, D_MODEL), nn.Embedding(VALUES, D_MODEL)
        self.out = nn.Linear(width, VALUES)
        features = state // (width + 1)  # a value and a one for each
        # No feature is kept of a key itself, so its width costs the last two kinds nothing.
        key_width = {"linear": features, "random features": WIDTHS[0]}.get(kind, width)
        self.w_q, self.w_k = (nn.Linear(D_MODEL, key_width) for _ in range(2))
        self.w_v = nn.Linear(D_MODEL, width)
        if kind == "low rank":
            self.e, self.f = (
                nn.Parameter(torch.randn(PAIRS[-1], self.kept) / math.sqrt(PAIRS[-1]))
                for _ in range(2)
            )
        if kind == "random features":
            rng = torch.Generator().manual_seed(seed)
            drawn = qt.orthogonal_random_features(key_width, features, rng=rng)
            self.directions = nn.Parameter(drawn, requires_grad=False)

    def forward(self, keys: Tensor, values: Tensor) -> Tensor:
        """Keys and values (B, n) that are read; logits (B, n, VALUES) of each key's value."""
        asked = self.keys(keys)  # (B, n, d_model)
        pairs = asked + self.values(values)
        q, k, v = (z[:, None] for z in (self.w_q(asked), self.w_k(pairs), self.w_v(pairs)))
        logits: Tensor = self.out(self._attend(q, k, v)[:, 0])
        return logits

    def _attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """The package's attention of this kind, (B, 1, n, d_v)."""
        n = k.shape[2]
        if self.kind == "low rank":
            return qt.linformer_attention(q, k, v, self.e[-n:], self.f[-n:])[0]
        if self.kind == "random features":
            return qt.performer_attention(q, k, v, self.directions)
        if self.kind == "linear":
            q, k = F.elu(q) + 1, F.elu(k) + 1  # (B, 1, n, features), all positive
            return q @ (k.mT @ v) / (q @ k.sum(2)[..., None])
        mask = qt.window_mask(1, self.kept - 1, n, causal=True)  # the last pairs, for every query
        return qt.scaled_dot_product_attention(q, k, v, mask=mask)[0]


def draw(n: int, batch: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Pairs of different keys and any values, (B, n) each."""
    keys = torch.rand(batch, KEYS, generator=rng).argsort(dim=1)[:, :n]
    return keys, torch.randint(VALUES, (batch, n), generator=rng)


def train(
    kind: str, width: int, state: int, seed: int, steps: int = STEPS, rate: float = RATE
) -> Recall:
    """Adam, a short warm-up, the rate falling to 0 over the second half; n drawn at each step."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Recall(kind, width, state, seed)
    rng = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / WARM_UP, 2 - 2 * step / steps)
        n = PAIRS[int(torch.randint(len(PAIRS), (), generator=rng))]
        keys, values = draw(n, BATCH, rng)
        loss = F.cross_entropy(model(keys, values).flatten(0, 1), values.flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return model


@torch.no_grad()
def accuracy(model: Recall, tested: int) -> list[float]:
    """Share of right answers for each number of pairs, on sequences that were not trained on."""
    shares, rng = [], torch.Generator().manual_seed(10_000)
    for n in PAIRS:
        keys, values = draw(n, tested, rng)
        right = model(keys, values).argmax(dim=-1) == values
        shares.append(round(float(right.float().mean()), 4))
    return shares


def row(
    kind: str, width: int, state: int, seeds: int, steps: int = STEPS, rate: float = RATE
) -> Figures:
    """The accuracies (seeds, numbers of pairs) of one kind with one width and size of state."""
    models = [train(kind, width, state, seed, steps, rate) for seed in range(seeds)]
    accuracies = [accuracy(model, TESTED) for model in models]
    setting = {"kind": kind, "width": width, "state": state, "steps": steps, "rate": rate}
    return {**setting, "accuracy": accuracies}


def measure(small: bool = False) -> Figures:
    """Train every kind with every width and size of state, five seeds each.

    Returns:
        pairs: the numbers of pairs that are tested.
        rows: what `row` gives.
        controls: one seed and a state of 128 numbers, with another rate, or twice the steps.
    """
    torch.set_num_threads(1)
    seeds, steps, states = (1, 60, (64,)) if small else (SEEDS, STEPS, STATES)
    rows = [row(kind, w, s, seeds, steps) for kind in KINDS for w in WIDTHS for s in states]
    controls = []
    for factor, rate in ((1, 0.003), (1, 0.03), (2, RATE)):
        for width in (8, 4):
            controls += [row(kind, width, 128, 1, factor * steps, rate) for kind in KINDS]
    return {"pairs": list(PAIRS), "steps": steps, "rows": rows, "controls": controls}


def window_bound(width: int, state: int, n: int) -> float:
    """The share that a window can answer on average: all pairs in it, and guesses for the rest."""
    seen = min(n, state // (2 * width)) / n
    return seen + (1 - seen) / VALUES


def check(figures: Figures) -> None:
    """What the chapter says; a small run has too few steps for all but the bounds."""
    table = {
        (row["kind"], row["width"], row["state"]): torch.tensor(row["accuracy"])
        for row in figures["rows"]
    }
    for (kind, width, state), shares in table.items():
        assert float(shares.min()) > 0.03
        if kind == "window":
            bounds = torch.tensor([window_bound(width, state, n) for n in PAIRS])
            assert float((shares - bounds).max()) < 0.03
    if figures["steps"] < STEPS:
        return
    most = {key: shares[:, -1] for key, shares in table.items()}  # 16 pairs
    for kind in ("window", "low rank", "random features"):  # the best of 8 + 8 is linear …
        assert float(most[kind, 8, 128].max()) < float(most["linear", 8, 128].min()) - 0.1
    for kind in ("linear", "random features"):  # … and of 4 + 4 it is the window, which is exact
        assert float(most[kind, 4, 128].mean()) < float(most["window", 4, 128].min())
    assert float(most["window", 4, 128].min()) > 0.99
    for kind in KINDS:  # a quarter of the numbers, at most half of the pairs
        for width in (8, 4):
            assert float(most[kind, width, 32].max()) < 0.5


if __name__ == "__main__":
    run_and_store("efficient_recall", measure)
