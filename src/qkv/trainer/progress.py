"""What `Trainer.fit` shows while it trains: a bar in a terminal, a line below a notebook's cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from qkv.trainer.events import Event, FitStart, OnEvent, StepResult, ValidationResult

__all__ = ["fit_progress"]

SHOWN_SECONDS = 0.5
Show = Callable[[int, int, str], None]  # steps so far, of how many, and what there is to say


@contextmanager
def fit_progress(shown: bool, on_event: OnEvent | None) -> Iterator[OnEvent]:
    """What to call with each event: it shows it in a terminal or a notebook, and passes it on.

    Args:
        shown: whether it is shown at all.
        on_event: who else hears of it.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    with ExitStack() as stack:
        listeners = [on_event] if on_event else []
        if shown and getattr(shell, "kernel", None) is not None:
            listeners.append(FitProgress(_notebook_line()))
        elif shown and sys.stderr.isatty():
            listeners.append(FitProgress(stack.enter_context(_terminal_bar())))

        def emit(event: Event) -> None:
            for listener in listeners:
                listener(event)

        yield emit


class FitProgress:
    """Step, losses and the time left, now and then, of the events of a training.

    Args:
        show: called with them.
        clock: of seconds.
    """

    def __init__(self, show: Show, clock: Callable[[], float] = time.monotonic) -> None:
        self.show, self.clock = show, clock
        self.start, self.began, self.shown = FitStart(0, 0), clock(), -SHOWN_SECONDS
        self.validation = ""

    def __call__(self, event: Event) -> None:
        """Show an event, if it is time to."""
        if isinstance(event, FitStart):
            self.start, self.began = event, self.clock()
        if isinstance(event, ValidationResult):
            self.validation = f", validation loss {event.scores.loss:.3f}"
        if not isinstance(event, StepResult):
            return
        now, start = self.clock(), self.start
        if now - self.shown < SHOWN_SECONDS and event.step < start.steps:
            return
        self.shown, spent = now, now - self.began
        left = spent / (event.step - start.step) * (start.steps - event.step)
        times = f"{spent:.0f} s, {left:.0f} s left" if left else f"{spent:.0f} s"
        text = f"step {event.step:,} of {start.steps:,}, loss {event.loss:.3f}{self.validation}"
        self.show(event.step, start.steps, f"{text}; {times}")


@contextmanager
def _terminal_bar() -> Iterator[Show]:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
    except ImportError:
        yield lambda step, steps, text: None
        return
    columns = BarColumn(20), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda step, steps, text: bar.update(
            task, completed=step, total=steps, description=text
        )


def _notebook_line() -> Show:
    handle: Any = None

    def show(step: int, steps: int, text: str) -> None:
        nonlocal handle
        from IPython.display import display

        data = {"text/plain": text}
        if handle is None:
            handle = display(data, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            handle.update(data, raw=True)

    return show
