"""What a run says while it goes on: a moving line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

__all__ = ["Progress"]

PLAIN_SECONDS = 30.0
SHOWN_SECONDS = 0.5


class Progress:
    """Loss, useful tokens a second, step and time left.

    Args:
        total: updates of the whole run.
        step: those done.
        silent: say nothing, as all processes do but the first.
    """

    def __init__(self, total: int, step: int = 0, silent: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self.total, self.silent = total, silent
        self.console = Console(highlight=False, quiet=silent, soft_wrap=True)
        self.bar: Bar | None = None
        if self.console.is_terminal and not silent:
            self.bar = Bar(
                BarColumn(20),
                TextColumn("{task.description}"),
                console=self.console,
                transient=True,
            )
            self.task = self.bar.add_task("", total=total, completed=step)
        self.begun = self.said = time.monotonic()
        self.first, self.tokens, self.paused = step, 0, 0.0

    def __enter__(self) -> Progress:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar:
            self.bar.stop()

    def due(self, tokens: int) -> bool:
        """Count the useful tokens of an update; whether it is time to say something."""
        self.tokens += tokens
        every = SHOWN_SECONDS if self.bar else PLAIN_SECONDS
        return not self.silent and time.monotonic() - self.said >= every

    def update(self, step: int, loss: float) -> None:
        """Say how far it is."""
        self.said = time.monotonic()
        spent = self.said - self.begun
        words = (
            f"step {step:,} of {self.total:,}  loss {loss:.3f}  "
            f"{self.tokens / (spent - self.paused):,.0f} tokens/s  "
            f"{duration(spent / max(1, step - self.first) * (self.total - step))} left"
        )
        if self.bar:
            self.bar.update(self.task, completed=step, description=words)
        else:
            self.console.print(words)

    def pause(self, seconds: float) -> None:
        """So much time was not spent on training."""
        self.paused += seconds

    def line(self, words: str) -> None:
        """Say something that stays."""
        self.console.print(words, markup=False)


def duration(seconds: float) -> str:
    """3:07, or 2:03:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
