"""Learning rate, warm-up and norm: a small translator trained with each choice, from several seeds.

The rate rises in a line over the first steps and stays. Data and loss are those of
`training_runs`; the model is that of OPTIONS, post-norm as in the paper, or pre-norm. Figures, by
norm, one row a warm-up, one column a rate: `loss`, one number a seed, the loss on pairs held back
at the end; `training`, the mean of the seeds' training losses, each a mean over `every` steps. A
loss above HIGHEST, or none at all, counts as HIGHEST.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from qkv.experiments.stored_results import run_and_store
from qkv.experiments.training_runs import Run, validation_loss

__all__ = ["HIGHEST", "check", "measure", "train"]

Figures = dict[str, Any]

OPTIONS = {"n_layers": 3, "d_model": 32, "d_ff": 64}
HIGHEST = 20.0


def train(norm: str, rate: float, warmup: int, seed: int, steps: int) -> tuple[list[float], float]:
    """Train once; the loss of each step, and that on pairs held back at the end."""
    run = Run("healthy", seed, steps, OPTIONS | {"norm_first": norm == "pre"})
    losses = [run.step(rate * min(1.0, step / warmup)) for step in range(1, steps + 1)]
    return [_bounded(loss) for loss in losses], _bounded(validation_loss(run.model))


def _bounded(loss: float) -> float:
    return min(loss, HIGHEST) if loss == loss else HIGHEST


def measure(small: bool = False) -> Figures:
    """Losses by norm, warm-up and rate."""
    rates = [0.001, 0.003] if small else [0.0003, 0.001, 0.003, 0.01, 0.03]
    warmups = [1, 10] if small else [1, 30, 100]
    seeds, steps, every = (1, 20, 10) if small else (5, 250, 10)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    figures: Figures = {"steps": steps, "every": every, "rates": rates, "warmups": warmups}
    for norm in ("post", "pre"):
        loss, training = [], []
        for warmup in warmups:
            runs = [
                [train(norm, rate, warmup, seed, steps) for seed in range(seeds)] for rate in rates
            ]
            loss.append([[round(end, 3) for _, end in of_rate] for of_rate in runs])
            curves = np.array([[curve for curve, _ in of_rate] for of_rate in runs])
            means = curves.reshape(len(rates), seeds, -1, every).mean((1, 3))
            training.append(means.round(3).tolist())
        figures[norm] = {"loss": loss, "training": training}
    torch.set_num_threads(threads)
    return figures


def check(figures: Figures) -> None:
    """What the chapter says; in a small run, that every loss is a number above 0."""
    post, pre = (np.array(figures[norm]["loss"]) for norm in ("post", "pre"))  # (W, R, seeds)
    assert min(post.min(), pre.min()) > 0
    if figures["steps"] < 250:
        return
    assert post[0, 3].min() > 4 > 1 > post[2, 3].max()  # rate 0.01: no warm-up, 100 steps
    assert max(pre[0, 3].max(), pre[2, 3].max()) < 0.5
    assert pre[0, 4].min() > 2 > 1.5 > pre[2, 4].max()  # rate 0.03
    for of_norm in (post, pre):  # low rates: a warm-up costs a little
        none, short, long = of_norm[:, :3].mean(2)
        assert (none < short).all()
        assert (short < long).all()
        assert (long - none).max() < 0.5


if __name__ == "__main__":
    run_and_store("training_rates", measure)
