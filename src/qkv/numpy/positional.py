"""Positional encodings: sinusoidal, learned, rotary (RoPE), and ALiBi biases."""

import math

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qkv.numpy.array_types import Floats, Ints
from qkv.numpy.checks import check_shapes, running
from qkv.numpy.layer import Layer
from qkv.shapes import check_count
from qkv.shapes.attention import check_causal
from qkv.shapes.embedding import check_encoding, check_max_len, check_rotary

__all__ = [
    "LearnedPositions",
    "alibi_bias",
    "alibi_slopes",
    "rotary",
    "rotary_backward",
    "sinusoidal_encoding",
]


def sinusoidal_encoding(
    n: int,
    d_model: int,
    *,
    layout: str = "interleaved",
    start: int = 0,
    dtype: DTypeLike = np.float32,
) -> Floats:
    """Sinusoidal positional encoding: sin and cos of pos / 10000^(2i / d_model) for pair i.

    Args:
        n: number of positions.
        d_model: width of a position's vector; an odd one leaves out the last cosine.
        layout: "interleaved" has sin and cos of a pair side by side, as in the paper; "halves" has
            all sines before all cosines, as some checkpoints have.
        start: the first position.
        dtype: of the result; angles are computed in float64.
    Returns:
        (n, d_model), to be added to (B, n, d_model), each token of each sentence its row.
    Raises:
        ValueError: a size is no count, or the layout is unknown.
    Source: Vaswani et al. 2017, section 3.5.
    """
    check_encoding("sinusoidal_encoding", n, d_model, layout, start)
    return sinusoidal_formula(int(n), int(d_model), layout, int(start), dtype)


