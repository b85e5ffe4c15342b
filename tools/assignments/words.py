"""What an assignment says to students, and the course folder to its teacher."""

from __future__ import annotations

from collections.abc import Sequence

from qkv.language import gettext


def opening(number: int, title: str) -> str:
    """The first cell of an assignment."""
    text = gettext(
        """\
# Exercises of chapter {number}: {title}

These are exercises of *The Runnable Transformer*. Keep its chapter {number} open beside them: a \
question may speak of an example there. What their code needs is set up in locked cells.

Put your answer where the dots are, and run the cell. Then run the locked cell below it: it tells \
you whether the answer is right, or what the likely mistake is. You may try as often as you like.

To install what this notebook needs: `pip install -r requirements.txt`, with the file that came \
with it."""
    )
    return text.format(number=number, title=title)


def readme(assignments: Sequence[str]) -> str:
    """README.md of the course folder."""
    text = gettext(
        """\
# Assignments of The Runnable Transformer

`source/` has one notebook a chapter, with solutions. `release/` has the same without them: hand \
out these folders. Both are in the form of nbgrader (https://nbgrader.readthedocs.io).

Copy this folder to where your course is kept: `make clean` deletes it here. In the copy, with \
`pip install 'qkv[explore,teach,text,torch]'`:

- `nbgrader generate_assignment {example} --force` makes the release of a notebook again, after \
you have changed its source.
- Put what students hand in under `submitted/STUDENT/{example}/{example}.ipynb`.
- `nbgrader autograde {example}` gives the points. It runs the students' code on your machine.
- `nbgrader generate_feedback {example}` writes a page for each student, with our hints.
- `nbgrader export` writes all points into a table.

An exercise is right or wrong as a whole: the locked cell asks the book's own `check`.

`points.csv` lists the exercises that are asked, and their points: one for each minute that the \
exercise states. To ask fewer, or to give other points, change a copy of it (delete lines, change \
the last column) and give, in the folder of the book, `make assignments POINTS=my.csv`. Exercises \
of *Going further* are listed with `further` in the second column.

Students need Python 3.11 or newer and, for each notebook, the `requirements.txt` beside it. The \
package that they install holds the checks, and from these a right answer can be read. \
`make html SOLUTIONS=0` builds a book without solutions.
"""
    )
    return text.format(example=assignments[0])
