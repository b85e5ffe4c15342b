"""Associative recall: pairs of a key and a value are read; then, for a key, its value is asked.

One layer of each kind of attention is trained, and a recurrent network, on the same pairs, for the
same number of steps. All that a layer has when it is asked is its *state*, of so many numbers:

- exact: key and value vector of each pair, 16 numbers a pair;
- window: those of the last pairs;
- low rank: those of r learnt mixtures of all pairs (Linformer);
- linear: Σ φ(k) vᵀ and Σ φ(k) over all pairs, φ(k) = elu(W k) + 1, learnt (Katharopoulos et al.);
- random features: the same, with Performer's φ, which imitates softmax;
- recurrent: the hidden vector of a GRU;
- nothing: the key that is asked alone, a control.

A pair is one token, the sum of two embeddings. Every key of a sequence is asked, each from the
state after the last pair. Source of the task: Arora et al. 2024 (Zoology) and earlier ones.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import qkv.torch as qt
from qkv.experiments.stored_results import run_and_store

__all__ = ["Recall", "check", "measure", "window_bound"]

Figures = dict[str, Any]

KEYS, VALUES, D_MODEL, D_K, D_V = 32, 16, 32, 8, 8
PAIR = D_K + D_V  # numbers that attention keeps of a pair
PAIRS = (2, 4, 8, 16)
STATES = (32, 64, 128, 256)
KINDS = ("window", "low rank", "linear", "random features", "recurrent")
STEPS, BATCH, RATE, WARM_UP, SEEDS, TESTED = 1000, 64, 0.01, 50, 3, 500


class Recall(nn.Module):
    """One layer that reads pairs into a state, and answers each of their keys from it.

    Args:
        kind: one of KINDS, "exact", "nothing" or "recurrent, other reader".
        state: the numbers that it may keep.
    """

    def __init__(self, kind: str, state: int, seed: int) -> None:
        super().__init__()
        self.kind, self.state, summaries = kind, state, state // PAIR
        self.keys, self.values = nn.Embedding(KEYS, D_MODEL), nn.Embedding(VALUES, D_MODEL)
        self.out = nn.Linear(D_V, VALUES)
        if kind.startswith("recurrent"):
            self.gru = nn.GRU(D_MODEL, state, batch_first=True)
            self.read, self.ask = nn.Linear(state, 128), nn.Linear(D_MODEL, 128)
            self.out = nn.Linear(128, VALUES)
            return
        # Linear attention has as many features as its state holds: a value and a one for each.
        features = state // (D_V + 1)
        width = features if kind == "linear" else D_K
        self.w_q, self.w_k = (nn.Linear(D_MODEL, width) for _ in range(2))
        self.w_v = nn.Linear(D_MODEL, D_V)
        if kind == "low rank":
            self.e, self.f = (
                nn.Parameter(torch.randn(PAIRS[-1], summaries) / math.sqrt(PAIRS[-1]))
                for _ in range(2)
            )
        if kind == "random features":
            rng = torch.Generator().manual_seed(seed)
            drawn = qt.orthogonal_random_features(D_K, features, rng=rng)
            self.directions = nn.Parameter(drawn, requires_grad=False)

    def forward(self, keys: Tensor, values: Tensor) -> Tensor:
        """Keys and values (B, n) that are read; logits (B, n, VALUES) of each key's value."""
        asked = self.keys(keys)  # (B, n, d_model)
        pairs = asked + self.values(values)
        if self.kind.startswith("recurrent"):
            _, hidden = self.gru(pairs)  # (1, B, state)
            return self._read(hidden[0][:, None], asked)
        q, k, v = (z[:, None] for z in (self.w_q(asked), self.w_k(pairs), self.w_v(pairs)))
        logits: Tensor = self.out(self._attend(q, k, v)[:, 0])
        return logits

    def _attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """The package's attention of this kind, (B, 1, n, d_v)."""
        n = k.shape[2]
        if self.kind == "nothing":
            return torch.zeros_like(v)
        if self.kind == "low rank":
            return qt.linformer_attention(q, k, v, self.e[-n:], self.f[-n:])[0]
        if self.kind == "random features":
            return qt.performer_attention(q, k, v, self.directions)
        if self.kind == "linear":
            q, k = F.elu(q) + 1, F.elu(k) + 1  # (B, 1, n, features), all positive
            return q @ (k.mT @ v) / (q @ k.sum(2)[..., None])
        mask = None
        if self.kind == "window":  # the last pairs are there for every question
            mask = qt.window_mask(1, self.state // PAIR - 1, n, causal=True)
        return qt.scaled_dot_product_attention(q, k, v, mask=mask)[0]

    def _read(self, hidden: Tensor, asked: Tensor) -> Tensor:
        """What the hidden state (B, 1, state) says of each key (B, n, d_model): their product."""
        state, key = self.read(hidden), self.ask(asked)
        mixed = F.relu(state + key) if self.kind.endswith("other reader") else state * key
        logits: Tensor = self.out(mixed)
        return logits


def draw(n: int, batch: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Pairs of different keys and any values, (B, n) each."""
    keys = torch.rand(batch, KEYS, generator=rng).argsort(dim=1)[:, :n]
    return keys, torch.randint(VALUES, (batch, n), generator=rng)


def train(kind: str, state: int, seed: int, steps: int, rate: float = RATE) -> Recall:
    """Adam, a short warm-up, the rate falling to 0 over the second half; n drawn at each step."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Recall(kind, state, seed)
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


def row(kind: str, state: int, seeds: int, steps: int, rate: float = RATE) -> Figures:
    """The accuracies (seeds, numbers of pairs) of one kind with one size of state."""
    models = [train(kind, state, seed, steps, rate) for seed in range(seeds)]
    return {
        "kind": kind,
        "state": state,
        "steps": steps,
        "rate": rate,
        "parameters": sum(p.numel() for p in models[0].parameters() if p.requires_grad),
        "accuracy": [accuracy(model, TESTED) for model in models],
    }


def measure(small: bool = False) -> Figures:
    """Train every kind with every size of state, three seeds each.

    Returns:
        pairs: the numbers of pairs that are tested.
        chance: accuracy of a guess.
        rows: what `row` gives. The state of "exact" is that for the most pairs.
        controls: one seed and a state of 128 numbers, with another rate, more steps, and for the
            recurrent network another reader of its state.
    """
    torch.set_num_threads(1)
    seeds, steps, states = (1, 60, (64,)) if small else (SEEDS, STEPS, STATES)
    rows = [row("nothing", 0, seeds, steps), row("exact", PAIRS[-1] * PAIR, seeds, steps)]
    rows += [row(kind, state, seeds, steps) for kind in KINDS for state in states]
    controls = [row(kind, 128, 1, steps, rate) for kind in KINDS for rate in (0.003, 0.03)]
    controls += [row(kind, 128, 1, (1 if small else 4) * steps) for kind in KINDS]
    controls += [row("recurrent, other reader", 128, 1, steps)]
    return {
        "pairs": list(PAIRS),
        "chance": 1 / VALUES,
        "steps": steps,
        "rows": rows,
        "controls": controls,
    }


def window_bound(state: int, n: int) -> float:
    """The share that a window can answer on average: all pairs in it, and guesses for the rest."""
    seen = min(n, state // PAIR) / n
    return seen + (1 - seen) / VALUES


def check(figures: Figures) -> None:
    """What the chapter says; a small run has too few steps for all but the bounds."""
    table = {(r["kind"], r["state"]): torch.tensor(r["accuracy"]) for r in figures["rows"]}
    assert float((table["nothing", 0] - figures["chance"]).abs().max()) < 0.03
    for (kind, state), shares in table.items():
        if kind == "window":
            bounds = torch.tensor([window_bound(state, n) for n in PAIRS])
            assert float((shares - bounds).max()) < 0.03
    if figures["steps"] < STEPS:
        return
    most = {key: shares[:, -1].tolist() for key, shares in table.items()}  # 16 pairs
    assert float(table["exact", PAIRS[-1] * PAIR].min()) > 0.99
    for kind in KINDS:  # more state, more recall, beyond the spread of the seeds
        for less, more in pairwise(STATES):
            assert max(most[kind, less]) + 0.02 < min(most[kind, more])
    for kind in ("window", "low rank", "linear"):  # all pairs fit
        assert min(most[kind, 256]) > 0.97
    for kind in ("random features", "recurrent"):
        assert max(most[kind, 256]) < 0.9
    order = ("window", "random features", "recurrent", "linear")  # with half of what exact keeps
    for lower, higher in pairwise(order):
        assert max(most[lower, 128]) < min(most[higher, 128])
    assert max(most["low rank", 128]) < min(most["random features", 128])
    _check_controls(figures["controls"], max(most["recurrent", 128]))


def _check_controls(controls: list[Figures], recurrent: float) -> None:
    """Four times the steps help the recurrent network alone; the order of the rest stays."""
    last = {(r["kind"], r["steps"], r["rate"]): r["accuracy"][0][-1] for r in controls}
    assert last["recurrent", 4 * STEPS, RATE] > recurrent + 0.08
    assert last["recurrent, other reader", STEPS, RATE] < recurrent - 0.1
    for steps, rate in ((STEPS, 0.003), (STEPS, 0.03), (4 * STEPS, RATE)):
        rest = [last[kind, steps, rate] for kind in ("window", "random features", "linear")]
        assert rest == sorted(rest)
        assert last["low rank", steps, rate] < 0.6


if __name__ == "__main__":
    run_and_store("efficient_recall", measure)
