"""Progress of `qkv train`: a moving line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

from qkv.commands.messages import counted, escaped
from qkv.commands.train.compile_cost import CompileCost
from qkv.config import parameter_count
from qkv.trainer import Trainer, TrainingRun
from qkv.trainer.events import (
    TELLING_BLEU,
    AverageResult,
    Event,
    FitStart,
    Scores,
    StepResult,
    ValidationResult,
)
from qkv.trainer.loop import learning_rate_schedule

__all__ = ["TrainingProgress"]

PLAIN_SECONDS = 30.0
SHOWN_SECONDS = 0.5


class TrainingProgress:
    """Show the events of a training, as `Trainer.fit` gives them; only the main process speaks.

    Args:
        trainer, run: whose events these are.
    """

    def __init__(self, trainer: Trainer, run: TrainingRun) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.trainer, self.run = trainer, run
        silent = not trainer.runtime.is_main_process
        self.console = Console(highlight=False, emoji=False, quiet=silent, soft_wrap=True)
        self.bar: Progress | None = None
        if self.console.is_terminal and not silent:
            columns = BarColumn(20), TextColumn("{task.description}")
            self.bar = Progress(*columns, console=self.console, transient=True)
        self.start = FitStart(0, trainer.total_steps)
        self.began = self.shown = time.monotonic()
        self.tokens, self.paused = 0, 0.0
        self.recent: list[StepResult] = []  # since the loss was shown
        self.compile_cost: CompileCost | None = None
        if trainer.runtime.config.compile:
            self.compile_cost = CompileCost(trainer.runtime.device.type == "cpu")

    def __enter__(self) -> TrainingProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar:
            self.bar.stop()

    def __call__(self, event: Event) -> None:
        """Show an event."""
        match event:
            case FitStart():
                self._fit_start(event)
            case StepResult():
                self._step(event)
            case ValidationResult():
                self._validation(event)
            case AverageResult():
                end = "better than each, so it is best.json now"
                end = end if event.best else "no better than the best"
                self._line(f"average of the last {event.count}: {in_words(event.scores)}; {end}")
        if self.compile_cost and (said := self.compile_cost.add(event)):
            self._line(said)

    def end(self) -> None:
        """Say what it took, and where the best model is."""
        state = self.trainer.state
        self._line(
            f"{state.seconds:.0f} s of training, {state.cpu_seconds:.0f} s of processor time. "
            f"The best model is {self.run.best}."
        )

    def _fit_start(self, event: FitStart) -> None:
        """Say what is about to happen, and what is left out."""
        data, runtime = self.trainer.data, self.trainer.runtime
        for n, what in zip(data.left_out, ("training", "validation"), strict=True):
            if n:
                reason = f"more than --max-len {data.config.max_len} tokens, left out"
                self._line(f"{counted(n, 'pair')} for {what} with {reason}.")
        sizes = f"{len(data.source):,}"
        if data.config.separate_vocabularies:
            sizes += f" and {len(data.target):,}"
        processes = f", {runtime.world_size} processes" if runtime.world_size > 1 else ""
        self._line(
            f"{counted(len(data.training), 'pair')} to learn from, {len(data.validation):,} to "
            f"validate with; vocabulary {sizes}; {parameter_count(self.trainer.model.config):,} "
            f"parameters; {runtime.device}{processes}."
        )
        if self.run.resume:
            began = machine_in_words(self.run.stored().machine)
            now = machine_in_words(runtime.machine)
            if began and began != now:
                self._line(
                    f"This run began on {began} and goes on with {now}: the last digits of its "
                    "numbers may differ."
                )
        if event.step:
            self._line(f"Going on from step {event.step:,} of {event.steps:,}.")
            if 0 < event.before < event.steps:
                self._line(longer_in_words(self.trainer, event))
            elif event.step == event.steps:
                self._line("It is at its end. To train on, give more --epochs or --steps.")
        else:
            self._line(f"{counted(event.steps, 'step')}, saved in {self.run.path}.")
        self.start = event
        self.began = self.shown = time.monotonic()
        if self.bar:
            self.task = self.bar.add_task("", total=event.steps, completed=event.step)
            self.bar.start()

    def _step(self, event: StepResult) -> None:
        """Now and then, loss since the last time, tokens a second, step and time left."""
        self.tokens += event.tokens
        self.recent.append(event)
        now = time.monotonic()
        if now - self.shown < (SHOWN_SECONDS if self.bar else PLAIN_SECONDS):
            return
        target_tokens = sum(result.target_tokens for result in self.recent)
        loss = sum(result.loss * result.target_tokens for result in self.recent) / target_tokens
        self.recent, self.shown, spent = [], now, now - self.began
        left = spent / max(1, event.step - self.start.step) * (self.start.steps - event.step)
        text = (
            f"step {event.step:,} of {self.start.steps:,}  loss {loss:.3f}  "
            f"{self.tokens / (spent - self.paused):,.0f} tokens/s  {duration(left)} left"
        )
        if self.bar:
            self.bar.update(self.task, completed=event.step, description=text)
        else:
            self.console.print(text)

    def _validation(self, event: ValidationResult) -> None:
        self.paused += event.pause
        self.recent = []
        best = ", the best so far" if event.best else ""
        self._line(
            f"step {event.step:,} of {self.start.steps:,}, epoch {event.epoch}: "
            f"loss {event.training_loss:.3f}; validation {in_words(event.scores)}{best}"
        )
        if len(self.trainer.history.validations) == 1:
            self._line(
                f"BLEU is sacreBLEU's, {event.scores.signature}. The best model is the one of the "
                f"highest BLEU; while that is below {TELLING_BLEU:g}, of the lowest loss."
            )
            if parts := training_loss_parts(self.trainer):
                self._line(f"The training loss is taken with {parts}, the validation loss without.")

    def _line(self, text: str) -> None:
        """Say something that stays."""
        self.console.print(escaped(text), markup=False)


def longer_in_words(trainer: Trainer, start: FitStart) -> str:
    """What the learning rate does in a run that goes on for longer than it was to."""
    more = f"The run had {start.before:,} steps, and has {start.steps:,} now."
    config = trainer.config
    if config.schedule == "noam" or start.step == start.steps:
        return f"{more} The learning rate goes on as it would have."
    rates = learning_rate_schedule(config, trainer.model.config.d_model)
    before = learning_rate_schedule(replace(config, steps=start.before), 1)(max(start.step, 1))
    return (
        f"{more} The learning rate, {before:.2g} at the last step, goes on at "
        f"{rates(start.step + 1):.2g}, as in a run of {start.steps:,}, and falls to 0 at the end. "
        "So the model is not the one that such a run from the beginning would give."
    )


def training_loss_parts(trainer: Trainer) -> str:
    """What is in the training loss and in no other: it alone may be the higher of the two."""
    smoothing, dropout = trainer.config.label_smoothing, trainer.model.config.dropout
    parts = [
        f"{name} {value:g}"
        for name, value in (("label smoothing", smoothing), ("dropout", dropout))
        if value
    ]
    return " and ".join(parts)


def in_words(scores: Scores) -> str:
    return f"loss {scores.loss:.3f}, BLEU {scores.bleu:.2f}, {scores.exact:.1f} % exact"


def machine_in_words(machine: Mapping[str, Any]) -> str:
    """A machine as `Runtime.machine` gives it; nothing where not all of it is known."""
    if None in machine.values():
        return ""
    processes, threads = counted(machine["processes"], "process"), machine["threads"]
    return f"{machine['device']} ({processes}, {counted(threads, 'thread')} each)"


def duration(seconds: float) -> str:
    """3:07, or 2:03:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
