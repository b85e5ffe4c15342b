"""Positions beyond those of training: six ways to tell them, two tasks, lengths up to four times.

A small causal model reads random tokens and has to say, at each position, the token that stood one
place before, or three places before. It is trained on sequences of 32 tokens and tested on 128:
with all keys; with the last 32 keys of each query, as many as training had at most; and with 32
keys again, of which 24 are farther away than any in training.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from statistics import mean
from typing import Any

import torch
from torch.nn import functional as F

import qkv.torch as qt
from qkv.config import TransformerConfig
from qkv.experiments.stored_results import run_and_store

__all__ = ["KINDS", "TESTS", "check", "measure", "train"]

RANDOM_START = "sinusoidal, random start"
KINDS = ("learned", "sinusoidal", RANDOM_START, "rotary", "alibi", "none")
DISTANCES = (1, 3)
VOCABULARY = 8
Figures = dict[str, Any]
Shares = tuple[float, float, float]
Blocked = Callable[[torch.Tensor, int], torch.Tensor]  # from distance and length: which keys

TESTS: dict[str, Blocked] = {
    "accuracy": lambda away, length: away < 0,
    "accuracy with the last keys": lambda away, length: away >= length,
    "accuracy with far keys": lambda away, length: (
        (away >= length // 4) & (away <= length) | (away > 2 * length - length // 4)
    ),
}


def measure(small: bool = False) -> Figures:
    """Shares of right answers: by keys, distance, kind and range of positions; one number a seed.

    The ranges are those of training, from there to twice its length, from there to four times.
    """
    length, steps, seeds = (12, 40, 1) if small else (32, 800, 3)
    shares: Figures = {test: {str(distance): {} for distance in DISTANCES} for test in TESTS}
    for distance, kind in product(DISTANCES, KINDS):
        runs = [train(kind, distance, length, steps, seed) for seed in range(seeds)]
        for test in TESTS:
            shares[test][str(distance)][kind] = _ranges([run[test] for run in runs])
    return {"length": length, "tested": 4 * length, "steps": steps, "seeds": seeds, **shares}


def check(figures: Figures) -> None:
    """What the chapter on positions says of them; a run of few steps has learnt little."""
    for kinds in figures["accuracy"].values():
        for kind in ("learned", "sinusoidal"):
            assert max(kinds[kind]["to four times"]) < 0.35, kind
    if figures["steps"] < 500:
        return
    near, far = (figures["accuracy"][str(distance)] for distance in DISTANCES)
    for kinds in (near, far):
        for kind in ("learned", "sinusoidal", RANDOM_START, "rotary"):
            assert min(kinds[kind]["trained"]) > 0.95, kind
        assert min(kinds[RANDOM_START]["to four times"]) > 0.7
        assert max(kinds["rotary"]["to four times"]) < 0.2
    for kinds in figures["accuracy with the last keys"].values():
        assert min(min(shares) for shares in kinds["rotary"].values()) > 0.99
        for kind in ("learned", "sinusoidal"):
            assert max(kinds[kind]["to four times"]) < 0.4, kind
    for kinds in figures["accuracy with far keys"].values():
        assert max(kinds["rotary"]["to four times"]) < 0.2
        assert min(kinds[RANDOM_START]["to four times"]) > 0.8
    assert min(figures["accuracy with far keys"]["1"]["alibi"]["to four times"]) > 0.95
    assert min(near["alibi"]["to four times"]) > 0.95
    assert max(far["alibi"]["trained"]) < 0.8
    assert 0.6 < min(near["none"]["trained"]) <= max(near["none"]["trained"]) < 0.95


def _ranges(runs: list[Shares]) -> dict[str, list[float]]:
    names = ("trained", "to twice", "to four times")
    return dict(zip(names, map(list, zip(*runs, strict=True)), strict=True))


def train(
    kind: str, distance: int, length: int, steps: int, seed: int, heads: int = 4
) -> dict[str, Shares]:
    """Train one model; its shares of right answers in each of the three tests."""
    rng = torch.Generator().manual_seed(seed)
    config = TransformerConfig(
        VOCABULARY,
        d_model=32,
        n_heads=heads,
        d_ff=64,
        n_layers=2,
        dropout=0.0,
        norm_first=True,
        positions="sinusoidal" if kind == RANDOM_START else kind,
        max_len=4 * length,  # so a learned table has rows that training never touches
        tie_word_embeddings="none",
    )
    model = qt.DecoderOnly(config, rng=rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    warmed = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / 50) * (1 - step / steps)
    )
    for _ in range(steps):
        ids = torch.randint(VOCABULARY, (64, length), generator=rng)
        furthest = 3 * length if kind == RANDOM_START else 0
        start = int(torch.randint(furthest + 1, (), generator=rng))
        logits = _logits(model, ids, start)[:, distance:]
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, :-distance].flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        warmed.step()
    ids = torch.randint(VOCABULARY, (200, 4 * length), generator=rng)
    place = torch.arange(4 * length)
    away = place[:, None] - place  # (T, T): how far back the key stands
    blocked = {test: rule(away, length) for test, rule in TESTS.items()}
    return {test: _shares(model, ids, distance, length, blocked[test]) for test in TESTS}


def _shares(
    model: qt.DecoderOnly, ids: torch.Tensor, distance: int, length: int, blocked: torch.Tensor
) -> Shares:
    """Share of right answers in each range of positions, with the keys that are not blocked."""
    with torch.no_grad():
        said = _logits(model, ids, 0, blocked)[:, distance:].argmax(-1)
    right = (said == ids[:, :-distance]).double().mean(0).tolist()  # position `distance` first
    ends = (0, length - distance, 2 * length - distance, len(right))
    first, second, third = (round(mean(right[a:b]), 3) for a, b in pairwise(ends))
    return first, second, third


def _logits(
    model: qt.DecoderOnly, ids: torch.Tensor, start: int, blocked: torch.Tensor | None = None
) -> torch.Tensor:
    """Logits (B, T, V) of a text whose first token stands at `start`; None blocks no key."""
    x, bias = model.inputs(model.embedding(ids), start)  # (B, T, d_model)
    if bias is not None:
        bias = bias[..., start:]
    if blocked is not None:
        mask = torch.zeros(1, 1, *blocked.shape).masked_fill(blocked, -torch.inf)
        bias = mask if bias is None else bias + mask
    logits: torch.Tensor = model.output(model.decoder(x, bias=bias))  # (B, T, V)
    return logits


if __name__ == "__main__":
    run_and_store("positions_beyond", measure)
