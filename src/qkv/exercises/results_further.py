"""The exercise of the chapter on results that stands behind its core."""

from __future__ import annotations

from qkv.exercises.checks import as_number, exercise, reject, reject_each

__all__ = ["five_of_five"]


@exercise("results-5")
def five_of_five(answer: object) -> str:
    """Two equal settings, five seeds: the chance that one of the two wins with all five, 1/16."""
    got = as_number(answer)
    reject_each(
        got,
        (1 / 32, "That is the chance for one of the two.", "Either of them may be the lucky one."),
        (0.5, "That is the chance with one seed.", "It has to happen five times in a row."),
        (
            1 / 10,
            "Chances of runs that are apart are multiplied.",
            "And with two seeds? 1/2 · 1/2.",
        ),
        (0.2, "That is one of five.", "How likely is one win, and how likely are five?"),
        (1 / 25, "Nothing here has the chance 1/5.", "What is the chance to win with one seed?"),
    )
    reject(
        abs(got - 6.25) < 0.26,
        "In percent that would be right.",
        "Give the share: a number between 0 and 1.",
    )
    reject(
        abs(got - 1 / 16) > 0.0026, "Not this number.", "Try two seeds first: list all outcomes."
    )
    return "right: 2 · (1/2)⁵ = 0.0625. Of twelve such variations, 0.75 are expected by luck alone."
