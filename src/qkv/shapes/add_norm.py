"""What normalisation and the residual path refuse."""

from qkv.shapes.core import Array, check_floats, check_shape, listed, shown
from qkv.shapes.layers import check_choice, check_count, check_share
from qkv.shapes.scalars import number

PLACEMENTS = ("post", "pre")
NORMS = ("layer", "rms")


def check_eps(call: str, eps: float, name: str = "eps") -> None:
    """Refuse what would divide the same number repeated, which has no variance, by zero."""
    found = number(eps)
    if found is None or not found > 0:
        raise ValueError(
            f"{call}: {name} must be a number above 0, got {shown(eps)}: 1e-5 is usual"
        )


def check_norm(call: str, x: Array, eps: float, **parameters: Array) -> None:
    """Refuse vectors without a width, and parameters that are not one number for each entry."""
    check_floats(call, x=x, **parameters)
    check_eps(call, eps)
    if not x.shape or not x.shape[-1]:
        mend = "there is nothing to normalise"
        raise ValueError(f"{call}: x must be (..., d_model), got {listed(x.shape)}: {mend}")
    for name, parameter in parameters.items():
        mend = f"{name} has one number for each entry of a vector"
        check_shape(call, name, parameter, ("d_model",), (x.shape[-1],), mend)


def check_add_norm(d_model: int, placement: str, dropout: float, norm: str) -> None:
    """Refuse a residual path of unknown kind."""
    check_count("AddNorm", d_model=d_model)
    check_choice("AddNorm", "placement", placement, PLACEMENTS)
    check_choice("AddNorm", "norm", norm, NORMS)
    check_share("AddNorm", "dropout", dropout, "0 leaves nothing out")


def check_residual(call: str, name: str, y: Array, shape: tuple[int, ...]) -> None:
    """Refuse what cannot be added to x entry by entry: broadcasting would hide a mistake."""
    check_floats(call, **{name: y})
    mend = "x is added to it, entry by entry"
    check_shape(call, name, y, ("like x",), tuple(shape), mend)
