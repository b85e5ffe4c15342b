"""What training the model that ships costs: tokens, operations, seconds, a rate beside them."""

from __future__ import annotations

import os
import time
from itertools import islice
from typing import Any

import torch

from qkv.checkpoint import Checkpoint
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained.load import MODEL
from qkv.torch import Transformer
from qkv.trainer import (
    DataConfig,
    RuntimeConfig,
    Trainer,
    TrainingConfig,
    TranslationData,
    open_runtime,
)
from qkv.trainer.step_batches import plan_steps

__all__ = ["check", "measure"]


def measure(small: bool = False) -> dict[str, Any]:
    """Steps of the recipe of `tools/train_pretrained.py`, in float32 on one processor.

    Returns:
        steps: of the whole training.
        source_tokens, target_tokens: in all of them, without padding.
        timed: tokens of the source and of the target in the steps that were timed.
        seconds: their process time.
        rate: operations a second of one large product, the best of several.
        threads: as the environment sets them; run it with OMP_NUM_THREADS=1.
    """
    recipe = Checkpoint.load(MODEL).metadata["recipe"]
    config = TrainingConfig(**recipe["training"])
    data = TranslationData.from_config(DataConfig(**recipe["data"]))
    taken = 4 if small else 200
    with open_runtime(RuntimeConfig(device="cpu", threads=1)) as runtime:
        rng = torch.Generator().manual_seed(0)
        model = Transformer(data.model_config(**recipe["model"]), rng=rng)
        trainer = Trainer(model, data, config, runtime)
        list(islice(trainer.steps(), 2))  # the first steps are slower
        start = time.process_time()
        list(islice(trainer.steps(), taken))
        seconds = time.process_time() - start
    plan = list(islice(plan_steps(trainer.lengths, config), trainer.total_steps))
    target = [step.target_tokens for step in plan]
    source = [step.tokens - step.target_tokens for step in plan]
    return {
        "steps": len(plan),
        "source_tokens": sum(source),
        "target_tokens": sum(target),
        "timed": [sum(x[2 : 2 + taken]) for x in (source, target)],
        "seconds": round(seconds, 3),
        "rate": rate(256 if small else 1024),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
    }


def rate(n: int, repeats: int = 10) -> float:
    """Operations a second of a product of two (n, n) matrices in float32."""
    x, times = torch.ones(n, n), []
    for _ in range(repeats):
        start = time.process_time()
        x @ x
        times.append(time.process_time() - start)
    return float(2 * n**3 / min(times))


def check(figures: dict[str, Any]) -> None:
    """The steps that were timed are a part of all; no product is faster than the largest rate."""
    assert figures["steps"] == 3000
    source, target = figures["timed"]
    assert source < figures["source_tokens"]
    assert target < figures["target_tokens"]
    weights = 98_304 + 2 * 4096  # of the encoder, and of cross-attention's keys and values
    assert 6 * weights * source < figures["seconds"] * figures["rate"]


if __name__ == "__main__":
    run_and_store("devices_cost", measure)
