"""Shape checks in pure Python: both rooms refuse the same input in the same words.

A message names the call, the expected symbols with their values, what came, and the mend.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from qkv.shapes.scalars import whole

FLOATS = ("float16", "bfloat16", "float32", "float64")


class Array(Protocol):
    """What a NumPy array and a torch tensor have in common here."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...


def kind(x: object) -> str:
    """The dtype without its room, "float32", or the type of what is no array."""
    return str(getattr(x, "dtype", type(x).__name__)).removeprefix("torch.")


def listed(items: Iterable[int | str]) -> str:
    """(2, 3, S, 5): a tuple as Python prints it, with its symbols unquoted."""
    words = [str(item) for item in items]
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"


def shown(value: object) -> str:
    """What came, in a message: an array by its kind and shape, all else as Python writes it."""
    shape = getattr(value, "shape", ())
    return f"{kind(value)} of shape {listed(shape)}" if shape else repr(value)


def axes_of(x: Array) -> tuple[str, ...]:
    """The symbols for the axes before the last two."""
    return {2: (), 3: ("B",), 4: ("B", "H")}.get(len(x.shape), ("...",))


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that all of these broadcast to, or None."""
    result = []
    for axis in range(-max(map(len, shapes)), 0):
        result.append(1)
        for shape in shapes:  # no set of sizes: a compiler would take a length that varies as fixed
            if len(shape) >= -axis and shape[axis] != 1 and shape[axis] != result[-1]:
                if result[-1] != 1:
                    return None
                result[-1] = shape[axis]
    return tuple(result)


def check_shape(
    call: str,
    name: str,
    x: Array,
    symbols: tuple[str, ...],
    sizes: tuple[int | str, ...],
    mend: str,
) -> None:
    """Refuse x unless its shape is `sizes`; a string among them stands for any size.

    One symbol such as "like x" stands for a whole shape.
    """
    fits = len(x.shape) == len(sizes) and all(
        isinstance(size, str) or size == came for size, came in zip(sizes, x.shape, strict=True)
    )
    if not fits:
        words = symbols[0] if symbols[0:1] and symbols[0].startswith("like ") else listed(symbols)
        expected = f"{words} = {listed(sizes)}"
        raise ValueError(f"{call}: {name} must be {expected}, got {listed(x.shape)}: {mend}")


def check_floats(call: str, **arrays: Array | None) -> None:
    """Refuse what is no float array, and two float types in one call."""
    first, wanted, dtype = "", "", None
    for name, x in arrays.items():
        if x is None or (first and getattr(x, "dtype", "none") == dtype):
            continue  # asking a dtype for its name is slow, and small calls would notice
        came = kind(x)
        if not hasattr(x, "shape") or came not in FLOATS:
            raise ValueError(f"{call}: {name} must be a float array, got {came}: convert it first")
        if first:
            raise ValueError(
                f"{call}: {name} must be {wanted} as {first} is, got {came}: convert it"
            )
        first, wanted, dtype = name, came, x.dtype


def check_axis(call: str, x: Array, axis: int) -> None:
    """Refuse an axis that x does not have."""
    n, place = len(x.shape), whole(axis)
    if place is None or not -n <= place < n:
        raise ValueError(
            f"{call}: axis must be one of the {n} of x = {listed(x.shape)}, got {shown(axis)}: "
            "keys are -1"
        )
