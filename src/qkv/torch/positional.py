"""Positional encodings: sinusoidal, learned, rotary (RoPE), and ALiBi biases."""

import math

import torch
from torch import Tensor, nn

from qkv.shapes import check_count
from qkv.shapes.attention import check_causal
from qkv.shapes.embedding import check_encoding, check_max_len, check_rotary
from qkv.torch.checks import check_shapes, running
from qkv.torch.layer import Layer

__all__ = [
    "LearnedPositions",
    "alibi_bias",
    "alibi_slopes",
    "rotary",
    "sinusoidal_encoding",
]


def sinusoidal_encoding(
    n: int,
    d_model: int,
    *,
    layout: str = "interleaved",
    start: int = 0,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Sinusoidal positional encoding: sin and cos of pos / 10000^(2i / d_model) for pair i.

    As `qkv.numpy.sinusoidal_encoding`, with:
        dtype: of the result, None is torch's default; angles are computed in float64.
        device: where the result is made.
    """
    check_encoding("sinusoidal_encoding", n, d_model, layout, start)
    return sinusoidal_formula(int(n), int(d_model), layout, int(start), dtype, device)


def sinusoidal_formula(
    n: int,
    d_model: int,
    layout: str,
    start: int,
    dtype: torch.dtype | None,
    device: torch.device | str | None,
) -> Tensor:
    """sin and cos of pos / 10000^(2i / d_model) for pair i, which models call."""
    position = torch.arange(start, start + n, device=device)  # (n,)
    angle = position[:, None] * _frequencies(d_model, 10000.0, position.device)  # (n, pairs)
    first, second = _pair_slices(d_model, layout)
    out = torch.empty(n, d_model, dtype=dtype, device=device)
    out[:, first] = angle.sin().to(out.dtype)
    out[:, second] = angle[:, : d_model // 2].cos().to(out.dtype)
    return out


def _frequencies(width: int, base: float, device: torch.device) -> Tensor:
    """Angle by which each pair of entries turns from one position to the next, in radians."""
    # A float32 angle at position 100,000 would be wrong by 0.004; only Apple's GPUs lack float64.
    dtype = torch.float32 if device.type == "mps" else torch.float64
    return base ** (-torch.arange(0, width, 2, dtype=dtype, device=device) / width)  # (pairs,)


def _pair_slices(width: int, layout: str) -> tuple[slice, slice]:
    """Slices of the first and of the second entries of all pairs."""
    if layout == "interleaved":
        return slice(0, None, 2), slice(1, None, 2)
    half = (width + 1) // 2
    return slice(0, half), slice(half, None)


class LearnedPositions(Layer):
    """Learned positional embeddings, added to the vectors.

    As `qkv.numpy.LearnedPositions`, with:
        rng: draws the table, N(0, 1/d_model); None is torch's own generator.
        dtype, device: of the table.
    """

    def __init__(
        self,
        max_len: int,
        d_model: int,
        *,
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        check_count("LearnedPositions", max_len=max_len, d_model=d_model)
        self.weight = nn.Parameter(torch.empty(max_len, d_model, dtype=dtype, device=device))
        nn.init.normal_(self.weight, std=1 / math.sqrt(d_model), generator=rng)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """x: (..., T, d_model), whose first vector stands at `start` -> shaped like x."""
        if not running.checked_call:
            weight = (self.weight, "max_len d_model")
            check_shapes("LearnedPositions", weight=weight, x=(x, "... T d_model"))
            check_max_len("LearnedPositions", x.shape[-2], start, len(self.weight))
        return x + self.weight[start : start + x.shape[-2]]  # (..., T, d_model)


def rotary(
    x: Tensor,
    positions: Tensor | None = None,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
) -> Tensor:
    """Rotary position embedding (RoPE): rotate pair i of x by the angle pos / base^(2i / d).

    As `qkv.numpy.rotary`.
    """
    check_shapes("rotary", x=(x, "*batch T d"), positions=(positions, "int -> *batch T"))
    check_rotary("rotary", x.shape, base, layout)
    return rotate_pairs(x, positions, base=float(base), layout=layout)


def rotate_pairs(
    x: Tensor,
    positions: Tensor | None,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
) -> Tensor:
    """Rotate each pair; layers call this."""
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)  # (T,)
    angle = positions[..., None] * _frequencies(x.shape[-1], base, x.device)  # (..., T, d/2)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = _pair_slices(x.shape[-1], layout)
    a = x[..., first] * cos - x[..., second] * sin  # (..., T, d/2)
    b = x[..., first] * sin + x[..., second] * cos  # (..., T, d/2)
    if layout == "interleaved":
        return torch.stack((a, b), -1).flatten(-2)  # (..., T, d)
    return torch.cat((a, b), -1)  # (..., T, d)


def alibi_slopes(
    n_heads: int,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """ALiBi slopes, by which each head's scores fall with distance: 2^(−8/H), 2^(−16/H), … 2^(−8).

    As `qkv.numpy.alibi_slopes`.
    """
    check_count("alibi_slopes", n_heads=n_heads)
    return _alibi_slopes(int(n_heads), dtype, device)


def _alibi_slopes(
    n_heads: int, dtype: torch.dtype | None, device: torch.device | str | None
) -> Tensor:
    """2^(−8/H), 2^(−16/H), … and, beyond the last power of two, every other slope of twice that."""
    power_of_two = 1 << (n_heads.bit_length() - 1)
    slopes = [2 ** (-8 * n / power_of_two) for n in range(1, power_of_two + 1)]
    more = [2 ** (-4 * n / power_of_two) for n in range(1, 2 * power_of_two, 2)]
    return torch.tensor(slopes + more[: n_heads - power_of_two], dtype=dtype, device=device)  # (H,)


def alibi_bias(
    n_heads: int,
    T: int,
    S: int | None = None,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """ALiBi bias, added to the scores before softmax: −slope · |query − key|.

    As `qkv.numpy.alibi_bias`, with:
        dtype, device: of the result.
    """
    S = T if S is None else S
    check_count("alibi_bias", n_heads=n_heads)
    check_causal("alibi_bias", T, S)
    return alibi_formula(int(n_heads), T, S, dtype, device)


def alibi_formula(
    n_heads: int,
    T: int,
    S: int,
    dtype: torch.dtype | None,
    device: torch.device | str | None,
) -> Tensor:
    """−slope · |query − key|, which models call."""
    dtype = dtype or torch.get_default_dtype()
    # Half precision would round the slopes first and the products again.
    exact = torch.promote_types(dtype, torch.float32)
    slopes = _alibi_slopes(n_heads, exact, device)  # (H,)
    query = torch.arange(S - T, S, device=device)[:, None]  # (T, 1)
    distance = (query - torch.arange(S, device=device)).abs()  # (T, S)
    return (-slopes[:, None, None] * distance)[None].to(dtype)  # (1, H, T, S)
