"""The exercises of "Gradients by hand": right answers pass; each mistake meets its hint."""

from typing import ClassVar

import numpy as np

from qkv.numpy import rms_norm_backward
from tests.helpers.exercises import ExerciseAnswers

DW, DB = [[-1, 9], [3, 3]], [1, 3]


def checker(
    h=1e-6,
    tolerance=1e-6,
    ones=False,
    rows=slice(None),
    along_x=False,
    forward=False,
    absolute=False,
    shape=True,
    accepts_nan=False,
):
    """A check of a backward by finite differences; its arguments are the mistakes."""

    def agrees(f, backward, x):
        rng = np.random.default_rng(5)
        dY, u = rng.normal(size=f(x).shape), rng.normal(size=x.shape)
        if ones:
            dY = np.ones_like(dY)
        if along_x:
            u = x
        u = u * np.isin(np.arange(len(x)), np.arange(len(x))[rows]).reshape(-1, *[1] * (x.ndim - 1))
        down, steps = (x, 1) if forward else (x - h * u, 2)
        slope = ((f(x + h * u) - f(down)) * dY).sum() / (steps * h)
        dx = backward(dY, x)
        by_hand = (dx * u).sum()
        size = 1 if absolute else max(abs(slope), abs(by_hand))
        if shape and dx.shape != x.shape:
            return False
        if accepts_nan:
            return not abs(slope - by_hand) > tolerance * size
        return abs(slope - by_hand) <= tolerance * size

    return agrees


def each_entry(f, backward, x, h=1e-5):
    dY = np.random.default_rng(7).normal(size=f(x).shape)
    slope = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        u = np.zeros_like(x)
        u[i] = h
        slope[i] = ((f(x + u) - f(x - u)) * dY).sum() / (2 * h)
    dx = backward(dY, x)
    return dx.shape == x.shape and np.allclose(slope, dx, atol=1e-6 * np.abs(slope).max())


def rms(mean=False, last=True, gain=True, average=False, total=False, sign=1, eps=1e-5):
    """RMSNorm's backward; its arguments are the mistakes."""

    def backward(dy, x, gamma):
        r = np.sqrt((x * x).mean(-1, keepdims=True) + eps)
        x_hat, g = x / r, dy * gamma if gain else dy
        along = (g * x_hat).mean(-1, keepdims=True) * (x.shape[-1] if total else 1)
        dx = (g - sign * x_hat * along if last else g) / r
        if mean:
            dx = dx - g.mean(-1, keepdims=True) / r
        rows = (dy * x_hat).reshape(-1, len(gamma))
        return dx, rows.mean(0) if average else rows.sum(0)

    return backward


def summed(d, shape):
    d = d.sum(axis=tuple(range(d.ndim - len(shape))))
    return d.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def averaged(d, shape):
    return summed(d, shape) * np.prod(shape) / d.size


def first_copy(d, shape):
    for _ in range(d.ndim - len(shape)):
        d = d[0]
    return d[tuple(slice(0, n) for n in shape)]


class TestAnswers(ExerciseAnswers):
    right: ClassVar = {
        "backward-1": (DW, DB),
        "backward-2": "ACF",
        "backward-3": checker(),
        "backward-4": rms(),
        "backward-5": [1, 1, 2],
        "backward-6": summed,
    }
    also_right: ClassVar = {
        "entry by entry": ("backward-3", each_entry),
        "the package": ("backward-4", rms_norm_backward),
        "one more random direction": ("backward-5", np.array([-3.0, 0.5, 1])),
        "a tolerance of 1e-4, as the text allows": ("backward-3", checker(tolerance=1e-4)),
    }
    also_wrong: ClassVar = {
        "last row": ("backward-3", checker(rows=slice(-1, None))),
        "another ε": ("backward-4", rms(eps=1e-6)),
        "nearly": ("backward-5", [1e7, 1, 1]),
    }
    wrong: ClassVar = {
        "backward-1": {
            "X dY": ([[0, 6], [5, 3]], DB),
            "transposed": (np.transpose(DW), DB),
            "a mean": (np.array(DW) / 2, DB),
            "one row": ([[2, 0], [4, 0]], DB),
            "bias by rows": (DW, [2, 2]),
            "bias: mean": (DW, [0.5, 1.5]),
            "dW alone": DW,
            "other": ([[0, 0], [0, 0]], DB),
        },
        "backward-2": {
            "B too": "ABCF",
            "D too": "ACDF",
            "E too": "ACEF",
            "no A": "CF",
            "no C": "AF",
            "no F": "AC",
        },
        "backward-3": {
            "ones": checker(ones=True),
            "first row": checker(rows=slice(0, 1)),
            "along x": checker(along_x=True),
            "absolute": checker(absolute=True, tolerance=1e-5),
            "ones, absolute": checker(ones=True, absolute=True, tolerance=1e-5),
            "shapes not compared": checker(shape=False),
            "NaN accepted": checker(accepts_nan=True),
            "too lax": checker(tolerance=1e-2),
            "one-sided": checker(forward=True, tolerance=1e-9),
            "one-sided, tolerance of 1e-4": checker(forward=True, tolerance=1e-4),
            "an array": lambda f, backward, x: x > 0,
        },
        "backward-4": {
            "r constant": rms(last=False),
            "LayerNorm": rms(mean=True),
            "no γ": rms(gain=False),
            "sign": rms(sign=-1),
            "a sum": rms(total=True),
            "no ε": rms(eps=0),
            "dγ averaged": rms(average=True),
            "dx alone": lambda dy, x, gamma: rms()(dy, x, gamma)[0],
        },
        "backward-5": {
            "zero": [0, 0, 0],
            "seen": [1, 2, 3],
            "slope 0": [-2, 1, 2],
            "along one axis": [1, 0, 0],
            "two numbers": [1, 2],
        },
        "backward-6": {
            "a mean": averaged,
            "the first copy": first_copy,
            "all of it": lambda d, shape: d,
            "zeros": lambda d, shape: np.zeros(shape),
        },
    }
