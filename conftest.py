"""How tests and chapters run side by side, and how nbval compares the chapters.

It compares all but stderr, up to rounding, and waits for late outputs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

# One thread for each process: there are as many as cores. Two that train with two threads each on
# two cores wait for one another, and took 232 s instead of 14 s for one training of chapter 11.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# `make test &` lets this process ignore Ctrl-C, and all that it starts: tests end programs by it.
signal.signal(signal.SIGINT, signal.default_int_handler)

LATE_OUTPUT_SECONDS = 60


def pytest_collectstart(collector: Any) -> None:
    """Leave stderr out: warnings there differ between machines."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("stderr",)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Wait for output on a busy machine longer than nbval's five seconds; forgive rounding."""
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = LATE_OUTPUT_SECONDS
            item.compare_outputs = up_to_rounding(item.compare_outputs)


def up_to_rounding(compare_outputs: Callable[..., bool]) -> Callable[..., bool]:
    """nbval's comparison, of what `make notebooks` would store."""

    from qkv.notebooks.equal_outputs import kept_outputs  # other tests start without it

    def compare(fresh: list[Any], stored: list[Any], **options: Any) -> bool:
        return compare_outputs(kept_outputs(fresh, stored), stored, **options)

    return compare
