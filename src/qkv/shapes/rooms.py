"""The other room's arrays, the likeliest mistake of all: one sentence, which names the bridge.

Shapes and dtypes of NumPy and torch look alike to the checks, so they are asked for at the door: a
room guards its public functions, and the methods of its classes, when it is imported. What they
call inside is not asked again.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from qkv.shapes.core import Array, kind

Foreign = Callable[[Any], bool]
CALLS = ("__call__", "forward")
# What layers call of themselves, and what takes indices of any kind.
UNGUARDED = {"add", "save", "saved", "named_layers", "train", "reorder", "global_mask"}
# Called a dozen times for each token and layer, with one array: they compare it with a parameter.
COMPARE = {"Linear", "LayerNorm", "RMSNorm", "FeedForward", "LearnedPositions"}


def guard_room(
    room: str,
    array: type,
    foreign: Foreign,
    public: Iterable[str],
    names: dict[str, Any],
    unguarded: Iterable[str] = (),
) -> None:
    """Let all that a room makes public refuse the other room's arrays.

    Args:
        room: "numpy" or "torch".
        array: the room's own.
        foreign: whether this is an array of the other room.
        public, names: the room's `__all__` and `globals()`.
        unguarded: "Class.method" of what takes the arrays of both rooms.
    """
    free = set(unguarded)
    classes = {names[name] for name in public if inspect.isclass(names[name])}
    # A type is looked up in no time; to ask each argument cost a small model a sixth of a token.
    known = frozenset({array, type(None), bool, int, float, str, FunctionType, *classes})
    for name in public:
        thing = names[name]
        if inspect.isclass(thing):
            for own, method in list(vars(thing).items()):
                compared = own in CALLS and name in COMPARE
                private = own.startswith("_") and own not in CALLS
                either = own in UNGUARDED or f"{name}.{own}" in free
                if inspect.isfunction(method) and not (compared or private or either):
                    setattr(thing, own, _guarded(room, known, foreign, method, own))
        elif name not in UNGUARDED:
            names[name] = _guarded(room, known, foreign, thing, None)
            # Pickle looks a function up where it was made, and wants to find the same one.
            setattr(sys.modules[thing.__module__], name, names[name])


def _guarded(
    room: str, known: frozenset[type], foreign: Foreign, function: Any, method: str | None
) -> Any:
    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            if type(x) not in known and _holds(foreign, x):
                _refuse(room, foreign, function, method, args, kwargs)
        for x in kwargs.values():
            if type(x) not in known and _holds(foreign, x):
                _refuse(room, foreign, function, method, args, kwargs)
        return function(*args, **kwargs)

    # torch.compile counts, for each code object, how often it was compiled, and stops at eight.
    names = {"co_name": function.__name__, "co_qualname": function.__qualname__}
    result: Any = guarded
    result.__code__ = result.__code__.replace(**names)
    return result


def _holds(foreign: Foreign, x: Any) -> bool:
    """Whether this is an array of the other room with axes, or a state or list that holds one."""
    if isinstance(x, dict):
        return any(_holds(foreign, value) for value in x.values())
    if isinstance(x, list | tuple):
        return any(_holds(foreign, value) for value in x)
    return foreign(x) and len(x.shape) > 0  # one number is a number in both rooms


def _refuse(
    room: str, foreign: Foreign, function: Any, method: str | None, args: Any, kwargs: Any
) -> None:
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    name = next(name for name, x in given.items() if _holds(foreign, x))
    call = function.__name__
    if method is not None:
        call = type(args[0]).__name__ + ("" if method in CALLS else f".{method}")
    check_other_room(call, name, given[name], room, foreign)


def check_other_room(call: str, name: str, x: Any, room: str, foreign: Foreign) -> None:
    """Refuse an array of the other room, or what holds one."""
    if not _holds(foreign, x):
        return
    raise error_of_room(call, name, room, holds=isinstance(x, dict | list | tuple))


def error_of_room(call: str, name: str, room: str, *, holds: bool = False) -> ValueError:
    """What to raise where something of this name is, or holds, an array of the other room."""
    own, other, mend = {
        "numpy": (
            "NumPy array",
            "torch tensor",
            "convert it by .numpy(force=True), or call qkv.torch",
        ),
        "torch": ("torch tensor", "NumPy array", "convert it by torch.tensor(), or call qkv.numpy"),
    }[room]
    bridge = "qkv.bridge copies parameters from room to room"
    if holds:
        return ValueError(f"{call}: {name} must hold {own}s, got a {other}: {bridge}")
    return ValueError(f"{call}: {name} must be a {own}, got a {other}: {mend}; {bridge}")


def check_dtype_of(call: str, name: str, x: Array, parameter: Array) -> None:
    """Refuse an array that is not of the dtype, or not of the room, of a layer's parameter."""
    if x.dtype == parameter.dtype:
        return
    rooms = ["torch" if str(a.dtype).startswith("torch.") else "numpy" for a in (x, parameter)]
    if rooms[0] != rooms[1]:
        raise error_of_room(call, name, rooms[1])
    raise ValueError(
        f"{call}: {name} must be {kind(parameter)} as the parameters are, got {kind(x)}: "
        "convert one of them"
    )
