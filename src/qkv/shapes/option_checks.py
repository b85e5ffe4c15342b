"""Check options and numbers: a message names the call, what it takes, and what came."""

import math
from collections.abc import Callable, Iterable

from qkv.shapes.error_hints import NUMBER_HINTS, first_hint
from qkv.shapes.formatting import format_shape, format_value, with_hint
from qkv.shapes.scalars import as_float, as_int
from qkv.shapes.specs import Shape

RANGES: dict[str, Callable[[float], bool]] = {
    "a number above 0": lambda x: x > 0,
    "a number of at least 0": lambda x: x >= 0,
    "a number in [0, 1)": lambda x: 0 <= x < 1,
    "a number in [0, 1]": lambda x: 0 <= x <= 1,
    "a number in (0, 1]": lambda x: 0 < x <= 1,
    "a finite number": math.isfinite,
    "a number from -20 to 20": lambda x: -20 <= x <= 20,
    "a finite number above 0": lambda x: 0 < x < math.inf,
}


def check_range(call: str, expected: str, /, *, hint: str = "", **values: object) -> None:
    """Refuse what is no number of the expected range, one of `RANGES`; NaN is in none."""
    for name, value in values.items():
        number = as_float(value)
        if number is None or not RANGES[expected](number):
            message = f"{call}: {name} must be {expected}, got {format_value(value)}"
            base = call.removesuffix("_backward")
            raise ValueError(
                with_hint(message, hint or first_hint(NUMBER_HINTS, f"{base}: {name}", name))
            )


def check_count(call: str, least: int = 1, **values: object) -> None:
    """Refuse sizes and ids that are no whole numbers of at least `least`."""
    for name, value in values.items():
        count = as_int(value)
        if count is None or count < least:
            expected = f"a whole number of at least {least}"
            raise ValueError(f"{call}: {name} must be {expected}, got {format_value(value)}")


def check_choice(call: str, name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a word that is not among the choices."""
    known = tuple(choices)
    if value not in known:
        words = ", ".join(map(repr, known))
        raise ValueError(f"{call}: {name} must be one of {words}, got {value!r}")


def check_bool(call: str, **values: object) -> None:
    """Refuse what is neither True nor False."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise ValueError(f"{call}: {name} must be True or False, got {value!r}")


def check_at_most(
    call: str, name: str, value: int, limit_name: str, limit: int, hint: str = ""
) -> None:
    """Refuse a number above a limit that another number sets."""
    if value > limit:
        message = f"{call}: {name} must be at most {limit_name} = {limit}, got {value}"
        raise ValueError(with_hint(message, hint))


def check_below(
    call: str, name: str, value: int, limit_name: str, limit: int, hint: str = ""
) -> None:
    """Refuse an id that a table of `limit` rows does not have."""
    if value >= limit:
        message = f"{call}: {name} must be below {limit_name} = {limit}, got {value}"
        raise ValueError(with_hint(message, hint))


def check_axis(call: str, shape: Shape, axis: int) -> None:
    """Refuse an axis that x does not have."""
    n, index = len(shape), as_int(axis)
    if index is None or not -n <= index < n:
        expected = f"one of the {n} of x = {format_shape(shape)}"
        message = f"{call}: axis must be {expected}, got {format_value(axis)}"
        raise ValueError(f"{message}: keys are -1")
