"""Learning rate and warm-up: a small translator trained with each pair of them, from several seeds.

The rate rises in a line over the first steps and stays. Data and loss are those of
`training_runs`; the model is that of OPTIONS, post-norm as in the paper. Figures: `loss`, for each
warm-up one row a rate, one number a seed: the loss on pairs held back, at the end.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from qkv.experiments.stored_results import run_and_store
from qkv.experiments.training_runs import Run, validation_loss

__all__ = ["check", "final_loss", "measure"]

Figures = dict[str, Any]

OPTIONS = {"n_layers": 3, "d_model": 32, "d_ff": 64, "norm_first": False}


def final_loss(rate: float, warmup: int, seed: int, steps: int) -> float:
    """Train once; the loss on pairs held back, or infinity where training has diverged."""
    run = Run("healthy", seed, steps, OPTIONS)
    for step in range(1, steps + 1):
        loss = run.step(rate * min(1.0, step / warmup))
        if not math.isfinite(loss):
            return math.inf
    return validation_loss(run.model)


def measure(small: bool = False) -> Figures:
    """Final losses by rate and warm-up."""
    rates = [0.001, 0.003] if small else [0.001, 0.003, 0.01, 0.03]
    warmups = [1, 10] if small else [1, 30, 100]
    seeds, steps = (1, 20) if small else (2, 250)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    loss = [
        [
            [round(final_loss(rate, warmup, seed, steps), 3) for seed in range(seeds)]
            for rate in rates
        ]
        for warmup in warmups
    ]
    torch.set_num_threads(threads)
    return {"steps": steps, "rates": rates, "warmups": warmups, "loss": loss}


def check(figures: Figures) -> None:
    """What the chapter says; in a small run, that every loss is a number above 0."""
    loss = figures["loss"]
    assert min(value for rows in loss for row in rows for value in row) > 0
    if figures["steps"] < 250:
        return
    constant, short, long = loss
    for column in range(2):  # low rates: a warm-up costs a little
        assert max(constant[column]) < min(long[column]) + 0.5 < max(constant[column]) + 1
    assert min(constant[2]) > 4 > max(short[2]) > min(short[2]) > 2 > max(long[2])
    assert max(long[2]) < min(value for row in constant for value in row)
    assert min(value for rows in loss for value in rows[3]) > 3


if __name__ == "__main__":
    run_and_store("training_rates", measure)
