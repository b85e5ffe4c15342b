"""Print how long each chapter is, and which rules it breaks.

python -m tools.notebook_rules [chapters/03_attention.ipynb ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools.notebook_rules import problems
from tools.notebook_rules.length import core_length, further_length
from tools.notebook_rules.load import ROOT, load_chapter


def main(paths: list[Path]) -> int:
    """Returns the number of broken rules."""
    table = Table(
        "chapter",
        "part",
        "words",
        "in folds",
        "printed",
        "lines",
        "explorers",
        "playgrounds",
        "figures",
        "minutes",
        "exercises",
    )
    broken: list[str] = []
    for path in paths:
        chapter = load_chapter(path)
        for part, length in (
            ("core", core_length(chapter.notebook)),
            ("further", further_length(chapter.notebook)),
        ):
            counts = [length.words, length.folded_words, length.printed_words, length.lines]
            counts += [length.explorers, length.playgrounds, length.figures]
            minutes = f"{length.minutes:.1f}", str(length.exercise_minutes)
            table.add_row(chapter.concept, part, *map(str, counts), *minutes)
        broken += problems(chapter)
    console = Console()
    console.print(table)
    for line in broken:
        console.print(line, markup=False)
    return len(broken)


if __name__ == "__main__":
    chosen = [Path(argument) for argument in sys.argv[1:]]
    sys.exit(min(main(chosen or sorted((ROOT / "chapters").glob("*.ipynb"))), 1))
