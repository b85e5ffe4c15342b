"""The exercises of "Gradients by hand": right answers pass; each mistake meets its hint."""

from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.exercises import check
from qkv.exercises.backward import LAYERS, PRE_NORM_MISTAKES, pre_norm_gradients
from qkv.numpy import rms_norm_backward
from tests.helpers.exercises import ExerciseAnswers

DX, DW, DB = [[2, 2], [5, -4]], [[-1, 9], [3, 3]], [1, 3]


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


def pre_norm(dy, x, f, f_back, g, g_back):
    ones = np.ones(x.shape[-1])
    a = x + f(qn.layer_norm(x, ones))
    d = g_back(dy, qn.layer_norm(a, ones))
    da = dy + qn.layer_norm_backward(d, a, ones)[0]
    d = f_back(da, qn.layer_norm(x, ones))
    return da + qn.layer_norm_backward(d, x, ones)[0]


def pre_norm_by_hand(dy, x, f, f_back, g, g_back):
    """The same with a norm of its own, which knows no package."""

    def norm(z):
        s = np.sqrt(z.var(-1, keepdims=True) + 1e-5)
        return (z - z.mean(-1, keepdims=True)) / s, s

    def back(d, z):
        z_hat, s = norm(z)
        along = z_hat * (d * z_hat).mean(-1, keepdims=True)
        return (d - d.mean(-1, keepdims=True) - along) / s

    a = x + f(norm(x)[0])
    da = back(g_back(dy, norm(a)[0]), a) + dy
    return back(f_back(da, norm(x)[0]), x) + da


def jacobian_of_forward(dy, x, f, f_back, g, g_back, h=1e-5):
    """The right dx from forward passes alone: no backward."""
    ones = np.ones(x.shape[-1])

    def loss(x):
        a = x + f(qn.layer_norm(x, ones))
        return ((a + g(qn.layer_norm(a, ones))) * dy).sum()

    dx = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        u = np.zeros_like(x)
        u[i] = h
        dx[i] = (loss(x + u) - loss(x - u)) / (2 * h)
    return dx


def mistaken(name):
    """A function that returns what the mistake of this name gives, for any of the layers."""

    def answer(dy, x, *given):
        parts = (given[0], given[1]), (given[2], given[3])
        return pre_norm_gradients(dy, x, parts)[name]

    return answer


@pytest.mark.parametrize("name", PRE_NORM_MISTAKES)
def test_each_mistake_of_a_pre_norm_layer_is_named(name):
    said = check("backward-4", mistaken(name))
    assert not said
    assert said.text == PRE_NORM_MISTAKES[name][0]


def test_the_right_gradient_of_a_pre_norm_layer_agrees_with_differences():
    (dy, x), ((f, f_back), (g, g_back)) = LAYERS[0]
    ones = np.ones(x.shape[-1])

    def loss(x):
        a = x + f(qn.layer_norm(x, ones))
        return ((a + g(qn.layer_norm(a, ones))) * dy).sum()

    u = np.random.default_rng(0).normal(size=x.shape)
    slope = (loss(x + 1e-5 * u) - loss(x - 1e-5 * u)) / 2e-5
    right = pre_norm_gradients(dy, x, ((f, f_back), (g, g_back)))["right"]
    assert np.isclose(slope, (right * u).sum(), rtol=1e-6)


def with_isclose(f, backward, x, h=1e-5, atol=0):
    """As the chapter does it, with NumPy's isclose, and with its floor or without."""
    rng = np.random.default_rng(3)
    dY, u = rng.normal(size=f(x).shape), rng.normal(size=x.shape)
    slope = ((f(x + h * u) - f(x - h * u)) * dY).sum() / (2 * h)
    dx = backward(dY, x)
    return dx.shape == x.shape and np.isclose((dx * u).sum(), slope, rtol=1e-6, atol=atol)


@pytest.mark.parametrize(
    ("h", "tolerance"), [(1e-4, 1e-3), (1e-5, 1e-4), (1e-5, 1e-5), (1e-6, 1e-7)]
)
def test_two_sided_relative_checks_are_taken_from_most_seeds(h, tolerance):
    def of_seed(seed):
        def agrees(f, backward, x):
            rng = np.random.default_rng(seed)
            dY, u = rng.normal(size=f(x).shape), rng.normal(size=x.shape)
            slope = ((f(x + h * u) - f(x - h * u)) * dY).sum() / (2 * h)
            dx = backward(dY, x)
            if dx.shape != x.shape:
                return False
            by_hand = (dx * u).sum()
            return abs(slope - by_hand) <= tolerance * max(abs(slope), abs(by_hand))

        return agrees

    if tolerance < 5e-4:
        assert sum(bool(check("backward-3", of_seed(seed))) for seed in range(40)) >= 38
    else:
        said = check("backward-3", of_seed(0))
        assert not said
        assert "one in ten thousand" in said.hint


