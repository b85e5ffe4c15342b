"""Run the chapters that train with other seeds and starts: does what they assert still hold?

    python -m tools.training_cells              every chapter that trains
    python -m tools.training_cells families     one

Each chapter runs as it is, with five other seeds, and with its initial parameters changed by a
relative 1e-6. Seeds and starts change in the cells that train and in those that feed them. For
each comparison in an assert whose numbers are not the same in every run, the table has the run in
which they came nearest to each other, relative to the larger one. An assert that fails, a cell
that raises, and a comparison nearer than 10 % are findings, and so is a text that a relative 1e-6
changes. Texts that change with the seed are named: they may speak of one seed only if they say so.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from qkv.language import ENGLISH
from tools.run_notebooks import CHAPTERS, NotebookError, find_chapters
from tools.training_cells.find import training_cells
from tools.training_cells.runs import VARIATIONS, findings, run


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="chapter", help="such as families")
    options = parser.parse_args()
    try:
        paths: list[Path] = find_chapters(
            options.names, CHAPTERS, [ENGLISH]
        )  # the others run the same code
    except NotebookError as error:
        print(error, file=sys.stderr)
        return 2
    count = 0
    for path in paths:
        if training_cells(path):
            runs = {name: run(path, *variation) for name, variation in VARIATIONS.items()}
            print(f"{path.stem}: {', '.join(runs)}")
            count += findings(runs)
    print(f"{count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
