"""Count operations by running them: numbers that keep a tally of what is done with them.

`count_operations(f, a, b)` calls f with arrays of such numbers. Nothing is derived from shapes:
each `*` between two numbers is one multiplication, whichever function of NumPy asked for it.
`count_products(layer, x)` adds up the products `@` of what takes true arrays only; `np.einsum` and
`np.dot` are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

__all__ = ["CountedNumber", "Tally", "count_operations", "count_products"]

Number: TypeAlias = "CountedNumber | float"


@dataclass
class Tally:
    """What was done: each operation of two numbers, or of one, counts one.

    Args:
        multiplications, additions, divisions: subtractions count as additions.
        functions: exp and tanh.
        longest_chain: multiplications of which each needs the result of the one before. The sum
            inside a dot product adds none: its terms can be added in any order.
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    functions: int = 0
    longest_chain: int = 0


class CountedNumber:
    """A number that adds to a tally whenever something is computed with it.

    Args:
        value: the number.
        tally: where its operations are counted.
        chain: the multiplications in a row that led to it.
    """

    def __init__(self, value: float, tally: Tally, chain: int = 0) -> None:
        self.value, self.tally, self.chain = value, tally, chain

    def __repr__(self) -> str:
        return f"{self.value:g}"

    def __float__(self) -> float:
        return float(self.value)

    def __mul__(self, other: Number) -> CountedNumber:
        self.tally.multiplications += 1
        chain = max(self.chain, _chain(other)) + 1
        self.tally.longest_chain = max(self.tally.longest_chain, chain)
        return CountedNumber(self.value * _value(other), self.tally, chain)

    def __add__(self, other: Number) -> CountedNumber:
        self.tally.additions += 1
        return self._with(self.value + _value(other), other)

    def __sub__(self, other: Number) -> CountedNumber:
        self.tally.additions += 1
        return self._with(self.value - _value(other), other)

    def __rsub__(self, other: Number) -> CountedNumber:
        self.tally.additions += 1
        return self._with(_value(other) - self.value, other)

    def __neg__(self) -> CountedNumber:
        return self._with(-self.value)

    def __truediv__(self, other: Number) -> CountedNumber:
        self.tally.divisions += 1
        return self._with(self.value / _value(other), other)

    def __lt__(self, other: Number) -> bool:
        return self.value < _value(other)

    def __gt__(self, other: Number) -> bool:
        return self.value > _value(other)

    def __ge__(self, other: Number) -> bool:
        return self.value >= _value(other)

    def conjugate(self) -> CountedNumber:
        """A real number is its own: `np.vdot` and `np.vecdot` ask for it."""
        return self

    def exp(self) -> CountedNumber:
        self.tally.functions += 1
        return self._with(math.exp(self.value))

    def tanh(self) -> CountedNumber:
        self.tally.functions += 1
        return self._with(math.tanh(self.value))

    __rmul__, __radd__ = __mul__, __add__

    def _with(self, value: float, other: Number = 0.0) -> CountedNumber:
        return CountedNumber(value, self.tally, max(self.chain, _chain(other)))


def _value(number: Number) -> float:
    return number.value if isinstance(number, CountedNumber) else float(number)


def _chain(number: Number) -> int:
    return number.chain if isinstance(number, CountedNumber) else 0


def count_operations(function: Callable[..., Any], *arrays: Any) -> Tally:
    """Run `function` on counted copies of the arrays, and say what it did.

    Args:
        function: of as many arrays; it computes with `@`, `*`, `+`, `np.exp` and the like.
        arrays: numbers; nothing is counted before the function runs.
    """
    tally = Tally()
    counted = np.vectorize(lambda value: CountedNumber(value, tally), otypes=[object])
    function(*(counted(np.asarray(array, dtype=float)) for array in arrays))
    return tally


class _Products(np.ndarray[Any, Any]):
    """An array whose matrix products are counted, and those of what is computed from it."""

    flops = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [_plain(value) for value in inputs]
        if ufunc is np.matmul:
            _Products.flops += 2 * plain[0].size * plain[1].shape[-1]
        if "out" in options:
            options["out"] = tuple(_plain(value) for value in options["out"])
        result = getattr(ufunc, method)(*plain, **options)
        return np.asarray(result).view(_Products)


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, _Products) else value


def count_products(function: Callable[[Any], Any], array: Any) -> int:
    """FLOPs of each `@` that begins at `array`, two for each multiplication.

    Args:
        function: a layer of `qkv.numpy`, or any other function of one array.
        array: (..., d).
    """
    _Products.flops = 0
    function(np.asarray(array).view(_Products))
    return _Products.flops
