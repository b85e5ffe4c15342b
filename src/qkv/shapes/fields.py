"""What the fields of a configuration may hold: written beside their types, checked in one place."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from qkv.shapes.error_hints import NUMBER_HINTS, first_hint
from qkv.shapes.formatting import format_value, with_hint
from qkv.shapes.option_checks import check_bool, check_choice
from qkv.shapes.scalars import as_float, as_int, as_python

Config = TypeVar("Config")


@dataclass(frozen=True)
class Interval:
    """Numbers from `least` to less than `below`; `above` leaves out `least` itself."""

    kind: type[int] | type[float]
    least: float = 0.0
    below: float = math.inf
    above: bool = False

    def holds(self, value: object) -> bool:
        number = (as_int if self.kind is int else as_float)(value)
        if number is None or not math.isfinite(number):
            return False
        return (number > self.least if self.above else number >= self.least) and number < self.below

    def __str__(self) -> str:
        name = "whole number" if self.kind is int else "number"
        least = f"{'above' if self.above else 'of at least'} {self.least:g}"
        end = f" and below {self.below:,}" if self.below < math.inf else ""
        return f"{name} {least}{end}"


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    words: tuple[str, ...]


Count: TypeAlias = Annotated[int, Interval(int, 1)]
Seed: TypeAlias = Annotated[int, Interval(int, 0, 2**64)]  # as torch's generators take it
Share: TypeAlias = Annotated[float, Interval(float, 0, 1)]
Positive: TypeAlias = Annotated[float, Interval(float, above=True)]
NonNegative: TypeAlias = Annotated[float, Interval(float)]


class FieldType(NamedTuple):
    """A field of a configuration.

    Args:
        rule: an `Interval`, a `Choice`, or the plain type, bool or str.
        optional: whether it may be None.
        length: of a tuple; 0 means one value.
        default: MISSING where there is none.
    """

    rule: Any
    optional: bool
    length: int
    default: Any


@cache
def field_types(config: Any) -> dict[str, FieldType]:
    """The fields of a configuration's class, by name."""
    hints = get_type_hints(config, include_extras=True)
    return {field.name: _field_type(hints[field.name], field.default) for field in fields(config)}


def _field_type(hint: Any, default: Any) -> FieldType:
    optional = NoneType in get_args(hint)
    if optional:
        hint = next(option for option in get_args(hint) if option is not NoneType)
    length = len(get_args(hint)) if get_origin(hint) is tuple else 0
    hint = get_args(hint)[0] if length else hint
    rule = get_args(hint)[1] if get_origin(hint) is Annotated else hint
    return FieldType(rule, optional, length, default)


def check_fields(config: Any) -> None:
    """Hold each field of a frozen configuration to its type; a number becomes Python's own.

    Raises:
        ValueError: one does not fit; it is named.
    """
    kind: Any = type(config)
    call = kind.__name__
    for name, field in field_types(kind).items():
        value = getattr(config, name)
        if value is None and field.optional:
            continue
        if field.length and not (isinstance(value, list | tuple) and len(value) == field.length):
            raise ValueError(
                f"{call}: {name} must be {field.length} values, got {format_value(value)}"
            )
        values = tuple(map(as_python, value if field.length else (value,)))
        for item in values:
            _check(call, name, field.rule, item)
        object.__setattr__(config, name, values if field.length else values[0])


def _check(call: str, name: str, rule: Any, value: Any) -> None:
    if isinstance(rule, Choice):
        check_choice(call, name, value, rule.words)
    elif isinstance(rule, Interval):
        if not rule.holds(value):
            message = f"{call}: {name} must be a {rule}, got {format_value(value)}"
            raise ValueError(with_hint(message, first_hint(NUMBER_HINTS, name)))
    elif rule is bool:
        check_bool(call, **{name: value})
    elif not isinstance(value, rule):
        raise ValueError(f"{call}: {name} must be a {rule.__name__}, got {format_value(value)}")


def documented_with_base(config: type[Config]) -> type[Config]:
    """Write what the docstring of its base says of their arguments into that of a configuration."""
    own, base = (inspect.cleandoc(c.__doc__ or "") for c in (config, config.__bases__[0]))
    _, _, arguments = base.partition("Args:\n")
    if own and arguments:  # `python -OO` leaves neither
        arguments, _, _ = arguments.partition("Raises:\n")
        config.__doc__ = own.replace("Args:\n", f"Args:\n{arguments}", 1)
    return config
