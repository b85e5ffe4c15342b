"""What attention refuses to ask with, and to make its keys and values of."""

from qkv.shapes.core import Array, check_floats, check_shape, listed
from qkv.shapes.layers import check_count
from qkv.shapes.rooms import check_dtype_of


def source_widths(
    call: str, d_model: int, kdim: int | None, vdim: int | None, rotary: bool
) -> tuple[int, int]:
    """kdim and vdim with their defaults; refuses those that are no counts, or do not fit rotary."""
    kdim, vdim = (d_model if width is None else width for width in (kdim, vdim))
    check_count(call, kdim=kdim, vdim=vdim)
    if rotary and (kdim, vdim) != (d_model, d_model):
        mend = "with rotary=True x attends to itself"
        came = f"{kdim} and {vdim}"
        raise ValueError(f"{call}: kdim and vdim must be d_model = {d_model}, got {came}: {mend}")
    return kdim, vdim


def check_sources(
    call: str,
    memory: Array | None,
    value: Array | None,
    B: int,
    parameter: Array | None,
    d_model: int,
    widths: tuple[int, int],
) -> None:
    """Refuse what keys and values cannot be made of."""
    kdim, vdim = widths
    if memory is None:
        if value is not None:
            mend = "a value stands beside a memory: pass x as the memory too"
            raise ValueError(f"{call}: value must be None without a memory: {mend}")
        for name, width in (("kdim", kdim), ("vdim", vdim)):
            if width != d_model:
                mend = f"x is d_model = {d_model} wide, and {name} is another"
                raise ValueError(f"{call}: memory must be (B, S, {kdim}), got None: {mend}")
        return
    mend = "memory is one for each sentence of x"
    symbol = "d_model" if kdim == d_model else "kdim"
    check_vectors(call, "memory", memory, (B, "S", kdim), parameter, mend, symbol)
    S = memory.shape[1]
    if value is not None:
        mend = "one value for each token of the memory"
        symbol = "d_model" if vdim == d_model else "vdim"
        check_vectors(call, "value", value, (B, S, vdim), parameter, mend, symbol)
    elif kdim != vdim:
        mend = f"the memory is kdim = {kdim} wide, and vdim is another"
        expected = f"(B, S, vdim) = {listed((B, S, vdim))}"
        raise ValueError(f"{call}: value must be {expected}, got None: {mend}")


def check_vectors(
    call: str,
    name: str,
    x: Array,
    sizes: tuple[int | str, int | str, int],
    parameter: Array | None,
    mend: str,
    width: str = "d_model",
) -> None:
    """Refuse what is not one vector of this width for each token of each sentence."""
    check_floats(call, **{name: x})
    length = "T" if name == "x" else "S"
    if len(x.shape) == 3 and x.shape[2] != sizes[2]:
        mend = "check the width of the layer before"
    check_shape(call, name, x, ("B", length, width), sizes, mend)
    if parameter is not None:
        check_dtype_of(call, name, x, parameter)
