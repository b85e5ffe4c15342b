"""Ten bugs planted in a small Transformer: five raise an error, five do not; their loss curves.

The task is to write six digits in reverse. `measure` trains the model without a bug and with each
silent one, from several seeds. Figures, by bug: `curve`, the mean loss over seeds at `steps`;
`untrained` and `loss`, of new sequences with teacher forcing, before and after; and `exact`, the
share of new sequences that greedy decoding writes without an error. These are for each seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store

__all__ = [
    "CRASHING",
    "SILENT",
    "BuggyTransformer",
    "check",
    "measure",
    "try_shapes",
    "writes_as_it_reads",
]

CRASHING = ("B", "C", "F", "G", "J")
SILENT = ("A", "D", "E", "H", "I")
UNTIED = " untied"
RUNS = ("none", *SILENT, "none" + UNTIED, "I" + UNTIED)
SOS, EOS, V = 10, 11, 12  # the digits are 0 to 9
LENGTH, D_MODEL, HEADS, D_FF = 6, 32, 4, 64


class Attention(nn.Module):
    """Multi-head attention without biases, with the bugs that concern it."""

    def __init__(self, bug: str) -> None:
        super().__init__()
        self.bug = bug
        self.w_q, self.w_k, self.w_v, self.w_o = (
            nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(4)
        )

    def split(self, x: Tensor) -> Tensor:
        B, T, _ = x.shape
        if self.bug == "D":
            return x.reshape(B, HEADS, T, -1)
        return x.reshape(B, T, HEADS, -1).transpose(1, 2)  # (B, H, T, d_k)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        q = self.split(self.w_q(x))  # (B, H, T, d_k)
        k, v = self.split(self.w_k(source)), self.split(self.w_v(source))  # (B, H, S, d_k)
        scores = q @ (k if self.bug == "C" else k.mT) / math.sqrt(q.shape[-1])  # (B, H, T, S)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        context = scores.softmax(-2 if self.bug == "H" else -1) @ v  # (B, H, T, d_v)
        B, _, T, _ = context.shape
        out: Tensor = self.w_o(context.transpose(1, 2).reshape(B, T, -1))
        return out


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(D_MODEL, D_FF), nn.Linear(D_FF, D_MODEL)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(self.up(x).relu())
        return out


class Layer(nn.Module):
    """An encoder layer or, with a memory, a decoder layer; post-norm."""

    def __init__(self, bug: str, n_attentions: int) -> None:
        super().__init__()
        self.bug = bug
        self.attentions = nn.ModuleList([Attention(bug) for _ in range(n_attentions)])
        self.feed_forward = FeedForward()
        self.norms = nn.ModuleList([nn.LayerNorm(D_MODEL) for _ in range(n_attentions + 1)])

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        T = x.shape[1]
        causal = None if memory is None else torch.ones(T, T, dtype=torch.bool).tril()
        x = self.norms[0](x + self.attentions[0](x, x, causal))
        if memory is not None:
            asks, answers = (memory, x) if self.bug == "G" else (x, memory)
            mask = causal if self.bug == "B" else None
            x = self.norms[1](x + self.attentions[1](asks, answers, mask))
        if self.bug == "J":
            x = x + self.feed_forward.up(x).relu()
        out: Tensor = self.norms[-1](x + self.feed_forward(x))
        return out


class BuggyTransformer(nn.Module):
    """Encoder and decoder of two layers each, one table for both and, if tied, for the output.

    Args:
        bug: one letter of CRASHING or SILENT, or "" for none.
        tied: False gives the output a table of its own.
    """

    def __init__(self, bug: str = "", tied: bool = True) -> None:
        super().__init__()
        self.bug = bug
        self.table = nn.Parameter(torch.randn(V, D_MODEL) / math.sqrt(D_MODEL))
        self.out_table = self.table
        self.encoder = nn.ModuleList([Layer(bug, 1) for _ in range(2)])
        self.decoder = nn.ModuleList([Layer(bug, 2) for _ in range(2)])
        if not tied:
            self.out_table = nn.Parameter(torch.randn(V, D_MODEL) / math.sqrt(D_MODEL))

    def embed(self, ids: Tensor, positions: bool = True) -> Tensor:
        x = self.table[ids] * math.sqrt(D_MODEL)
        return x + _waves(ids.shape[1]) if positions else x

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Source (B, S) and decoder input (B, T) to logits (B, T, V)."""
        x = self.embed(source, positions=self.bug != "E")
        layers = [x := layer(x) for layer in self.encoder]
        memory = layers[0] if self.bug == "A" else layers[-1]
        y = self.embed(target)
        for layer in self.decoder:
            y = layer(y, memory)
        return y @ (self.out_table if self.bug == "F" else self.out_table.T)


