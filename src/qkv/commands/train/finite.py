"""At which update a run diverged, told at once, and without a wait for the device at each."""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["FiniteCheck"]

TOGETHER = 50  # updates whose numbers an accelerator is asked for together


class FiniteCheck:
    """Stop at the first update whose gradient is not finite: from there on, all parameters are NaN.

    The norm of the gradient is taken after the processes have added theirs up, so all of them stop
    at the same update. To read a number off an accelerator waits until it has come that far; so
    there, the numbers of 50 updates are left where they are, and read in one go.

    Args:
        device: where the numbers are.
    """

    def __init__(self, device: torch.device) -> None:
        self.together = 1 if device.type == "cpu" else TOGETHER
        self.waiting: list[tuple[int, Tensor, Tensor]] = []

    def add(self, step: int, loss: Tensor, norm: Tensor) -> None:
        """Take the loss of an update, and its gradient's norm, both still on the device.

        Raises:
            ValueError: as `read`, if it is time to.
        """
        self.waiting.append((step, loss, norm))
        if len(self.waiting) >= self.together:
            self.read()

    def read(self) -> None:
        """Look at the updates that were not looked at yet.

        Raises:
            ValueError: one of them was not finite.
        """
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        losses = torch.stack([loss for _, loss, _ in waiting]).tolist()
        norms = torch.stack([norm for _, _, norm in waiting]).tolist()
        for (step, _, _), loss, norm in zip(waiting, losses, norms, strict=True):
            if not math.isfinite(norm):
                name, value = ("gradient", norm) if math.isfinite(loss) else ("loss", loss)
                raise ValueError(
                    f"the {name} became {'NaN' if math.isnan(value) else 'infinite'} at update "
                    f"{step:,}: begin another run with a lower rate (--rate), or with a longer "
                    "warm-up (--warmup)"
                )
