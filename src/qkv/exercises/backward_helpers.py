"""Helpers of the exercises on gradients by hand: right and wrong backwards to try a check on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import qkv.numpy as qn

Array: TypeAlias = np.ndarray[Any, Any]
Case: TypeAlias = tuple[
    str, Callable[[Array], Array], Callable[[Array, Array], Array], Array, bool, str
]

_rng = np.random.default_rng(18)
_ROWS = _rng.normal(size=(4, 6))
_MATRIX = _rng.normal(size=(6, 3))
_ONES = np.ones(6)
RANDOM_UPSTREAM = "Which upstream gradient do you use? With ones, much that is wrong gives 0."
ALL_ENTRIES = "Which entries of x do you move? One entry, or one row, tells nothing of the others."
RANDOM_DIRECTION = "In which direction do you move x? Along x itself, this error is not seen."
RELATIVE = "Is your tolerance a fixed number? Compare the difference with the size of the slope."
NO_SLOPE_FOR_ONES = "With a dY of ones the slope is 0; you see only rounding. Draw dY at random."
NO_SLOPE_ALONG_X = "Along x the slope is 0; you see only rounding. Draw the direction at random."
NOT_A_NUMBER = "A comparison with NaN is False. Write: if not difference <= tolerance."
SHAPE = "A gradient has the shape of its input. A product with u broadcasts: compare the shapes."
SHARP = "How large a difference do you accept? In float64 it is far below a millionth."
BOTH_SIDES = "Do you compare with f(x)? On one side the error falls as h, on both sides as h²."
TOO_STRICT = "How large is the error of a right one? Neither h² nor rounding divided by h is 0."


def _norm(x: Array) -> Array:
    return qn.layer_norm(x, _ONES)


def _norm_backward(dY: Array, x: Array) -> Array:
    return qn.layer_norm_backward(dY, x, _ONES)[0]


def _sigma_constant(dY: Array, x: Array) -> Array:
    s = np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    without_last_term: Array = (dY - dY.mean(-1, keepdims=True)) / s
    return without_last_term


def _softmax_backward(dY: Array, x: Array) -> Array:
    return qn.softmax_backward(dY, qn.softmax(x))


def _no_row_sum(dY: Array, x: Array) -> Array:
    return qn.softmax(x) * dY


def _product(x: Array) -> Array:
    return x @ _MATRIX


def _product_backward(dY: Array, x: Array) -> Array:
    return dY @ _MATRIX.T


def _last_row_lost(dY: Array, x: Array) -> Array:
    dx = dY @ _MATRIX.T
    dx[-1] = 0
    return dx


def _first_row_lost(dY: Array, x: Array) -> Array:
    dx = dY @ _MATRIX.T
    dx[0] = 0
    return dx


def _one_entry_doubled(dY: Array, x: Array) -> Array:
    dx = dY @ _MATRIX.T
    dx[1, 2] *= 2
    return dx


def _one_entry_nan(dY: Array, x: Array) -> Array:
    dx = dY @ _MATRIX.T
    dx[1, 2] = np.nan
    return dx


def _one_axis_more(dY: Array, x: Array) -> Array:
    return (dY @ _MATRIX.T)[None]


def _off_across_x(dY: Array, x: Array) -> Array:
    off = np.roll(x, 1, axis=-1)
    off = off - x * (off * x).sum() / (x * x).sum()  # perpendicular to x
    wrong: Array = dY @ _MATRIX.T + off
    return wrong


def _small(x: Array) -> Array:
    return 1e-7 * x


def _small_backward(dY: Array, x: Array) -> Array:
    return 1e-7 * dY


def _small_lost(dY: Array, x: Array) -> Array:
    return np.zeros_like(x)


def _slightly_large(dY: Array, x: Array) -> Array:
    return dY @ _MATRIX.T * 1.0005


def _large(x: Array) -> Array:
    return 1000 * np.sin(x)


def _large_backward(dY: Array, x: Array) -> Array:
    return 1000 * np.cos(x) * dY


def _steep(x: Array) -> Array:
    steep: Array = np.exp(500 * x)
    return steep


def _steep_backward(dY: Array, x: Array) -> Array:
    return 500 * _steep(x) * dY


# What it is, the function, its backward, where to test it, whether it is right, and a hint.
CASES: tuple[Case, ...] = (
    ("1000 sin x, entry by entry", _large, _large_backward, _ROWS, True, TOO_STRICT),
    ("a matrix product", _product, _product_backward, _ROWS, True, TOO_STRICT),
    ("x / 10⁷", _small, _small_backward, _ROWS, True, TOO_STRICT),
    ("softmax", qn.softmax, _softmax_backward, _ROWS, True, NO_SLOPE_FOR_ONES),
    ("LayerNorm", _norm, _norm_backward, _ROWS, True, NO_SLOPE_ALONG_X),
    ("LayerNorm of one token", _norm, _norm_backward, _ROWS[0], True, NO_SLOPE_ALONG_X),
    ("a matrix product, 0.05 % too large", _product, _slightly_large, _ROWS, False, SHARP),
    ("LayerNorm, last term missing", _norm, _sigma_constant, _ROWS, False, RANDOM_UPSTREAM),
    ("softmax, no sum", qn.softmax, _no_row_sum, _ROWS, False, RANDOM_UPSTREAM),
    ("a matrix product, last row 0", _product, _last_row_lost, _ROWS, False, ALL_ENTRIES),
    ("a matrix product, first row 0", _product, _first_row_lost, _ROWS, False, ALL_ENTRIES),
    (
        "a matrix product, one entry doubled",
        _product,
        _one_entry_doubled,
        _ROWS,
        False,
        ALL_ENTRIES,
    ),
    ("a matrix product, off across x", _product, _off_across_x, _ROWS, False, RANDOM_DIRECTION),
    ("a matrix product, one entry NaN", _product, _one_entry_nan, _ROWS, False, NOT_A_NUMBER),
    ("a matrix product, one axis more", _product, _one_axis_more, _ROWS, False, SHAPE),
    ("x / 10⁷, all 0", _small, _small_lost, _ROWS, False, RELATIVE),
    ("exp 500 x", _steep, _steep_backward, _ROWS / 100, True, BOTH_SIDES),
    ("exp 500 x, rows turned round", _steep, _steep_backward, _ROWS[::-1] / 100, True, BOTH_SIDES),
    ("exp 500 x of one token", _steep, _steep_backward, _ROWS[0] / 100, True, BOTH_SIDES),
)


def rms_gradients(dy: Array, x: Array, gamma: Array) -> tuple[Array, Array]:
    """dx and dγ of RMSNorm with ε = 1e-5."""
    return qn.rms_norm_backward(dy, x, gamma)


def _draw(*shape: int, dtype: type[np.floating[Any]] = np.float64) -> tuple[Array, Array, Array]:
    dy, x = _rng.normal(size=(2, *shape)).astype(dtype)
    return dy, x, (1 + _rng.random(shape[-1])).astype(dtype)


RMS_INPUTS = (_draw(5), _draw(3, 5), _draw(2, 3, 5), _draw(3, 5, dtype=np.float32))
