"""What the stored verdicts of an exercise may hold: rows of three texts, and who says which.

They are shown as text, and only where the exercise declares what is chosen (qkv/exercises).
"""

import itertools
from typing import Any

from qkv.exercises.checks import choices_of

TABLE = {"exercise", "verdicts", "parts"}
PART = {"others", "choices"}
STATES = ("right", "wrong")
MAX_TEXT = 1000  # characters


def is_verdict_table(data: Any) -> bool:
    """Whether it has the form of `qkv.exercises.choices.verdict_table`, of a known exercise."""
    if not isinstance(data, dict) or data.keys() != TABLE or not isinstance(data["exercise"], str):
        return False
    parts, verdicts = choices_of(data["exercise"]), data["verdicts"]
    return (
        bool(parts)
        and isinstance(verdicts, list)
        and all(map(is_verdict, verdicts))
        and isinstance(data["parts"], list)
        and len(data["parts"]) == len(parts)
        and all(
            is_part(stored, set(part.every_key()), len(verdicts))
            for stored, part in zip(data["parts"], parts, strict=True)
        )
    )


def is_verdict(row: Any) -> bool:
    """Whether it is [state, text, hint]."""
    return (
        isinstance(row, list)
        and len(row) == 3
        and all(isinstance(text, str) and len(text) <= MAX_TEXT for text in row)
        and row[0] in STATES
    )


def is_part(stored: Any, keys: set[str], count: int) -> bool:
    """Whether it gives keys that the exercise knows one of `count` verdicts."""
    if not isinstance(stored, dict) or stored.keys() != PART:
        return False
    choices = stored["choices"]
    return (
        isinstance(choices, dict)
        and choices.keys() <= keys
        and all(
            type(number) is int and 0 <= number < count
            for number in itertools.chain([stored["others"]], choices.values())
        )
    )
