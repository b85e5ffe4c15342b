"""Divergence: at which step loss or gradient stopped being finite, without a wait at each."""

from __future__ import annotations

import math

import torch

from qkv.trainer.events import StepResult
from qkv.trainer.history import History

__all__ = ["DivergenceCheck", "check_finite"]

TOGETHER = 50  # steps whose numbers an accelerator is asked for together


class DivergenceCheck:
    """Stop at the first step whose gradient is not finite: what moved since means nothing.

    The norm of the gradient is taken after the processes have added theirs up, so all of them stop
    at the same step. To read a number off an accelerator waits until it has come that far; so
    there, the numbers of 50 steps are left where they are, and read in one go.

    Args:
        device: where the numbers are.
        history: what is read is noted there.
    """

    def __init__(self, device: torch.device, history: History) -> None:
        self.together = 1 if device.type == "cpu" else TOGETHER
        self.history = history
        self.waiting: list[StepResult] = []

    def add(self, result: StepResult) -> None:
        """Take a step, its numbers still on the device.

        Raises:
            ValueError: as `read`, if it is time to.
        """
        self.waiting.append(result)
        if len(self.waiting) >= self.together:
            self.read()

    def read(self) -> None:
        """Look at the steps that were not looked at yet.

        Raises:
            ValueError: one of them was not finite.
        """
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        losses = torch.stack([result.loss_sum for result in waiting]).tolist()
        norms = torch.stack([result.norm for result in waiting]).tolist()
        for result, loss, norm in zip(waiting, losses, norms, strict=True):
            if not math.isfinite(norm):
                name, value = ("gradient", norm) if math.isfinite(loss) else ("loss", loss)
                raise ValueError(
                    f"Trainer: the {name} became {'NaN' if math.isnan(value) else 'infinite'} at "
                    f"step {result.step:,}: begin another run with a lower rate "
                    "(`learning_rate`), or with a longer warm-up (`warmup`)"
                )
            self.history.add(result, loss, norm)


def check_finite(loss: float, step: int) -> None:
    """Refuse a mean loss, over all processes and the steps since a validation, that is not finite.

    Raises:
        ValueError: it is not.
    """
    if not math.isfinite(loss):
        raise ValueError(
            f"Trainer: the loss is {loss} by step {step:,}: begin another run with a lower rate "
            "(`learning_rate`), or with a longer warm-up (`warmup`)"
        )
