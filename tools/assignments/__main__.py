"""Write the exercises as assignments for nbgrader, into _build/assignments: `make assignments`.

python -m tools.assignments                    every exercise, a point for each stated minute
python -m tools.assignments --points my.csv    those of a table, and the points that it gives
python -m tools.assignments --language ko      in Korean alone, into the folder ko there
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from qkv.language import ENGLISH, gettext
from tools.assignments import course
from tools.assignments.points import AssignmentError
from tools.editions import languages_of

COURSE = Path(__file__).resolve().parents[2] / "_build" / "assignments"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=Path, metavar="FILE", help="a copy of points.csv, edited")
    parser.add_argument("--folder", type=Path, default=COURSE, help="the course folder")
    parser.add_argument(
        "--language", choices=languages_of(course.CHAPTERS), help="one; without it, each"
    )
    options = parser.parse_args(arguments)
    for language in [options.language] if options.language else languages_of(course.CHAPTERS):
        folder = options.folder if language == ENGLISH else options.folder / language
        try:
            names = course.make_course(folder.resolve(), options.points, language)
        except AssignmentError as error:
            print(error, file=sys.stderr)
            return 2
        if not names:
            message = gettext("{file} lists no exercise of a chapter in the language {language}.")
            print(message.format(file=options.points, language=language))
            continue
        message = gettext(
            "{number} assignments are in {folder}; README.md there says how to use them."
        )
        if len(names) == 1:
            message = gettext("1 assignment is in {folder}; README.md there says how to use it.")
        print(message.format(number=len(names), folder=folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
