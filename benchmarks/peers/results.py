"""Where figures are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "keep"]

RESULTS = Path(__file__).resolve().parents[1] / "results"


def keep(name: str, result: dict[str, Any], table: str) -> None:
    """Write the figures as JSON, and the table of them as Markdown."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    (RESULTS / f"{name}.md").write_text(table, "utf-8")
