"""Who did what to whom: one head against several heads with the same number of parameters.

A sentence is a verb, a subject, an object and two nouns of other roles, all different. A noun's
vector is that of its word plus that of its role. The output of the verb has to tell the subject
and the object. An average of the two nouns with equal weights is the same when they exchange roles.
As a control, the weights are given and only the rest is trained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store

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
    given: tuple[tuple[float, ...], ...] = ()  # weights of each head, if they are not learnt


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
        if self.setting.given:
            return torch.tensor(self.setting.given).expand(*x.shape[:2], -1, -1)
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


GIVEN = {
    "0.7 and 0.3": ((0.7, 0.3, 0.0, 0.0),),
    "0.7 and 0.3, 0.3 and 0.7": ((0.7, 0.3, 0.0, 0.0), (0.3, 0.7, 0.0, 0.0)),
    "½ and ½": ((0.5, 0.5, 0.0, 0.0),),
}


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
    """For each seed, on new sentences.

    Returns:
        both: share with subject and object right.
        pair: share with both nouns right, roles ignored.
        gap: between the weights on subject and object, its size, averaged.
    """
    half = models.draw_sentences(TESTED // 2)
    words = torch.cat([half, half[..., [1, 0, 2, 3]]], 1)  # (R, TESTED, S)
    x = models.embed(words)
    weights = models.weights(x)  # (R, TESTED, H, S)
    found = models.read(x, weights).argmax(-1)
    two = words[..., :2]
    return {
        "both": _share((found == two).all(-1)),
        "pair": _share((found.sort(-1)[0] == two.sort(-1)[0]).all(-1)),
        "gap": _rounded((weights[..., 0] - weights[..., 1]).abs().mean((1, 2))),
    }


def measure(small: bool = False) -> dict[str, Any]:
    """Shares of sentences with both roles right: by heads and nouns, by nuisance, weights given.

    `results` keeps each seed; `varied` and `given` keep the lowest, the median and the highest.
    """
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
    results, one_varied, given = [], [], []
    for n in nouns:
        for h in heads:
            found = evaluate(train(replace(base, nouns=n, n_heads=h)))
            kept = found if h == 1 else {"both": found["both"]}
            results.append({"nouns": n, "heads": h, **kept})
    for name, change in nuisances.items():
        one, two = (evaluate(train(replace(base, n_heads=h, **change))) for h in (1, 2))
        one_varied.append({"varied": name, **_three(one), "two heads": _three(two)["both"]})
    for name, weights in GIVEN.items():
        for n in nouns[-2:]:
            setting = replace(base, nouns=n, n_heads=len(weights), given=weights)
            found = evaluate(train(replace(setting, seeds=min(4, base.seeds))))
            given.append({"weights": name, "nouns": n, **_three(found)})
    return {"results": results, "varied": one_varied, "given": given}


def check(figures: dict[str, Any]) -> None:
    """Two heads find both roles at least as often as one; so they do with weights that are given.

    With equal weights, a sentence and its exchange get one answer: half of the pairs found at most.
    """
    results, given = figures["results"], figures["given"]
    by = {(r["nouns"], r["heads"]): r for r in results}
    for (nouns, heads), r in by.items():
        assert median(r["both"]) >= median(by[nouns, 1]["both"]) - 0.02, (nouns, heads)
    for row in figures["varied"]:
        assert row["two heads"][1] >= row["both"][1] - 0.02
    for unequal, two, equal in zip(*(given[n : n + 2] for n in (0, 2, 4)), strict=True):
        assert two["both"][0] > unequal["both"][2] - 0.02
        assert equal["both"][2] <= 0.5
        for both, pair in zip(equal["both"], equal["pair"], strict=True):
            assert abs(both - pair / 2) < 0.02
    if len(results[0]["both"]) < 8:
        return  # fewer steps and seeds: no more is claimed of them
    few = by[8, 1]
    failed = [n for n, both in enumerate(few["both"]) if both < 0.3]
    assert len(failed) == 2
    assert median(few["both"]) > 0.95
    assert all(few["both"][n] == few["pair"][n] for n in failed)  # a noun is missed, not a role
    assert max(few["gap"][n] for n in failed) > 0.85  # it looks at one noun
    assert max(by[64, 1]["both"]) < 0.5
    assert min(by[32, 1]["both"]) > 0.6
    assert min(min(r["both"]) for r in results if r["heads"] > 1) > 0.95
    assert given[0]["both"][0] > 0.8  # one head, 32 nouns
    assert given[1]["both"][2] < 0.3  # one head, 64 nouns
    assert min(given[2]["both"][0], given[3]["both"][0]) > 0.98  # two heads


def _three(found: dict[str, Any]) -> dict[str, list[float]]:
    """Lowest, median and highest of the seeds."""
    return {
        name: [min(found[name]), round(median(found[name]), 4), max(found[name])]
        for name in ("both", "pair")
    }


def _share(right: Tensor) -> Any:
    return _rounded(right.float().mean(-1))


def _rounded(values: Tensor) -> Any:
    return np.round(values.double().numpy(), 3).tolist()


if __name__ == "__main__":
    run_and_store("heads_and_roles", measure)
