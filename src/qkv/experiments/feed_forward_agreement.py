"""What does a token alone get from attention, from LayerNorm behind it, and from a network?

Two tasks. The verbs: the subject wants -s or not, the verb has it or not, and the answer is 1
where the two differ. The numbers: 0 to 4, as −1 to 1, and the answer is 1 where the number is odd.
Each model maps the token to d_model numbers, has one layer of attention with one head and a
residual connection, and reads the answer by one linear map. All starts are trained at once: their
weights have the start as the first axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store

MODELS = {
    "attention": ("none", 0, True),  # where the norms stand, d_ff, with ReLU or without
    "attention, one LayerNorm": ("post", 0, True),
    "attention, two LayerNorms": ("pre", 0, True),
    "two LayerNorms, affine network": ("post", 16, False),
    "two LayerNorms, network": ("post", 16, True),
}
RATES, D_MODEL = (0.01, 0.003, 0.03), 8
STEPS = 1000
VERBS = [[0.0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]]  # wants -s, has -s, is <sos>
BESIDE = "verbs beside <sos>"


class Comparer:
    """One layer for each start; matrices begin as Glorot starts them, biases at 0."""

    def __init__(self, d_in: int, d: int, norms: str, d_ff: int, relu: bool, starts: int) -> None:
        self.norms, self.d = norms, d
        self.activation: Callable[[Tensor], Tensor] = F.relu if relu else nn.Identity()
        rng = torch.Generator().manual_seed(0)
        shapes = {"in": (d_in, d), "out": (d, 1)}
        shapes |= {name: (d, d) for name in "qkvo"}
        if d_ff:
            shapes |= {"1": (d, d_ff), "2": (d_ff, d)}
        self.weights, self.biases = {}, {}
        for name, (rows, columns) in shapes.items():
            limit = math.sqrt(6 / (rows + columns))
            uniform = 2 * torch.rand((starts, 1, rows, columns), generator=rng) - 1
            self.weights[name] = (limit * uniform).requires_grad_()
            self.biases[name] = torch.zeros(starts, 1, 1, columns, requires_grad=True)
        self.scales = [torch.ones(starts, 1, 1, d, requires_grad=True) for _ in range(2)]
        self.shifts = [torch.zeros(starts, 1, 1, d, requires_grad=True) for _ in range(2)]

    def parameters(self) -> list[Tensor]:
        named = [*self.weights.values(), *self.biases.values()]
        return named + self.scales + self.shifts

    def linear(self, name: str, z: Tensor) -> Tensor:
        """z: (N, T, d) or (starts, N, T, d)."""
        weights = self.weights[name]  # (starts, 1, d, width)
        tokens = z.expand(len(weights), *z.shape[-3:]).flatten(1, 2)
        out = (tokens @ weights[:, 0]).reshape(len(weights), *z.shape[-3:-1], -1)
        return out + self.biases[name]

    def norm(self, number: int, z: Tensor) -> Tensor:
        return F.layer_norm(z, (self.d,)) * self.scales[number] + self.shifts[number]

    def attention(self, z: Tensor) -> Tensor:
        q, k, v = (self.linear(name, z) for name in "qkv")
        return self.linear("o", torch.softmax(q @ k.mT / math.sqrt(self.d), dim=-1) @ v)

    def __call__(self, x: Tensor) -> Tensor:
        """x: (N, T, d_in) -> (starts, N), the logit at the last token."""
        z = self.linear("in", x)  # (starts, N, T, d)
        z = z + self.attention(self.norm(0, z) if self.norms == "pre" else z)
        if self.norms == "post":
            z = self.norm(0, z)
        if "1" in self.weights:
            z = self.norm(1, z + self.linear("2", self.activation(self.linear("1", z))))
        elif self.norms == "pre":
            z = self.norm(1, z)
        return self.linear("out", z)[:, :, -1, 0]


def cases(task: str) -> tuple[Tensor, Tensor]:
    """The sentences (N, T, d_in), and the answer of each, (N,)."""
    if task == "numbers":
        numbers = torch.arange(5.0)
        return (numbers[:, None, None] - 2) / 2, numbers % 2
    x = torch.tensor(VERBS)[:, None]  # (4, 1, 3)
    if task == BESIDE:
        x = torch.cat([torch.tensor([0.0, 0, 1]).expand(4, 1, 3), x], dim=1)
    return x, torch.tensor([0.0, 1, 0, 1])


def train(model: str, task: str, rate: float, starts: int, steps: int) -> list[int]:
    """How many answers of each start are right in the end."""
    x, answers = cases(task)
    layer = Comparer(x.shape[-1], D_MODEL, *MODELS[model], starts)
    optimizer = torch.optim.Adam(layer.parameters(), rate)
    for _ in range(steps):
        logits = layer(x)
        loss = F.binary_cross_entropy_with_logits(
            logits, answers.expand_as(logits), reduction="none"
        )
        optimizer.zero_grad()
        loss.mean(dim=1).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return ((layer(x) > 0) == (answers > 0)).sum(dim=1).tolist()


def measure(small: bool = False) -> dict[str, Any]:
    """{task: {model: {"rate 0.01": [right answers of each start], …}}}."""
    torch.set_num_threads(1)
    starts, steps = (4, 300) if small else (20, STEPS)
    return {
        task: {
            model: {f"rate {rate}": train(model, task, rate, starts, steps) for rate in RATES}
            for model in (MODELS if task != BESIDE else ["attention"])
        }
        for task in ("verbs", "numbers", BESIDE)
    }


def check(figures: dict[str, Any]) -> None:
    """Each model stays below the bound that the chapter proves for it."""
    bounds = {"attention": (3, 3), "attention, one LayerNorm": (4, 4)}
    for model, most in bounds.items():
        for task, bound in zip(("verbs", "numbers"), most, strict=True):
            for runs in figures[task][model].values():
                assert max(runs) <= bound


if __name__ == "__main__":
    run_and_store("feed_forward_agreement", measure)
