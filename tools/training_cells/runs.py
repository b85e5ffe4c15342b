"""Run a notebook with other seeds and starts, and compare what its runs noted."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tools.training_cells.find import cells_that_feed, cells_that_use, training_cells
from tools.training_cells.rewrite import noted

ROOT = Path(__file__).resolve().parents[2]
OWN, CHANGED = "as it is", "start changed by 1e-6"
# How far seeds are shifted, and the relative change of what is drawn.
VARIATIONS = {OWN: (0, 0.0), CHANGED: (0, 1e-6)}
VARIATIONS |= {f"seed + {shift}": (shift, 0.0) for shift in (100, 200, 300, 400, 500)}
NEAR = 0.1
START = """
import sys
sys.path.insert(0, {root!r})
from tools.training_cells.probe import Draws, Notes
DRAWS, NOTES = Draws({shift}, {change}), Notes()
"""
END = "import json\nprint(json.dumps([NOTES.failed, NOTES.compared]))"


@dataclass(frozen=True)
class Run:
    """What one run of a notebook noted.

    Attributes:
        failed: the asserts that did not hold, and the cells that raised.
        compared: both sides of each comparison, in the order in which it was made.
        printed: what each cell printed.
    """

    failed: list[str]
    compared: dict[str, list[tuple[float, float]]]
    printed: dict[str, str]


def run(path: Path, shift: int = 0, change: float = 0.0) -> Run:
    """Run the cells that train, what they need and what uses it; no assert ends the run."""
    notebook = nbformat.read(path, as_version=4)
    sources = {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}
    train = training_cells(path)
    varied = cells_that_feed(sources, train)
    needed = cells_that_feed(sources, cells_that_use(sources, train))
    cells = [cell for cell in notebook.cells if cell.id in needed]
    for cell in cells:
        cell.source = noted(cell.source, cell.id, cell.id in varied)
    start = START.format(root=str(ROOT), shift=shift, change=change)
    first, last = nbformat.v4.new_code_cell(start), nbformat.v4.new_code_cell(END)
    notebook.cells = [first, *cells, last]
    NotebookClient(
        notebook,
        timeout=1800,
        kernel_name="python3",
        allow_errors=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    printed = {cell.id: text_of(cell.outputs, "stream") for cell in cells}
    raised = [f"{cell.id}: {text_of(cell.outputs, 'error')}" for cell in [first, *cells, last]]
    failed, pairs = json.loads(text_of(last.outputs, "stream"))
    compared = defaultdict(list)
    for key, left, right in pairs:
        compared[key].append((left, right))
    return Run(failed + [each for each in raised if not each.endswith(": ")], compared, printed)


def text_of(outputs: list[nbformat.NotebookNode], kind: str) -> str:
    """What a cell's outputs of a kind say: the printed text, or what was raised."""
    field = {"stream": "text", "error": "evalue"}[kind]
    chosen = [output for output in outputs if output.output_type == kind]
    return "".join(output[field] for output in chosen if output.get("name") != "stderr")


def distance(left: float, right: float) -> float:
    """How far apart two numbers are, relative to the larger one; two zeros are so by design."""
    size = max(abs(left), abs(right))
    return abs(left - right) / size if size else 1.0


def findings(runs: Mapping[str, Run]) -> int:
    """Print the table of a chapter's runs; how many findings there are."""
    count = 0
    for name, each in runs.items():
        for key in dict.fromkeys(each.failed):
            print(f"  failed    {name}: {key}")
            count += 1
    for key in runs[OWN].compared:
        every = {name: each.compared.get(key, []) for name, each in runs.items()}
        if all(pairs == every[OWN] for pairs in every.values()):
            continue
        near, name, pair = min(
            (distance(*pair), name, pair) for name, pairs in every.items() for pair in pairs
        )
        count += near < NEAR
        mark = "near" if near < NEAR else "holds"
        print(f"  {mark:6} {near:4.0%} {key}\n              {pair[0]:.4g}, {pair[1]:.4g}; {name}")
    for cell, text in runs[OWN].printed.items():
        other = [name for name, each in runs.items() if each.printed[cell] != text]
        if other:
            print(f"  prints    {cell}: otherwise with {', '.join(other)}")
            count += CHANGED in other
    return count