def sinusoidal_formula(n: int, d_model: int, layout: str, start: int, dtype: DTypeLike) -> Floats:
    """sin and cos of pos / 10000^(2i / d_model) for pair i, which models call."""
    position = np.arange(start, start + n)  # (n,)
    angle = position[:, None] * _frequencies(d_model, 10000.0)  # (n, pairs)
    first, second = _pair_slices(d_model, layout)
    out = np.empty((n, d_model), dtype)
    out[:, first] = np.sin(angle)
    out[:, second] = np.cos(angle[:, : d_model // 2])
    return out


def _frequencies(width: int, base: float) -> NDArray[np.float64]:
    """Angle by which each pair of entries turns from one position to the next, in radians."""
    frequencies: NDArray[np.float64] = base ** (-np.arange(0, width, 2) / width)  # (pairs,)
    return frequencies


def _pair_slices(width: int, layout: str) -> tuple[slice, slice]:
    """Slices of the first and of the second entries of all pairs."""
    if layout == "interleaved":
        return slice(0, None, 2), slice(1, None, 2)
    half = (width + 1) // 2
    return slice(half), slice(half, None)


class LearnedPositions(Layer):
    """Learned positional embeddings, added to the vectors.

    Args:
        max_len: number of positions there are.
        d_model: width of the vectors.
        rng: draws the table, N(0, 1/d_model); None is a generator of its own.
        dtype: of the table, and so of what the layer takes.
    Raises:
        ValueError: a size is no positive whole number.
    Source: Gehring et al. 2017, section 3.1.
    """

    def __init__(
        self,
        max_len: int,
        d_model: int,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_count("LearnedPositions", max_len=max_len, d_model=d_model)
        rng = rng or np.random.default_rng()
        table = rng.standard_normal((max_len, d_model)) / math.sqrt(d_model)
        self.register_parameter("weight", table.astype(dtype))

    def __call__(self, x: Floats, start: int = 0) -> Floats:
        """x: (..., T, d_model), whose first vector stands at `start` -> shaped like x."""
        if not running.checked_call:
            weight = (self.params["weight"], "max_len d_model")
            check_shapes("LearnedPositions", weight=weight, x=(x, "... T d_model"))
            check_max_len("LearnedPositions", x.shape[-2], start, len(self.params["weight"]))
        table = self.params["weight"]
        self.save_for_backward(x.shape, start)
        return x + table[start : start + x.shape[-2]]  # (..., T, d_model)

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., T, d_model) -> dx; adds to the gradient of the rows that were used."""
        shape, start = self.pop_saved()
        check_shapes("LearnedPositions.backward", dout=(dout, shape))
        *_, T, d_model = shape
        self.grads["weight"][start : start + T] += dout.reshape(-1, T, d_model).sum(0)
        return dout


def rotary(
    x: Floats,
    positions: Ints | None = None,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
) -> Floats:
    """Rotary position embedding (RoPE): rotate pair i of x by the angle pos / base^(2i / d).

    Then q · k depends on the distance of the two positions alone.

    Args:
        x: (..., T, d) queries or keys, d even.
        positions: ints that broadcast to (..., T); None means 0 to T − 1.
        base: the longest period is nearly 2π · base positions.
        layout: "interleaved" rotates neighbours, (x₀, x₁), as in the paper; "halves" rotates
            (x₀, x_{d/2}), as GPT-NeoX and `rotate_half` of Hugging Face do.
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: x, positions, base or layout do not fit.
    Source: Su et al. 2021, eq. 34.
    """
    check_shapes("rotary", x=(x, "*batch T d"), positions=(positions, "int -> *batch T"))
    check_rotary("rotary", x.shape, base, layout)
    return rotate_pairs(x, positions, base=float(base), layout=layout)


def rotary_backward(
    dout: Floats,
    positions: Ints | None = None,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
) -> Floats:
    """Backward of rotary position embedding: rotate back by the same angles."""
    call = "rotary_backward"
    check_shapes(call, dout=(dout, "*batch T d"), positions=(positions, "int -> *batch T"))
    check_rotary(call, dout.shape, base, layout)
    return rotate_pairs(dout, positions, -1, base=float(base), layout=layout)


def rotate_pairs(
    x: Floats,
    positions: Ints | None,
    sign: int = 1,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
) -> Floats:
    """Rotate each pair, forwards with sign 1, back with −1; layers call this."""
    if positions is None:
        positions = np.arange(x.shape[-2])  # (T,)
    angle = positions[..., None] * _frequencies(x.shape[-1], base)  # (..., T, d/2)
    cos, sin = np.cos(angle).astype(x.dtype), (sign * np.sin(angle)).astype(x.dtype)
    first, second = _pair_slices(x.shape[-1], layout)
    out = np.empty_like(x)  # (..., T, d)
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., first] * sin + x[..., second] * cos
    return out


def alibi_slopes(n_heads: int, *, dtype: DTypeLike = np.float32) -> Floats:
    """ALiBi slopes, by which each head's scores fall with distance: 2^(−8/H), 2^(−16/H), … 2^(−8).

    Where H is no power of two, the heads beyond the last one take every other slope of twice that.

    Returns:
        (H,).
    Raises:
        ValueError: n_heads is no positive whole number.
    Source: Press, Smith and Lewis 2022, section 3, and the code published with it.
    """
    check_count("alibi_slopes", n_heads=n_heads)
    return _alibi_slopes(int(n_heads)).astype(dtype)  # (H,)


def _alibi_slopes(n_heads: int) -> NDArray[np.float64]:
    """2^(−8/H), 2^(−16/H), … and, beyond the last power of two, every other slope of twice that."""
    power_of_two = 1 << (n_heads.bit_length() - 1)
    slopes = 2.0 ** (-8 * np.arange(1, power_of_two + 1) / power_of_two)  # (power_of_two,)
    more = 2.0 ** (-4 * np.arange(1, 2 * power_of_two, 2) / power_of_two)  # (power_of_two,)
    return np.concatenate([slopes, more[: n_heads - power_of_two]])  # (H,)


def alibi_bias(
    n_heads: int, T: int, S: int | None = None, *, dtype: DTypeLike = np.float32
) -> Floats:
    """ALiBi bias, added to the scores before softmax: −slope · |query − key|.

    The T queries are the last of the S positions, as in `causal_mask`.

    Args:
        n_heads: number of heads, each with its slope.
        T: number of queries.
        S: number of keys; None means T.
        dtype: of the result.
    Returns:
        (1, H, T, S).
    Raises:
        ValueError: n_heads is no positive whole number, or T is larger than S.
    Source: Press, Smith and Lewis 2022, section 3; keys after the query, which a causal mask hides
        there, count like those before it.
    """
    S = T if S is None else S
    check_count("alibi_bias", n_heads=n_heads)
    check_causal("alibi_bias", T, S)
    return alibi_formula(int(n_heads), T, S, dtype)


def alibi_formula(n_heads: int, T: int, S: int, dtype: DTypeLike) -> Floats:
    """−slope · |query − key|, which models call."""
    query = np.arange(S - T, S)[:, None]  # (T, 1)
    distance = abs(query - np.arange(S))  # (T, S)
    slopes = _alibi_slopes(n_heads)  # (H,)
    return (-slopes[:, None, None] * distance)[None].astype(dtype)  # (1, H, T, S)
