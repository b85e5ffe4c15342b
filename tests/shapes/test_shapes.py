"""The notation of shapes: what each spec takes and refuses, word for word."""

import numpy as np
import pytest

from qkv.numpy.checks import check_shapes
from qkv.shapes.specs import Spec, parse


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def test_a_spec_is_read_as_dtype_broadcasting_leading_axes_and_symbols():
    assert parse("B T d_model") == Spec("float", False, "", ("B", "T", "d_model"), ())
    assert parse("... V+") == Spec("float", False, "...", ("V",), ("V",))
    assert parse("bool -> *batch 1 S") == Spec("bool", True, "*batch", ("1", "S"), ())
    assert parse("... V+") is parse("... V+")


TAKEN = [
    {"x": (zeros(2, 3), "B T"), "y": (zeros(3, 5), "T S")},
    {"x": (zeros(7), "... d"), "y": (zeros(2, 3, 7), "*batch T d")},
    {"x": (zeros(2, 3, 5), "... d"), "y": (zeros(2, 3), "...")},
    {"B": 2, "T": None, "x": (zeros(2, 3), "B T")},
    {"x": (None, "B T"), "y": (zeros(2), "B")},
    {"x": (zeros(2, 3), "B T"), "y": (zeros(1, dtype=bool), "bool -> B T")},
    {"x": (zeros(2, 3), "B T"), "y": (zeros(2, 1), "-> B 1")},
    {"x": (zeros(2, dtype=np.uint8), "int N"), "y": (zeros(2), "N")},
    {"x": (zeros(0, 3), "N d+")},
    {"x": (zeros(2, 3), (2, 3))},
]


@pytest.mark.parametrize("given", TAKEN, ids=range(len(TAKEN)))
def test_what_fits_is_taken(given):
    check_shapes("call", **given)


X = zeros(2, 3, 5, 7)
REFUSED = {
    "y must be (T, S) = (3, S), got (2, 5)": {
        "x": (zeros(2, 3), "B T"),
        "y": (zeros(2, 5), "T S"),
    },
    "y must be (B, T), got (2,)": {"y": (zeros(2), "B T")},
    "y must be (B, B) = (2, 2), got (2, 3)": {"B": 2, "y": (zeros(2, 3), "B B")},
    "y must be (B, B), got (2, 3)": {"y": (zeros(2, 3), "B B")},
    "y must be (..., d) = (..., 7), got (2, 5)": {"d": 7, "y": (zeros(2, 5), "... d")},
    "y must be (..., e) = (2, 3, e), got (2, 4, 7)": {
        "x": (zeros(2, 3, 5), "... d"),
        "y": (zeros(2, 4, 7), "... e"),
    },
    "y must be (2, 3), got (2,)": {"x": (zeros(2, 3, 5), "... d"), "y": (zeros(2), "...")},
    "y must be (2, 3), got (2, 4)": {"y": (zeros(2, 4), (2, 3))},
    "y must be (B, H, S, d) = (2, 3, S, 7), got (2, 3, 5, 6)": {
        "x": (X, "*batch T d"),
        "y": (X[..., 1:], "*batch S d"),
    },
    "y must be (B, S, d) = (3, S, 7), got (2, 5, 7)": {
        "x": (X[0], "*batch T d"),
        "y": (X[:, 0], "*batch S d"),
    },
    "y must be (S, d) = (S, 7), got (3, 5, 7)": {
        "x": (X[0, 0], "*batch T d"),
        "y": (X[0], "*batch S d"),
    },
    "y must be (..., T, d), got (7,)": {"y": (X[0, 0, 0], "*batch T d")},
    "y must broadcast to (B, 1) = (2, 1), got (2, 3)": {
        "x": (zeros(2, 3), "B T"),
        "y": (zeros(2, 3), "-> B 1"),
    },
    "y must broadcast to (B, T) = (2, 3), got (1, 2, 3)": {
        "x": (zeros(2, 3), "B T"),
        "y": (zeros(1, 2, 3), "-> B T"),
    },
    "r must be at least 1, got y = (2, 0)": {"y": (zeros(2, 0), "S r+")},
    "y must be a float array, got int64: convert it first": {"y": (np.ones(2, int), "...")},
    "y must be float32 as x is, got float64: convert it": {
        "x": (zeros(2), "..."),
        "y": (np.ones(2), (2,)),
    },
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_fit_is_refused_with_what_is_known_of_it(words):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the whole text is compared below)
        check_shapes("call", **REFUSED[words])
    assert str(refusal.value) == f"call: {words}"
