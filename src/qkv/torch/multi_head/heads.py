"""From one width to several heads, and back."""

from torch import Tensor

from qkv.shapes import check_merge, check_split

__all__ = ["merge_heads", "split_heads"]


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut the width into heads, and give the heads an axis before that of the tokens.

    It moves numbers and computes none, so its backward is `merge_heads(dout)`.

    Args:
        x: (B, T, n_heads · d); any number of leading axes, also none.
        n_heads: number of heads; head h has the h-th run of d columns.
    Returns:
        (B, n_heads, T, d), a view of x where its layout allows.
    Raises:
        ValueError: n_heads does not divide the width.
    """
    check_split("split_heads", x, n_heads)
    *lead, T, width = x.shape
    # Cut first, swap then: a direct reshape to (B, H, T, d) would mix tokens with heads.
    heads = x.reshape(*lead, T, n_heads, width // n_heads)  # (B, T, H, d)
    return heads.swapaxes(-3, -2)  # (B, H, T, d)


def merge_heads(x: Tensor) -> Tensor:
    """Set the heads side by side again: undo `split_heads`.

    It moves numbers and computes none, so its backward is `split_heads(dout, n_heads)`.

    Args:
        x: (B, H, T, d); any number of leading axes, also none.
    Returns:
        (B, T, H · d).
    Raises:
        ValueError: x has no axis of heads.
    """
    check_merge("merge_heads", x)
    *lead, H, T, d = x.shape
    return x.swapaxes(-3, -2).reshape(*lead, T, H * d)  # (B, T, H · d)