def try_shapes(bug: str) -> str:
    """Run an untrained model once: the shape of its logits, or the first line of its error."""
    source, target = _draw(3, np.random.default_rng(0))
    torch.manual_seed(0)
    try:
        logits = BuggyTransformer(bug)(source, _decoder_input(target, bug))
    except RuntimeError as error:
        return f"error: {str(error).splitlines()[0]}"
    return f"runs: logits {tuple(logits.shape)}"


def writes_as_it_reads(bug: str) -> bool:
    """Whether an untrained model gives each prefix of a target the row that the whole gives it."""
    source, target = _draw(3, np.random.default_rng(0))
    torch.manual_seed(0)
    model, inputs = BuggyTransformer(bug), _decoder_input(target, bug)
    with torch.no_grad():
        whole = model(source, inputs)
        rows = [model(source, inputs[:, : t + 1])[:, -1] for t in range(inputs.shape[1])]
    return torch.allclose(torch.stack(rows, 1), whole, atol=1e-4)


def _waves(length: int) -> Tensor:
    from qkv.torch import sinusoidal_encoding

    waves: Tensor = sinusoidal_encoding(length, D_MODEL)
    return waves


def _draw(n: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Digits (n, 6), and the same in reverse with <eos> (n, 7)."""
    source = torch.from_numpy(rng.integers(10, size=(n, LENGTH)))
    return source, torch.cat([source.flip(1), torch.full((n, 1), EOS)], 1)


def _decoder_input(target: Tensor, bug: str) -> Tensor:
    if bug == "I":
        return target
    return torch.cat([torch.full((len(target), 1), SOS), target[:, :-1]], 1)


def _loss(model: BuggyTransformer, source: Tensor, target: Tensor) -> Tensor:
    logits = model(source, _decoder_input(target, model.bug))
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())


def _train(bug: str, seed: int, steps: int, every: int) -> dict[str, Any]:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = BuggyTransformer(bug.removesuffix(UNTIED), tied=not bug.endswith(UNTIED))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    new, answer = _draw(200, np.random.default_rng(1000 + seed))
    with torch.no_grad():
        untrained = _loss(model, new, answer).item()
    losses = []
    for _ in range(steps):
        loss = _loss(model, *_draw(64, rng))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        written = torch.full((200, 1), SOS)
        for _ in range(LENGTH + 1):
            best = model(new, written)[:, -1].argmax(-1, keepdim=True)
            written = torch.cat([written, best], 1)
        exact = (written[:, 1:] == answer).all(1).float().mean().item()
        unseen = _loss(model, new, answer).item()
    return {
        "curve": np.reshape(losses, (-1, every)).mean(1).tolist(),
        "untrained": untrained,
        "loss": unseen,
        "exact": exact,
    }


def measure(small: bool = False) -> dict[str, Any]:
    """Train the model without a bug ("none") and with each silent one; two of them untied too."""
    seeds, steps, every = (1, 60, 20) if small else (5, 500, 20)
    figures: dict[str, Any] = {"steps": list(range(every, steps + 1, every)), "bugs": {}}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for bug in RUNS:
        runs = [_train(bug.replace("none", ""), seed, steps, every) for seed in range(seeds)]
        figures["bugs"][bug] = {
            "curve": np.mean([run["curve"] for run in runs], 0).round(4).tolist(),
            "untrained": [round(run["untrained"], 4) for run in runs],
            "loss": [round(run["loss"], 4) for run in runs],
            "exact": [round(run["exact"], 3) for run in runs],
        }
    torch.set_num_threads(threads)
    return figures


def check(figures: dict[str, Any]) -> None:
    """What the book says; a run of few steps shows only which curve falls at once."""
    bugs = figures["bugs"]
    assert list(bugs) == list(RUNS)
    for bug in bugs:  # the bug that reads the answer falls first
        assert bugs["I"]["curve"][2] <= bugs[bug]["curve"][2]
    assert max(bugs["H"]["exact"] + bugs["I"]["exact"]) == 0
    assert max(bugs["I"]["untrained"]) < 0.5 < 2 < min(bugs["none"]["untrained"])
    if len(figures["steps"]) < 10:
        return
    none = max(bugs["none"]["loss"])
    assert min(bugs["none"]["exact"] + bugs["A"]["exact"]) > 0.95
    assert max(bugs["D"]["exact"] + bugs["E"]["exact"]) < 0.05
    assert none < 0.02
    for bug in "ADHI":
        assert max(bugs[bug]["loss"]) < 0.02
    assert max(bugs["I"]["loss"]) < min(bugs["none"]["loss"])
    assert 0.8 < min(bugs["E"]["loss"]) <= max(bugs["E"]["loss"]) < 1.1


if __name__ == "__main__":
    run_and_store("transformer_bugs", measure)
