"""Whether `--compile` pays: what it cost, told from the times of the first steps."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from qkv.trainer.events import Event, FitStart, StepResult

__all__ = ["CompileCost"]

STEPS = 8  # after which it is known: other shapes may mean compiling again


class CompileCost:
    """Give it every event; after a few steps it says, once, what compiling cost.

    Args:
        on_cpu: whether the run is on a processor, where the book measured no gain.
        clock: of seconds.
    """

    def __init__(self, on_cpu: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.on_cpu, self.clock = on_cpu, clock
        self.planned, self.before = 0, 0.0
        self.seconds: list[float] = []  # of each step

    def add(self, event: Event) -> str:
        """What there is to say after an event: some sentences, or nothing."""
        if len(self.seconds) == STEPS:
            return ""
        if isinstance(event, FitStart):
            self.planned = event.steps - event.step
        if isinstance(event, StepResult):
            _ = event.loss  # waits for the device
            self.seconds.append(self.clock() - self.before)
        self.before = self.clock()  # so that a validation's time falls to no step
        enough = len(self.seconds) == min(STEPS, self.planned) >= 3
        return self._cost() if enough and isinstance(event, StepResult) else ""

    def _cost(self) -> str:
        usual = statistics.median(self.seconds)
        spent = max(0.0, sum(self.seconds) - len(self.seconds) * usual)
        ratio = 1 + spent / (self.planned * usual)
        said = (
            f"--compile: {spent:.1f} s went into compiling, and a step now takes "
            f"{1e3 * usual:.1f} ms. Over {self.planned:,} steps that pays only if one without "
            f"--compile would take at least {ratio:.2f} times as long."
        )
        return (
            f"{said} On a processor, chapter 17 of the book saw no gain." if self.on_cpu else said
        )
