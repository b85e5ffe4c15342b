"""A small translator trained without feed-forward networks: what is lost? Five seeds each.

Three models of one seed, which see the same batches: as it is; with networks that have lost their
ReLU, so that they are affine, with as many parameters; with no network at all. LayerNorm, residual
connections and attention stay. Two learning rates: the first was chosen for the model as it is.
Figures are the shares of 1,000 pairs held back that greedy decoding translates word for word, and
the loss of these pairs in nats per token.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from qkv.experiments.small_translator import train_translator
from qkv.experiments.stored_results import run_and_store
from qkv.torch import FeedForward, Transformer
from qkv.trainer import TranslationData

MODELS = ("with ReLU", "without ReLU", "no network")
RATES = (0.005, 0.0025)


class Affine(nn.Module):
    """The same network with no function between its matrices."""

    def __init__(self, network: FeedForward) -> None:
        super().__init__()
        self.w_1, self.w_2, self.dropout = network.w_1, network.w_2, network.dropout

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.w_2(self.dropout(self.w_1(x)))
        return out


class Nothing(nn.Module):
    """No network: the residual connection alone."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def edit(model: Transformer, kind: str) -> None:
    """Replace the network of every layer of the encoder and of the decoder."""
    layers: Any = [*model.encoder.layers, *model.decoder.layers]
    for layer in layers:
        if kind == "without ReLU":
            layer.feed_forward = Affine(layer.feed_forward)
        elif kind == "no network":
            layer.feed_forward = Nothing()


def measure(small: bool = False) -> dict[str, Any]:
    """{"rate 0.005": {model: {"exact": [of each seed], "loss": …, "parameters"}}, …}."""
    torch.set_num_threads(1)
    seeds, steps = (range(2), 20) if small else (range(5), 600)
    data = TranslationData.from_grammar(
        words=True, separate_vocabularies=True, max_len=16, valid_pairs=100 if small else 1000
    )
    figures: dict[str, Any] = {"steps": steps}
    for rate in RATES:
        figures[f"rate {rate}"] = of = {}
        for kind in MODELS:
            runs = [train(data, steps, seed, rate, kind) for seed in seeds]
            parameters = {"parameters": runs[0]["parameters"]}
            of[kind] = parameters | {key: [run[key] for run in runs] for key in ("exact", "loss")}
    return figures


def train(data: TranslationData, steps: int, seed: int, rate: float, kind: str) -> dict[str, float]:
    """Train one model: its number of parameters, and its scores on pairs held back."""
    trainer = train_translator(
        data, steps=steps, seed=seed, learning_rate=rate, edit=lambda model: edit(model, kind)
    )
    scores = trainer.validate()
    parameters = sum(p.numel() for p in trainer.model.parameters())
    found = {"exact": round(scores.exact / 100, 4), "loss": round(scores.loss, 4)}
    return {"parameters": parameters, **found}


def check(figures: dict[str, Any]) -> None:
    """What the chapter says; a small run has too few steps for all of it."""
    for rate in RATES:
        relu, affine, none = (figures[f"rate {rate}"][kind] for kind in MODELS)
        assert relu["parameters"] == affine["parameters"] > none["parameters"]
        if figures["steps"] < 500:
            continue
        pairs = list(zip(none["exact"], relu["exact"], strict=True))
        if rate == RATES[0]:
            assert all(a > b for a, b in pairs)
            assert max(affine["exact"]) < min(none["exact"])
        else:
            assert all(a < b for a, b in pairs)


if __name__ == "__main__":
    run_and_store("feed_forward_trained", measure)
