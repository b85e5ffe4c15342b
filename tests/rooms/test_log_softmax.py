"""Log-softmax: values by hand, tails that softmax rounds to 0, empty slices, slopes, refusals."""

import math

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import matches_differences
from tests.helpers.rooms import ROOMS, close

# What a server's test left open is closed whenever Python gets to it, also in the middle of these.
pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")

LN3 = math.log(3)
INF = math.inf


def same(a, b):
    """Equal where finite, and −∞ in the same places."""
    a, b = (np.array(x.tolist()) for x in (a, b))
    np.testing.assert_array_equal(np.isneginf(a), np.isneginf(b))
    close(np.where(np.isneginf(a), 0, a), np.where(np.isneginf(b), 0, b))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_log_softmax_by_hand(room, to):
    close(room.log_softmax(to([0.0, LN3])), np.log([1 / 4, 3 / 4]))
    x = to([[0.0, LN3], [0.0, 0.0]])
    close(room.log_softmax(x, axis=0), np.log([[1 / 2, 3 / 4], [1 / 2, 1 / 4]]))
    same(room.log_softmax(to([0.0, -INF, LN3])), np.array([-math.log(4), -INF, math.log(3 / 4)]))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_an_empty_slice_stays_empty(room, to):
    found = room.log_softmax(to([[-INF, -INF], [0.0, 0.0]]))
    same(found, np.array([[-INF, -INF], [-math.log(2)] * 2]))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_small_probabilities_and_large_scores_keep_digits(room, to):
    """Where softmax rounds to 0, and where a peak of 1e15 leaves no room for ln 2 beside it."""
    close(room.log_softmax(to([0.0, -2000.0])), [0, -2000])
    close(room.log_softmax(to([1e15, 1e15, 0.0]))[:2], [-math.log(2)] * 2)
    found = room.log_softmax(to(np.float16([60000, 60000, 0])))
    assert str(found.dtype).endswith("float16")
    close(found[:2], [-math.log(2)] * 2, "float16")
    many = room.log_softmax(to(np.zeros(100_000, np.float16)))  # their sum is beyond float16
    close(many[:1] / 16, [-math.log(100_000) / 16], "float16")


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_its_backward_is_the_slope_and_autograds(axis):
    rng = np.random.default_rng(0)
    x, dout = rng.standard_normal((2, 3, 5, 7)) * 3
    gradient = qn.log_softmax_backward(dout, qn.log_softmax(x, axis), axis)
    matches_differences(gradient, lambda: (qn.log_softmax(x, axis) * dout).sum(), x)
    x_t = torch.tensor(x, requires_grad=True)
    out = qt.log_softmax(x_t, axis)
    close(out.detach(), torch.tensor(x).log_softmax(axis))
    out.backward(torch.tensor(dout))
    close(gradient, x_t.grad)


def test_no_gradient_comes_out_of_an_empty_slice():
    x = np.array([[-INF, -INF, -INF], [1.0, -INF, 2.0]])
    dout = np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 6.0]])
    gradient = qn.log_softmax_backward(dout, qn.log_softmax(x))
    x_t = torch.tensor(x, requires_grad=True)
    qt.log_softmax(x_t).backward(torch.tensor(dout))
    close(gradient, x_t.grad)
    assert not gradient[0].any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes_stay_and_inputs_are_left_alone(dtype):
    x = np.random.default_rng(1).standard_normal((3, 5)).astype(dtype)
    before = x.copy()
    out = qn.log_softmax(x)
    assert out.dtype == dtype == qn.log_softmax_backward(x, out).dtype
    np.testing.assert_array_equal(x, before)
    theirs = qt.log_softmax(torch.tensor(x))
    assert str(theirs.dtype) == f"torch.{dtype}"
    close(out, theirs, dtype)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_refusals(room, to):
    with pytest.raises(ValueError, match="log_softmax: x must be a float array, got int64: conv"):
        room.log_softmax(to(np.ones(3, int)))
    with pytest.raises(ValueError, match=r"log_softmax: axis must be one of the 2 of x = \(3, 4\)"):
        room.log_softmax(to(np.ones((3, 4))), axis=2)


def test_a_gradient_of_another_shape_is_refused():
    words = r"dout must be \(2, 3\), got \(3,\): pass what log_softmax returned"
    with pytest.raises(ValueError, match=words):
        qn.log_softmax_backward(np.ones(3), np.ones((2, 3)))


def test_it_compiles_whole():
    x = torch.randn(2, 5, dtype=torch.float64)
    compiled = torch.compile(qt.log_softmax, backend="aot_eager", fullgraph=True)
    close(compiled(x), qt.log_softmax(x))
