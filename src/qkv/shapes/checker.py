"""Check the arrays of a call against their specs: library, dtype and shape, in one sentence each.

    check_shapes("attention", q=(q, "*batch T d_k"), k=(k, "*batch S d_k"))
    ValueError: attention: k must be (B, H, S, d_k) = (2, 3, S, 5), got (2, 3, 7, 4): check …

The notation is that of `specs`; what to do about it stands in `hints`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from qkv.shapes.error_hints import ARRAY_HINTS, first_hint
from qkv.shapes.formatting import dtype_name, format_shape, with_hint
from qkv.shapes.specs import expected_shape, parse, unify

ARTICLES = {"float": "a float", "int": "an integer", "bool": "a bool"}
ARRAYS = {"numpy": "NumPy array", "torch": "torch tensor"}
OTHER = {"numpy": "torch", "torch": "numpy"}
CONVERSIONS = {"numpy": ".numpy(force=True)", "torch": "torch.tensor()"}
BRIDGE = "qkv.bridge copies parameters from room to room"


class ShapeChecker:
    """Refuses arrays of another library, dtype or shape than a function takes.

    Args:
        room: whose arrays are taken, "numpy" or "torch".
        dtypes: "float", "int" or "bool" for each dtype that is taken.
        under_autocast: whether an array may meet floats of another dtype, as under autocast.
    """

    def __init__(
        self,
        room: str,
        dtypes: Mapping[Any, str],
        under_autocast: Callable[[Any], bool] = lambda x: False,
    ) -> None:
        self.room, self.other_room = room, OTHER[room]
        self.dtypes = dict(dtypes)
        self.under_autocast = under_autocast

    def __call__(self, call: str, /, **given: Any) -> None:
        """Refuse arrays that do not fit their specs, or one another.

        Args:
            call: what the message begins with.
            given: for each array a tuple of it, or None, and its spec or its whole shape; for a
                symbol its size, where that is known already, or None.
        Raises:
            ValueError: names the array, what was expected with the known sizes, and what came.
        """
        sizes: dict[str, Any] = {}
        first = ""
        dtype = None
        for name, value in given.items():
            if type(value) is not tuple:
                if value is not None:
                    sizes[name] = value
                continue
            x, text = value
            if x is None:
                continue
            spec = parse(text) if type(text) is str else None
            expected = "float" if spec is None else spec[0]
            x_dtype = getattr(x, "dtype", None)
            if self.dtypes.get(x_dtype) != expected:
                raise self._dtype_error(call, name, x, expected)
            if expected == "float":
                if not first:
                    first, dtype = name, x_dtype
                elif x_dtype != dtype and not self.under_autocast(x):
                    message = f"{call}: {name} must be {dtype_name(given[first][0])} as {first} is"
                    raise ValueError(f"{message}, got {dtype_name(x)}: convert it")
            if spec is None:
                if tuple(x.shape) != tuple(text):
                    raise _shape_error(call, name, x, "", format_shape(text))
            elif unify(x.shape, spec, sizes) is not None:
                raise _mismatch(call, name, given)

    def check_library(self, call: str, name: str, arrays: Iterable[Any]) -> None:
        """Refuse a collection that holds an array of the other room; single numbers are free."""
        for x in arrays:
            if self._is_foreign(x) and x.shape:
                expected, foreign = ARRAYS[self.room], ARRAYS[self.other_room]
                raise ValueError(f"{call}: {name} must hold {expected}s, got a {foreign}: {BRIDGE}")

    def _is_foreign(self, x: Any) -> bool:
        library = type(getattr(x, "dtype", None)).__module__.partition(".")[0]
        return library == self.other_room

    def _dtype_error(self, call: str, name: str, x: Any, dtype: str) -> ValueError:
        if self._is_foreign(x):
            foreign = ARRAYS[self.other_room]
            message = f"{call}: {name} must be a {ARRAYS[self.room]}, got a {foreign}"
            hint = f"convert it by {CONVERSIONS[self.room]}, or call qkv.{self.other_room}"
            return ValueError(f"{message}: {hint}; {BRIDGE}")
        message = f"{call}: {name} must be {ARTICLES[dtype]} array, got {dtype_name(x)}"
        came = dtype_name(x).rstrip("0123456789")
        hint = first_hint(ARRAY_HINTS, f"{name}.{dtype}", f"{dtype} {came}", dtype)
        return ValueError(with_hint(message, hint))


def _mismatch(call: str, name: str, given: Mapping[str, Any]) -> ValueError:
    """What to raise for the first array that does not fit, from the sizes before it."""
    sizes: dict[str, Any] = {}
    for earlier, value in given.items():
        if earlier == name:
            break
        if type(value) is not tuple:
            sizes |= {} if value is None else {earlier: value}
        elif value[0] is not None and type(value[1]) is str:
            unify(value[0].shape, parse(value[1]), sizes)
    x, text = given[name]
    spec = parse(text)
    symbol = unify(x.shape, spec, dict(sizes)) or ""
    names, values = expected_shape(spec, sizes)
    expected = format_shape(names if spec.symbols else values)
    if spec.symbols and values != names:
        expected += f" = {format_shape(values)}"
    if symbol.endswith("+"):
        message = f"{call}: {symbol[:-1]} must be at least 1, got {name} = {format_shape(x.shape)}"
        return ValueError(with_hint(message, _hint(call, name, symbol)))
    if spec.broadcast:
        expected = f"broadcast to {expected}"
        if len(x.shape) > len(values):
            symbol = "axes"
    return _shape_error(call, name, x, symbol, expected)


def _shape_error(call: str, name: str, x: Any, symbol: str, expected: str) -> ValueError:
    verb = "must" if expected.startswith("broadcast") else "must be"
    message = f"{call}: {name} {verb} {expected}, got {format_shape(x.shape)}"
    return ValueError(with_hint(message, _hint(call, name, symbol)))


def _hint(call: str, name: str, symbol: str) -> str:
    here = f"{call.removesuffix('_backward')}: {name}"
    return first_hint(ARRAY_HINTS, f"{here}.{symbol}", f"{name}.{symbol}", here, name)
