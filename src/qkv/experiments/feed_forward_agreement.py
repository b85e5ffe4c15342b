"""What does a token alone get from attention, from LayerNorm behind it, and from a network?

Two tasks. The verbs: the subject wants -s or not, the verb has it or not, and the answer is 1 where
the two differ. The numbers: 0 to 4, as −1 to 1, and the answer is 1 where the number is odd. Each
model maps the token to d_model numbers, has one layer of attention with one head and a residual
connection, and reads the answer by one linear map. All starts are trained at once: their weights
have the start as the first axis.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store

MODELS = {
    "attention": ("none", 0),  # where the norms stand, d_ff
    "attention, one LayerNorm": ("post", 0),
    "attention, two LayerNorms": ("pre", 0),
    "attention, LayerNorm, network": ("post", 16),
}
SETTINGS = ((8, 0.01), (8, 0.003), (8, 0.03), (32, 0.01))  # d_model, rate
STEPS = 1000
VERBS = [[0.0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]]  # wants -s, has -s, is <sos>
BESIDE = "verbs beside <sos>"
TASKS = ("verbs", "numbers", BESIDE)


class Comparer:
    """One layer for each start; matrices begin as Glorot starts them, biases at 0."""

    def __init__(self, d_in: int, d: int, norms: str, d_ff: int, starts: int) -> None:
        self.norms, self.d = norms, d
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
        return z @ self.weights[name] + self.biases[name]

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
            z = self.norm(1, z + self.linear("2", F.relu(self.linear("1", z))))
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


def train(model: str, task: str, d: int, rate: float, starts: int, steps: int) -> list[int]:
    """How many answers of each start are right in the end."""
    x, answers = cases(task)
    layer = Comparer(x.shape[-1], d, *MODELS[model], starts)
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
    """{task: {model: {"d_model 8, rate 0.01": [right answers of each start], …}}}."""
    torch.set_num_threads(1)
    starts, steps = (4, 300) if small else (20, STEPS)
    return {
        task: {
            model: {
                f"d_model {d}, rate {rate}": train(model, task, d, rate, starts, steps)
                for d, rate in SETTINGS
            }
            for model in MODELS
            if task != BESIDE or model == "attention"
        }
        for task in TASKS
    }


def check(figures: dict[str, Any]) -> None:
    """Each model stays below the bound that the chapter proves for it."""
    bounds = {"attention": (3, 3), "attention, one LayerNorm": (4, 4)}
    for model, most in bounds.items():
        for task, bound in zip(TASKS, most, strict=False):
            for runs in figures[task][model].values():
                assert max(runs) <= bound


if __name__ == "__main__":
    run_and_store("feed_forward_agreement", measure)
