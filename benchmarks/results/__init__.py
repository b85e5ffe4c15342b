"""The measured figures, and the function by which each benchmark writes its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "save_results"]

RESULTS = Path(__file__).resolve().parent


def save_results(name: str, table: str, result: dict[str, Any] | None = None) -> None:
    """Write the table of the figures as Markdown and, where there are any, all of them as JSON."""
    if result is not None:
        figures = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
        (RESULTS / f"{name}.json").write_text(figures, "utf-8")
    (RESULTS / f"{name}.md").write_text(table, "utf-8")
