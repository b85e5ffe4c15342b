"""What `torch.compile` costs before the first step, and what a step takes then, beside eager."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from qkv.config import TransformerConfig
from qkv.experiments.stored_results import run_and_store
from qkv.text import collate
from qkv.torch import Transformer
from qkv.trainer import TranslationLoss
from qkv.trainer.loss import batch_tensors

__all__ = ["SIZES", "SMALL", "check", "example", "measure", "training_step"]

Step = Callable[[], object]
# Name: width, layers in each half, vocabulary, sentences, tokens of each.
SIZES = {"width 64": (64, 2, 500, 32, 8), "width 256": (256, 3, 4000, 16, 24)}
SMALL = {"width 64": (8, 1, 20, 2, 5), "width 256": (16, 1, 20, 2, 5)}


def measure(small: bool = False) -> dict[str, Any]:
    """A training step in float32, forward and backward, of random sentences of one length.

    Eager takes projection and loss together, as `qkv train` does; what is compiled does not, as
    with `qkv train --compile`. A small run takes a backend that needs no C++ compiler.

    Returns:
        parameters: of each model.
        first: seconds of the first call; by model, eager and compiled.
        step: milliseconds of a later one: process time, the best of rounds that take turns.
        backend: of what is compiled.
        threads: of torch.
    """
    sizes, rounds = (SMALL, 2) if small else (SIZES, 30)
    backend = "aot_eager" if small else "inductor"
    found: dict[str, Any] = {"parameters": {}, "first": {}, "step": {}}
    for name, size in sizes.items():
        torch._dynamo.reset()
        model, tensors = example(*size)
        losses = {mode: TranslationLoss(model, 0.1, mode == "eager") for mode in MODES}
        losses["compiled"].compile(backend=backend)
        steps = {mode: training_step(loss, tensors) for mode, loss in losses.items()}
        found["parameters"][name] = sum(p.numel() for p in model.parameters())
        found["first"][name] = {mode: seconds(time.perf_counter, s) for mode, s in steps.items()}
        times = [[seconds(time.process_time, s) for s in steps.values()] for _ in range(rounds)]
        best = 1e3 * np.min(times, axis=0)
        found["step"][name] = dict(zip(MODES, best.round(2).tolist(), strict=True))
    return found | {"backend": backend, "threads": os.environ.get("OMP_NUM_THREADS", "all")}


MODES = ("eager", "compiled")


def example(
    d_model: int,
    layers: int,
    vocab_size: int,
    rows: int,
    tokens: int,
    device: torch.device | str = "cpu",
) -> tuple[Transformer, tuple[torch.Tensor, ...]]:
    """A model of the paper's proportions without dropout, and a batch without padding."""
    config = TransformerConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        n_heads=d_model // 8 if d_model < 64 else d_model // 32,
        d_ff=4 * d_model,
        n_layers=layers,
        dropout=0.0,
        max_len=tokens + 1,
    )
    rng = np.random.default_rng(0)
    pairs = [(rng.integers(4, vocab_size, tokens), rng.integers(4, vocab_size, tokens + 1))] * rows
    model = Transformer(config, rng=torch.Generator().manual_seed(0))
    batch = collate(pairs, np.arange(rows))
    return model.to(device), batch_tensors(batch, torch.device(device))


def training_step(loss: TranslationLoss, tensors: tuple[torch.Tensor, ...]) -> Step:
    def step() -> None:
        loss.zero_grad()
        torch.autograd.backward(loss(*tensors))

    return step


def seconds(clock: Callable[[], float], step: Step) -> float:
    start = clock()
    step()
    return round(clock() - start, 6)


def check(figures: dict[str, Any]) -> None:
    """Compiling costs more than a hundred steps, and wins nothing on one thread."""
    assert min(figures["parameters"].values()) > 0
    if figures["backend"] != "inductor":
        return  # a tiny model and no compiler: no time is claimed
    for name in SIZES:
        step = figures["step"][name]
        assert 1e3 * figures["first"][name]["compiled"] > 100 * step["eager"]
        assert step["compiled"] > 0.97 * step["eager"]


if __name__ == "__main__":
    run_and_store("devices_compile", measure)
