"""How nbval compares the chapters: every output but stderr, and late ones are waited for."""

from __future__ import annotations

from typing import Any

LATE_OUTPUT_SECONDS = 60


def pytest_collectstart(collector: Any) -> None:
    """Leave stderr out: warnings there differ between machines."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("stderr",)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Wait for output on a busy machine longer than nbval's five seconds."""
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = LATE_OUTPUT_SECONDS