def test_a_tolerance_that_passes_by_luck_is_refused():
    """Unseeded, relative to the length of dx: a lax check is noticed, a sharp one is taken."""

    def relative_to_length(rng, tolerance):
        def agrees(f, backward, x, h=1e-5):
            for _ in range(3):
                dY, u = rng.normal(size=f(x).shape), rng.normal(size=x.shape)
                slope = ((f(x + h * u) - f(x - h * u)) * dY).sum() / (2 * h)
                dx = backward(dY, x)
                if dx.shape != x.shape:
                    return False
                if not abs((dx * u).sum() - slope) <= tolerance * np.linalg.norm(dx):
                    return False
            return True

        return agrees

    def taken(tolerance):
        draws = map(np.random.default_rng, range(10))
        return sum(bool(check("backward-3", relative_to_length(r, tolerance))) for r in draws)

    assert taken(1e-5) == 10
    assert taken(5e-4) <= 1


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
        "backward-1": (DX, DW, DB),
        "backward-2": "DAC",
        "backward-3": checker(),
        "backward-4": pre_norm,
        "backward-5": [1, 1, 2],
        "backward-6": summed,
        "backward-7": ([3, 4, 5], rms()),
    }
    also_right: ClassVar = {
        "entry by entry": ("backward-3", each_entry),
        "one-sided, with a step so small": ("backward-3", checker(forward=True, tolerance=1e-4)),
        "chapter's own check without a floor": ("backward-3", with_isclose),
        "letters in a list": ("backward-2", ["D", "A", "C"]),
        "a dict of letters": ("backward-2", {1: "D", 2: "A", 3: "C"}),
        "letters with numbers": ("backward-2", "1D 2A 3C"),
        "letters with names": ("backward-2", "I: d, II: a and III: c"),
        "fractions and a tuple": (
            "backward-1",
            (DX, ((Fraction(-1), 9), (3, 3)), range(1, 4, 2)),
        ),
        "float32": ("backward-1", (np.float32(DX), np.float32(DW), np.float32(DB))),
        "a norm of its own": ("backward-4", pre_norm_by_hand),
        "the package": ("backward-7", (np.float32([-0.6, -0.8, -1]), rms_norm_backward)),
        "one more random direction": ("backward-5", np.array([-3.0, 0.5, 1])),
        "with a pencil": ("backward-7", ([0.42, 0.57, 0.71], rms())),
        "a tolerance of 1e-4, as the text allows": ("backward-3", checker(tolerance=1e-4)),
    }
    also_wrong: ClassVar = {
        "dW alone": ("backward-1", DW),
        "two letters": ("backward-2", "DA"),
        "last row": ("backward-3", checker(rows=slice(-1, None))),
        "another ε": ("backward-7", ([3, 4, 5], rms(eps=1e-6))),
        "chapter's own check, with its floor": ("backward-3", partial(with_isclose, atol=1e-8)),
        "a floor of 1e-12": ("backward-3", partial(with_isclose, atol=1e-12)),
        "nearly": ("backward-5", [1e7, 1, 1]),
        "by a thousandth": ("backward-5", [1, 1, 2.001]),
        "by half of it": ("backward-5", [1, 1, 2.0005]),
        "off by a tenth": ("backward-7", ([3, 4, 5.1], rms())),
        "off by a tenth below": ("backward-7", ([3, 4, 4.9], rms())),
        "off in the first": ("backward-7", ([3.1, 4, 5], rms())),
    }
    wrong: ClassVar = {
        "backward-1": {
            "X dY": (DX, [[0, 6], [5, 3]], DB),
            "transposed": (DX, np.transpose(DW), DB),
            "a mean": (DX, np.array(DW) / 2, DB),
            "one row": (DX, [[2, 0], [4, 0]], DB),
            "bias by rows": (DX, DW, [2, 2]),
            "bias: mean": (DX, DW, [0.5, 1.5]),
            "dY W": ([[2, 4], [2, -5]], DW, DB),
            "W dY": ([[0, 6], [3, -3]], DW, DB),
            "Wᵀ dY": ([[1, 3], [5, -3]], DW, DB),
            "dX transposed": (np.transpose(DX), DW, DB),
            "in another order": (DW, DX, DB),
            "dW and db": (DW, DB),
            "other": (DX, [[0, 0], [0, 0]], DB),
            "another dX": ([[0, 0], [0, 0]], DW, DB),
        },
        "backward-2": {
            "in another order": "ACD",
            "one wrong": "DAE",
            "another wrong": "DBC",
            "one letter twice": "DDC",
            "a factor": "GAC",
            "a factor in III": "DAG",
            "a number": 3,
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
            "an array": lambda f, backward, x: x > 0,
        },
        "backward-4": {
            "three arrays": lambda dy, x, *parts: (dy, dy, dy),
            "of x alone": lambda dy, x, *parts: dy,
            "by differences": jacobian_of_forward,
            "a row": lambda dy, x, *parts: dy[0],
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
        "backward-7": {
            "r constant": ([3, 4, 5], rms(last=False)),
            "LayerNorm": ([3, 4, 5], rms(mean=True)),
            "no γ": ([3, 4, 5], rms(gain=False)),
            "sign": ([3, 4, 5], rms(sign=-1)),
            "a sum": ([3, 4, 5], rms(total=True)),
            "no ε": ([3, 4, 5], rms(eps=0)),
            "dγ averaged": ([3, 4, 5], rms(average=True)),
            "dx alone": ([3, 4, 5], lambda dy, x, gamma: rms()(dy, x, gamma)[0]),
            "ones": ([1, 1, 1], rms()),
            "across x": ([4, -3, 0], rms()),
            "zeros": ([0, 0, 0], rms()),
            "function alone": rms(),
        },
    }
