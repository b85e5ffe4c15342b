"""Who did what to whom: one head against several heads with the same number of parameters.

A sentence is a verb, a subject, an object and two nouns of other roles, all different. A noun's
vector is that of its word plus that of its role. The output of the verb has to tell the subject
and the object. An average of the two nouns with equal weights is the same when they exchange roles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored import run_and_store

__all__ = ["Setting", "check", "measure", "train"]

ROLES = torch.tensor([0, 1, 2, 2])  # subject, object, other, other
BATCH = 64
TESTED = 1000  # new sentences; the second half exchanges the roles of the first


@dataclass(frozen=True)
class Setting:
    """What is varied. All heads together have the width d_model, so parameters are equal."""

    n_heads: int = 1
    nouns: int = 32
    d_model: int = 16
    hidden: int = 64  # of the reader; 0 is a linear reader
    steps: int = 1500
    rate: float = 3e-3
    learnt_vectors: bool = False
    w_o: bool = True
    seeds: int = 8


@dataclass
class Models:
    """As many models as seeds, side by side along the first axis R of each parameter."""

    setting: Setting
    rng: torch.Generator
    parameters: dict[str, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        s = self.setting
        self._draw("words", s.nouns, s.d_model, fan_in=1)
        self._draw("roles", 4, s.d_model, fan_in=1)  # the last is the verb
        for name in ("w_q", "w_k", "w_v", "w_o"):
            self._draw(name, s.d_model, s.d_model, fan_in=s.d_model)
        if s.hidden:
            self._draw("w_1", s.d_model, s.hidden, fan_in=s.d_model)
            self.parameters["b_1"] = torch.zeros(s.seeds, 1, s.hidden)
        width = s.hidden or s.d_model
        self._draw("w_2", width, 2 * s.nouns, fan_in=width)
        self.parameters["b_2"] = torch.zeros(s.seeds, 1, 2 * s.nouns)

    def _draw(self, name: str, *shape: int, fan_in: int) -> None:
        drawn = torch.randn(self.setting.seeds, *shape, generator=self.rng)
        self.parameters[name] = drawn / math.sqrt(fan_in)

    def trained(self) -> list[Tensor]:
        """The parameters that training changes."""
        fixed = set() if self.setting.learnt_vectors else {"words", "roles"}
        fixed |= set() if self.setting.w_o else {"w_o"}
        return [p for name, p in self.parameters.items() if name not in fixed]

    def weights(self, x: Tensor) -> Tensor:
        """(R, B, H, S) weights of the verb on the nouns x, (R, B, S, d_model)."""
        p = self.parameters
        q = self._split(p["roles"][:, None, 3:] @ p["w_q"][:, None])  # (R, 1, H, 1, d_k)
        k = self._split(x @ p["w_k"][:, None])  # (R, B, H, S, d_k)
        scores: Tensor = (q * k).sum(-1) / math.sqrt(k.shape[-1])  # (R, B, H, S)
        return scores.softmax(-1)

    def read(self, x: Tensor, weights: Tensor) -> Tensor:
        """(R, B, 2, nouns) logits of subject and object."""
        p, s = self.parameters, self.setting
        v = self._split(x @ p["w_v"][:, None])  # (R, B, H, S, d_v)
        context = (weights[..., None] * v).sum(3).flatten(2)  # (R, B, d_model)
        out = context @ p["w_o"] if s.w_o else context
        if s.hidden:
            out = (out @ p["w_1"] + p["b_1"]).relu()
        logits: Tensor = out @ p["w_2"] + p["b_2"]
        return logits.reshape(*logits.shape[:-1], 2, s.nouns)

    def _split(self, x: Tensor) -> Tensor:
        """(R, B, S, d_model) to (R, B, H, S, d_model / H)."""
        return x.reshape(*x.shape[:-1], self.setting.n_heads, -1).swapaxes(2, 3)

    def embed(self, words: Tensor) -> Tensor:
        """(R, B, S, d_model) vectors of the (R, B, S) nouns: word plus role."""
        runs = torch.arange(len(words))[:, None, None]
        return self.parameters["words"][runs, words] + self.parameters["roles"][:, None, ROLES]

    def draw_sentences(self, n: int) -> Tensor:
        """(R, n, S): four different nouns each."""
        s = self.setting
        order = torch.rand(s.seeds, n, s.nouns, generator=self.rng).argsort(-1)
        return order[..., : len(ROLES)]


def train(setting: Setting) -> Models:
    """Train one model for each seed, by Adam with a rate that falls linearly to 0."""
    models = Models(setting, torch.Generator().manual_seed(0))
    parameters = models.trained()
    for p in parameters:
        p.requires_grad_()
    optimizer = torch.optim.Adam(parameters, lr=setting.rate)
    for step in range(setting.steps):
        optimizer.param_groups[0]["lr"] = setting.rate * (1 - step / setting.steps)
        words = models.draw_sentences(BATCH)
        x = models.embed(words)
        logits = models.read(x, models.weights(x))
        # Summed over the models: each has parameters of its own.
        loss = F.cross_entropy(logits.flatten(0, 2), words[..., :2].flatten(), reduction="sum") / (
            2 * BATCH
        )
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return models


@torch.no_grad()
def evaluate(models: Models) -> dict[str, Any]:
    """For each seed, on new sentences: how often subject and object are right, and the weights."""
    half = models.draw_sentences(TESTED // 2)
    words = torch.cat([half, half[..., [1, 0, 2, 3]]], 1)  # (R, TESTED, S)
    x = models.embed(words)
    weights = models.weights(x)  # (R, TESTED, H, S)
    equal = torch.tensor([0.5, 0.5, 0, 0]).expand_as(weights)
    found = models.read(x, weights).argmax(-1)
    two = words[..., :2]
    return {
        "both": _share((found == two).all(-1)),
        "pair": _share((found.sort(-1)[0] == two.sort(-1)[0]).all(-1)),
        "both with equal weights": _share((models.read(x, equal).argmax(-1) == two).all(-1)),
        "gap": _rounded((weights[..., 0] - weights[..., 1]).abs().mean((1, 2))),
        "map": _rounded(weights[0].mean(0)),
    }


def measure(small: bool = False) -> dict[str, Any]:
    """Shares of sentences with both roles right, for each seed: by heads, nouns and nuisance."""
    base = Setting(steps=250, seeds=2) if small else Setting()
    nouns, heads = ((8, 16), (1, 2)) if small else ((8, 16, 32, 64), (1, 2, 4, 8))
    nuisances: dict[str, dict[str, Any]] = {
        "4 times the steps": {"steps": 4 * base.steps},
        "d_model 32": {"d_model": 32},
        "reader 4 times as wide": {"hidden": 256},
        "learning rate 0.01": {"rate": 0.01},
        "learnt word vectors": {"learnt_vectors": True},
        "linear reader": {"hidden": 0},
        "without W_O": {"w_o": False},
    }
    if small:
        nuisances = {"learning rate 0.01": nuisances["learning rate 0.01"]}
    settings = [("by nouns", replace(base, nouns=n, n_heads=h)) for n in nouns for h in heads]
    for name, change in nuisances.items():
        settings += [(name, replace(base, n_heads=h, **change)) for h in (1, 2)]
    results = [
        {"varied": name, "nouns": s.nouns, "heads": s.n_heads, **evaluate(train(s))}
        for name, s in settings
    ]
    return {"results": results}


def check(figures: dict[str, Any]) -> None:
    """Two heads find both roles at least as often as one, in the median over the seeds."""
    results = figures["results"]
    one = [r for r in results if r["heads"] == 1]
    two = [r for r in results if r["heads"] == 2]
    for a, b in zip(one, two, strict=True):
        assert (a["varied"], a["nouns"]) == (b["varied"], b["nouns"])
        assert median(b["both"]) >= median(a["both"]) - 0.02
        # The same output for a sentence and for the one with exchanged roles: half at most.
        assert max(a["both with equal weights"]) <= 0.5
    if len(one[0]["both"]) < 8:
        return  # fewer steps and seeds: no more is claimed of them
    at = {r["nouns"]: r for r in one if r["varied"] == "by nouns"}
    longer = next(r for r in one if r["varied"] == "4 times the steps")
    assert median(at[8]["both"]) > 0.95
    assert median(at[64]["both"]) < 0.6 < median(longer["both"])
    several = [r for r in results if r["varied"] == "by nouns" and r["heads"] > 1]
    assert min(median(r["both"]) for r in several) > 0.95


def median(values: list[float]) -> float:
    """The middle value, or the mean of the two in the middle."""
    ordered, n = sorted(values), len(values)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2


def _share(right: Tensor) -> Any:
    return _rounded(right.float().mean(-1))


def _rounded(values: Tensor) -> Any:
    return np.round(values.double().numpy(), 3).tolist()


if __name__ == "__main__":
    run_and_store("heads_and_roles", measure)
