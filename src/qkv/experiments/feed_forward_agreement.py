"""Does attention alone learn to compare two features of one token? And a feed-forward network?

The four tokens are the verbs of the chapter: the subject wants -s or not, the verb has it or not.
The answer is 1 where the two differ. Each model maps the token to 8 numbers, adds what its layers
say, and reads the answer by one linear map. Nothing else in it bends but softmax or ReLU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store
from qkv.torch import FeedForward, MultiHeadAttention

MODELS = {
    "attention, 1 layer, 1 head": (1, 1, 0),  # layers, heads, d_ff
    "attention, 1 layer, 4 heads": (1, 4, 0),
    "attention, 4 layers, 4 heads": (4, 4, 0),
    "feed-forward, 16 units": (0, 0, 16),
}
SENTENCES = ("the verb alone", "<sos> and the verb")
STEPS, RATE, D_MODEL = 400, 0.02, 8


class Comparer(nn.Module):
    """A linear map in, residual layers of attention or a feed-forward network, a linear map out."""

    def __init__(self, layers: int, heads: int, d_ff: int, rng: torch.Generator) -> None:
        super().__init__()
        self.map_in = nn.Linear(3, D_MODEL)
        attentions = [MultiHeadAttention(D_MODEL, heads, rng=rng) for _ in range(layers)]
        self.attentions = nn.ModuleList(attentions)
        networks = [FeedForward(D_MODEL, d_ff, rng=rng)] if d_ff else []
        self.networks = nn.ModuleList(networks)
        self.map_out = nn.Linear(D_MODEL, 1)

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, T, 3) -> (B,), the logit at the last token."""
        z = self.map_in(x)  # (B, T, D_MODEL)
        for attention in self.attentions:
            z = z + attention(z, need_weights=False)[0]
        for network in self.networks:
            z = z + network(z)
        logits: Tensor = self.map_out(z)[:, -1, 0]  # (B,)
        return logits


def cases(sentence: str) -> tuple[Tensor, Tensor]:
    """The four verbs, (4, T, 3): wanted and present -s as −1 or 1, and 1 for <sos>; the answers."""
    verbs = torch.tensor([[-1.0, -1, 0], [-1, 1, 0], [1, 1, 0], [1, -1, 0]])[:, None]
    start = torch.tensor([0.0, 0, 1]).expand(4, 1, 3)
    x = verbs if sentence == SENTENCES[0] else torch.cat([start, verbs], dim=1)
    return x, torch.tensor([0.0, 1, 0, 1])


def train(model: str, sentence: str, seed: int) -> tuple[int, int]:
    """How many of the four it gets right in the end, and how many parameters it has."""
    torch.manual_seed(seed)
    network = Comparer(*MODELS[model], torch.Generator().manual_seed(seed))
    optimizer = torch.optim.Adam(network.parameters(), RATE)
    x, answers = cases(sentence)
    for _ in range(STEPS):
        loss = F.binary_cross_entropy_with_logits(network(x), answers)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    right = int(((network(x) > 0) == (answers > 0)).sum())
    return right, sum(p.numel() for p in network.parameters())


def measure(small: bool = False) -> dict[str, Any]:
    """Right answers of 4 for each seed: {model: {"parameters", sentence: [of each seed]}}."""
    torch.set_num_threads(1)
    figures: dict[str, Any] = {}
    for model in MODELS:
        runs = {s: [train(model, s, seed) for seed in range(1 if small else 10)] for s in SENTENCES}
        figures[model] = {"parameters": runs[SENTENCES[0]][0][1]}
        figures[model] |= {s: [right for right, _ in runs[s]] for s in SENTENCES}
    return figures


def check(figures: dict[str, Any]) -> None:
    """Alone, attention never gets four right; with <sos> it does; the network always does."""
    for model, of in figures.items():
        if model.startswith("attention"):
            assert max(of[SENTENCES[0]]) <= 3
        else:
            assert min(of[SENTENCES[0]]) == 4
        assert min(of[SENTENCES[1]]) == 4
    one, network = (figures[m]["parameters"] for m in ("attention, 1 layer, 1 head", model))
    assert abs(one - network) < 0.05 * network


if __name__ == "__main__":
    run_and_store("feed_forward_agreement", measure)
