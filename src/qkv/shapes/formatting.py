"""How messages write dtypes, shapes and values."""

from collections.abc import Iterable


def dtype_name(x: object) -> str:
    """The dtype without its library, "float32", or the type of what is no array."""
    return str(getattr(x, "dtype", type(x).__name__)).removeprefix("torch.")


def format_shape(items: Iterable[object]) -> str:
    """(2, 3, S, 5): a tuple as Python prints it, with its symbols unquoted."""
    words = [str(item) for item in items]
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"


def format_value(value: object) -> str:
    """An array by its dtype and shape, all else as Python writes it."""
    shape = getattr(value, "shape", ())
    return f"{dtype_name(value)} of shape {format_shape(shape)}" if shape else repr(value)


def with_hint(message: str, hint: str) -> str:
    """A message, and what to do about it where that is known."""
    return f"{message}: {hint}" if hint else message
