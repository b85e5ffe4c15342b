"""The notation of shapes, "... T d_k": each axis a symbol, which has one size in all of a call.

    "B T d_model"      three axes
    "... d_in"         any axes, then d_in; the same axes wherever "..." stands in a call
    "*batch T d_k"     likewise; messages call them B, or B and H, where there are one or two
    "S r+"             at least one r
    "int B T"          of token ids or positions; else of floats
    "bool -> B 1 T S"  broadcasts to this shape, in which 1 is a size

Source: the notations of einops (Rogozhnikov 2022) and jaxtyping.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

DTYPES = ("float", "int", "bool")
LEADING = ("...", "*batch")
BATCH_AXES = {0: (), 1: ("B",), 2: ("B", "H")}

Shape = tuple[Any, ...]


class Spec(NamedTuple):
    """One array's dtype and axes, as a string of the notation says."""

    dtype: str
    broadcast: bool
    leading: str  # "...", "*batch" or ""
    symbols: tuple[str, ...]  # the axes after the leading ones
    nonempty: tuple[str, ...]


_parsed: dict[str, Spec] = {}


def parse(text: str) -> Spec:
    """Read the notation; each text once."""
    # A dict and no functools.cache, which torch.compile warns of.
    return _parsed.get(text) or _parse(text)


def _parse(text: str) -> Spec:
    words = text.split()
    dtype = words[0] if words[0] in DTYPES else "float"
    words = words[1:] if words[0] in DTYPES else words
    broadcast = words[0] == "->"
    words = words[1:] if broadcast else words
    leading = words[0] if words[0] in LEADING else ""
    words = words[1:] if leading else words
    symbols = tuple(word.removesuffix("+") for word in words)
    nonempty = tuple(word[:-1] for word in words if word.endswith("+"))
    _parsed[text] = spec = Spec(dtype, broadcast, leading, symbols, nonempty)
    return spec


def unify(shape: Shape, spec: Spec, sizes: dict[str, Any]) -> str | None:
    """Give the symbols of a spec the sizes of a shape; returns the first that does not fit, if any.

    It is "" where the number of axes does not fit, and "r+" where there is no r.
    """
    _, broadcast, leading, symbols, nonempty = spec
    if broadcast:
        return _broadcast_mismatch(shape, *expected_shape(spec, sizes))
    n = len(shape) - len(symbols)
    if leading:
        if n < 0:
            return ""
        if sizes.setdefault(leading, shape[:n]) != shape[:n]:
            return leading
        shape = shape[n:]
    elif n:
        return ""
    for symbol, size in zip(symbols, shape, strict=True):
        if sizes.setdefault(symbol, size) != size:
            return symbol
    for symbol in nonempty:
        if sizes[symbol] == 0:
            return symbol + "+"
    return None


def expected_shape(spec: Spec, sizes: Mapping[str, Any]) -> tuple[tuple[str, ...], Shape]:
    """The symbols of a spec, and their sizes; a symbol without a size stands for itself."""
    names: tuple[str, ...] = (spec.leading,) if spec.leading else ()
    values: Shape = ("...",) if spec.leading else ()
    if spec.leading in sizes:
        values = tuple(sizes[spec.leading])
    if spec.leading == "*batch":
        names = BATCH_AXES.get(len(values), ("...",)) if spec.leading in sizes else ("...",)
    sized = (1 if symbol == "1" else sizes.get(symbol, symbol) for symbol in spec.symbols)
    return (*names, *spec.symbols), (*values, *sized)


def _broadcast_mismatch(shape: Shape, names: tuple[str, ...], target: Shape) -> str | None:
    if len(shape) > len(target):
        return ""
    for axis in range(-len(shape), 0):
        if shape[axis] != 1 and shape[axis] != target[axis]:
            return names[axis] if len(names) >= -axis else ""
    return None


def broadcast_shapes(shapes: Iterable[Shape]) -> Shape | None:
    """The shape that all of these broadcast to, or None."""
    result: Shape = ()
    for shape in shapes:
        n = max(len(result), len(shape))
        pairs = zip((1,) * (n - len(result)) + result, (1,) * (n - len(shape)) + shape, strict=True)
        merged = []
        for a, b in pairs:  # no set of sizes: a compiler would take a length that varies as fixed
            if a != b and a != 1 and b != 1:
                return None
            merged.append(b if a == 1 else a)
        result = tuple(merged)
    return result
