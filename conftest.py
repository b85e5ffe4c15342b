"""How nbval compares the chapters: all but stderr, up to rounding; late outputs are waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
