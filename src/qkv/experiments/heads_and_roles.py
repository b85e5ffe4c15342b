"""Who did what to whom: one head against several heads with the same number of parameters.

A sentence is a verb, a subject, an object and two nouns of other roles, all different. A noun's
vector is that of its word plus that of its role. The output of the verb has to tell the subject
and the object. An average of the two nouns with equal weights is the same when they exchange roles.
Weights are given, the same in all sentences, and only the rest is trained; or all is trained. Each
setting is trained at several rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store

__all__ = ["Setting", "check", "measure", "train"]

ROLES = torch.tensor([0, 1, 2, 2])  # subject, object, other, other
TESTED = 1000  # new sentences; the second half exchanges the roles of the first


@dataclass(frozen=True)
class Setting:
    """What is varied. All heads together have the width d_model, so parameters are equal."""

    n_heads: int = 1
    nouns: int = 64
    d_model: int = 16
    hidden: int = 64  # of the reader
    steps: int = 1500
    batch: int = 64
    rate: float = 3e-3
    seeds: int = 5
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
        self._draw("w_1", s.d_model, s.hidden, fan_in=s.d_model)
        self.parameters["b_1"] = torch.zeros(s.seeds, 1, s.hidden)
        self._draw("w_2", s.hidden, 2 * s.nouns, fan_in=s.hidden)
        self.parameters["b_2"] = torch.zeros(s.seeds, 1, 2 * s.nouns)

    def _draw(self, name: str, *shape: int, fan_in: int) -> None:
        drawn = torch.randn(self.setting.seeds, *shape, generator=self.rng)
        self.parameters[name] = drawn / math.sqrt(fan_in)

    def trained(self) -> list[Tensor]:
        """The parameters that training changes."""
        return [p for name, p in self.parameters.items() if name not in ("words", "roles")]

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
        hidden = (context @ p["w_o"] @ p["w_1"] + p["b_1"]).relu()
        logits: Tensor = hidden @ p["w_2"] + p["b_2"]
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


GIVEN: dict[str, tuple[tuple[float, ...], ...]] = {  # rows on subject, object and two others
    "½ ½": ((0.5, 0.5, 0.0, 0.0),),
    "0.9 0.1": ((0.9, 0.1, 0.0, 0.0),),
    "0.7 0.3": ((0.7, 0.3, 0.0, 0.0),),
    "0.7 0.3 and 0.6 0.4": ((0.7, 0.3, 0.0, 0.0), (0.6, 0.4, 0.0, 0.0)),
    "0.7 0.3 and 0.3 0.7": ((0.7, 0.3, 0.0, 0.0), (0.3, 0.7, 0.0, 0.0)),
}
LEARNT: dict[str, dict[str, Any]] = {
    "one head": {},
    "one head, batches of 512": {"batch": 512},
    "two heads": {"n_heads": 2},
}
RATES = (0.003, 0.01, 0.03)


def train(setting: Setting) -> Models:
    """Train one model for each seed, by Adam with a rate that falls linearly to 0."""
    models = Models(setting, torch.Generator().manual_seed(0))
    parameters = models.trained()
    for p in parameters:
        p.requires_grad_()
    optimizer = torch.optim.Adam(parameters, lr=setting.rate)
    for step in range(setting.steps):
        optimizer.param_groups[0]["lr"] = setting.rate * (1 - step / setting.steps)
        words = models.draw_sentences(setting.batch)
        x = models.embed(words)
        logits = models.read(x, models.weights(x))
        # Summed over the models: each has parameters of its own.
        summed = F.cross_entropy(logits.flatten(0, 2), words[..., :2].flatten(), reduction="sum")
        loss = summed / (2 * setting.batch)
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
    """
    half = models.draw_sentences(TESTED // 2)
    words = torch.cat([half, half[..., [1, 0, 2, 3]]], 1)  # (R, TESTED, S)
    x = models.embed(words)
    found = models.read(x, models.weights(x)).argmax(-1)
    two = words[..., :2]
    return {
        "both": _share((found == two).all(-1)),
        "pair": _share((found.sort(-1)[0] == two.sort(-1)[0]).all(-1)),
    }


def measure(small: bool = False) -> dict[str, Any]:
    """Shares of sentences with both roles right, a list of seeds for each rate."""
    base = Setting(steps=250, seeds=2, nouns=8) if small else Setting()
    rates = RATES[1:2] if small else RATES
    given = [
        {"weights": name, **_at_rates(replace(base, n_heads=len(rows), given=rows), rates)}
        for name, rows in GIVEN.items()
    ]
    learnt = [
        {"weights": name, **_at_rates(replace(base, **change), rates)}
        for name, change in LEARNT.items()
        if not (small and change.get("batch"))
    ]
    return {"rates": rates, "given": given, "learnt": learnt}


def _at_rates(setting: Setting, rates: tuple[float, ...]) -> dict[str, Any]:
    """What `evaluate` finds, a list of seeds for each rate."""
    found = [evaluate(train(replace(setting, rate=rate))) for rate in rates]
    return {name: [at_rate[name] for at_rate in found] for name in found[0]}


def check(figures: dict[str, Any]) -> None:
    """A mirrored row lets both roles be read at each rate; one row lets it at some rates.

    With equal weights, a sentence and its exchange get one answer: half of the pairs found at most.
    """
    equal = figures["given"][0]
    for both, pair in zip(equal["both"], equal["pair"], strict=True):
        assert np.allclose(both, np.array(pair) / 2, atol=0.03)
        assert max(both) <= 0.5
    if len(figures["rates"]) < len(RATES):
        return  # fewer steps and seeds: no more is claimed of them
    by = {row["weights"]: row["both"] for row in figures["given"] + figures["learnt"]}
    assert max(by["0.7 0.3"][0]) < 0.4 < 0.9 < min(by["0.7 0.3"][2])  # the rate decides
    assert max(by["0.9 0.1"][2]) < 0.5  # the row too
    assert max(by["0.7 0.3 and 0.6 0.4"][0]) < 0.7  # a second row helps less if it is near
    assert min(map(min, by["0.7 0.3 and 0.3 0.7"])) > 0.98
    assert min(map(min, by["two heads"])) > 0.95
    assert max(by["one head"][0]) < 0.6
    assert min(by["one head"][2]) < 0.1  # one start fails at the highest rate
    assert min(by["one head, batches of 512"][2]) > 0.9


def _share(right: Tensor) -> Any:
    return _rounded(right.float().mean(-1))


def _rounded(values: Tensor) -> Any:
    return np.round(values.double().numpy(), 3).tolist()


if __name__ == "__main__":
    run_and_store("heads_and_roles", measure)
