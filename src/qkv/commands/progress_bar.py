"""A progress bar on a terminal, where rich is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["progress_bar"]

MIN_LINES = 100  # from which a bar is worth its place


@contextmanager
def progress_bar(lines: int) -> Iterator[Callable[[int], None] | None]:
    """What to call with the number of lines that are done; None where no bar is shown."""
    if lines < MIN_LINES or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn
    except ImportError:
        yield None
        return
    columns: list[Any] = [*Progress.get_default_columns()[:2], MofNCompleteColumn()]
    bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    with bar:
        task = bar.add_task("lines", total=lines)
        yield lambda done: bar.advance(task, done)
