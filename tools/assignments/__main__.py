"""Write the exercises as assignments for nbgrader, into _build/assignments: `make assignments`.

python -m tools.assignments                    every exercise, a point for each stated minute
python -m tools.assignments --points my.csv    those of a table, and the points that it gives
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from qkv.language import gettext
from tools.assignments.course import make_course
from tools.assignments.points import AssignmentError

COURSE = Path(__file__).resolve().parents[2] / "_build" / "assignments"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=Path, metavar="FILE", help="a copy of points.csv, edited")
    parser.add_argument("--folder", type=Path, default=COURSE, help="the course folder")
    options = parser.parse_args(arguments)
    try:
        names = make_course(options.folder.resolve(), options.points)
    except AssignmentError as error:
        print(error, file=sys.stderr)
        return 2
    message = gettext("{number} assignments are in {folder}; README.md there says how to use them.")
    if len(names) == 1:
        message = gettext("1 assignment is in {folder}; README.md there says how to use it.")
    print(message.format(number=len(names), folder=options.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
