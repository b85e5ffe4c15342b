"""Averaging checkpoints: the last five of a training against their average, from several seeds.

Batches and model are those of `training_runs`. One half of the runs keeps its rate constant after
the warm-up, the other lets it fall to 0. Figures, by schedule: `last`, the loss on pairs held back
of each of the last COUNT checkpoints, one list a seed; `average`, that of their average.
"""

from __future__ import annotations

from typing import Any

import torch

from qkv.bridge import copy_parameters, state_dict
from qkv.experiments.stored_results import run_and_store
from qkv.experiments.training_runs import RATE, Run, validation_loss
from qkv.learning_rate_schedules import linear_schedule
from qkv.numpy import average_checkpoints

__all__ = ["SCHEDULES", "check", "measure"]

Figures = dict[str, Any]

SCHEDULES = ("constant", "falling")
COUNT = 5  # checkpoints, as for the paper's base model


def _train(schedule: str, seed: int, steps: int, every: int) -> dict[str, Any]:
    run, warmup = Run("healthy", seed, steps), max(1, steps // 10)
    states, losses = [], []
    for step in range(1, steps + 1):
        falling = linear_schedule(step, steps, warmup, RATE)
        run.step(falling if schedule == "falling" else RATE * min(1.0, step / warmup))
        if step > steps - COUNT * every and step % every == 0:
            states.append({name: value.copy() for name, value in state_dict(run.model).items()})
            losses.append(round(validation_loss(run.model), 4))
    copy_parameters(average_checkpoints(states), run.model)
    return {"last": losses, "average": round(validation_loss(run.model), 4)}


def measure(small: bool = False) -> Figures:
    """Losses of the last checkpoints and of their average, by schedule."""
    seeds, steps, every = (1, 25, 5) if small else (3, 1000, 20)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    figures: Figures = {"steps": steps, "every": every}
    for schedule in SCHEDULES:
        runs = [_train(schedule, seed, steps, every) for seed in range(seeds)]
        figures[schedule] = {key: [run[key] for run in runs] for key in ("last", "average")}
    torch.set_num_threads(threads)
    return figures


def check(figures: Figures) -> None:
    """What the chapter says; a small run ends while its loss still falls."""
    for schedule in SCHEDULES:
        assert all(len(last) == COUNT for last in figures[schedule]["last"])
    if figures["steps"] < 1000:
        return
    constant, falling = (figures[schedule] for schedule in SCHEDULES)
    for last, average in zip(constant["last"], constant["average"], strict=True):
        assert average < 0.7 * min(last)
    for last, average in zip(falling["last"], falling["average"], strict=True):
        assert 0.9 * min(last) < average < max(last)


if __name__ == "__main__":
    run_and_store("training_average", measure)
