"""What layers refuse: sizes, shares, inputs, states."""

from collections.abc import Iterable, Mapping

from qkv.shapes.core import Array, check_floats, check_shape, kind, listed, shown
from qkv.shapes.rooms import check_dtype_of
from qkv.shapes.scalars import number, whole


def check_count(call: str, least: int = 1, **sizes: object) -> None:
    """Refuse sizes that are no whole numbers of at least `least`."""
    for name, size in sizes.items():
        count = whole(size)
        if count is None or count < least:
            raise ValueError(
                f"{call}: {name} must be a whole number of at least {least}, got {shown(size)}"
            )


def check_share(call: str, name: str, value: object, mend: str) -> None:
    """Refuse what is no number in [0, 1)."""
    share = number(value)
    if share is None or not 0 <= share < 1:
        raise ValueError(f"{call}: {name} must be a number in [0, 1), got {shown(value)}: {mend}")


def check_choice(call: str, name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a word that is not among the choices."""
    known = tuple(choices)
    if value not in known:
        words = ", ".join(map(repr, known))
        raise ValueError(f"{call}: {name} must be one of {words}, got {value!r}")


def check_input(call: str, x: Array, symbol: str, parameter: Array) -> None:
    """Refuse an input that is not as wide as a layer's parameter, or of another float type.

    Args:
        symbol: for the width, such as "d_model".
        parameter: one whose first axis is the width, in the NumPy room's layout.
    """
    check_width(call, x, symbol, parameter.shape[0])
    check_dtype_of(call, "x", x, parameter)


def check_width(call: str, x: Array, symbol: str, size: int) -> None:
    """Refuse what is no float array with a last axis of this size."""
    check_floats(call, x=x)
    if not x.shape or x.shape[-1] != size:
        mend = "check the width of the layer before"
        raise ValueError(
            f"{call}: x must be (..., {symbol}) = (..., {size}), got {listed(x.shape)}: {mend}"
        )


def check_linear(
    call: str, x: Array, weight: Array, bias: Array | None, *, convert: bool = False
) -> None:
    """Refuse what cannot be projected by this weight and bias.

    Args:
        convert: dtypes may differ, since they are converted.
    """
    if convert:
        for name, array in (("x", x), ("weight", weight), ("bias", bias)):
            check_floats(call, **{name: array})
    else:
        check_floats(call, x=x, weight=weight, bias=bias)
    if not x.shape:
        mend = "one number is a vector of one, x[None]"
        raise ValueError(f"{call}: x must be (..., d_in), got (): {mend}")
    d_in = x.shape[-1]
    mend = "its rows are the width of x; nn.Linear holds the transpose"
    check_shape(call, "weight", weight, ("d_in", "d_out"), (d_in, "d_out"), mend)
    if bias is not None:
        mend = "one number for each column of the weight"
        check_shape(call, "bias", bias, ("d_out",), (weight.shape[1],), mend)


def check_gradient_of(call: str, dout: Array, shape: tuple[int, ...]) -> None:
    """Refuse an upstream gradient that is not shaped like the output."""
    check_floats(call, dout=dout)
    mend = "dout has the output's shape"
    check_shape(call, "dout", dout, ("like the output",), shape, mend)


def check_kept(call: str, x: Array, kept: Array, p: float) -> None:
    """Refuse a share outside [0, 1), or a choice that is no bool array shaped like x."""
    check_floats(call, x=x)
    check_share(call, "p", p, "0 leaves nothing out")
    if not hasattr(kept, "shape") or kind(kept) != "bool":
        raise ValueError(f"{call}: kept must be a bool array, got {kind(kept)}: True = keep")
    check_shape(call, "kept", kept, ("like x",), tuple(x.shape), "draw one for each number of x")


def check_state(
    call: str, wanted: Mapping[str, tuple[int, ...]], came: Mapping[str, tuple[int, ...]]
) -> None:
    """Refuse a state whose parameters are not exactly the wanted ones; names the first of each."""
    for words, names in (
        ("is missing", [name for name in wanted if name not in came]),
        ("is not a parameter of this model", [name for name in came if name not in wanted]),
    ):
        if names:
            more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
            mend = "the state is of another model: compare the configurations"
            raise ValueError(f"{call}: {names[0]} {words}{more}: {mend}")
    for name, shape in wanted.items():
        if tuple(came[name]) != tuple(shape):
            raise ValueError(
                f"{call}: {name} must be {listed(shape)}, got {listed(came[name])}: "
                "the state is of a model of another size"
            )
