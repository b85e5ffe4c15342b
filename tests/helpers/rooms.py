"""What the tests of both rooms share: the rooms, random inputs and how to compare arrays."""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.tolerances import TOLERANCE

B, H, T, S, D_K, D_V = 2, 3, 5, 11, 7, 13


def tensor(x):
    """A tensor of the dtype that NumPy would give it: float64 for plain numbers."""
    return torch.as_tensor(np.asarray(x))


ROOMS = [pytest.param(qn, np.asarray, id="numpy"), pytest.param(qt, tensor, id="torch")]


def close(a, b, tolerance="float64"):
    """Whole arrays agree in shape and value, NaN nowhere."""
    a, b = (np.asarray(x, np.float64) for x in (a, b))
    assert a.shape == b.shape
    assert np.isfinite(a).all()
    np.testing.assert_allclose(a, b, rtol=TOLERANCE[tolerance], atol=TOLERANCE[tolerance])


def refused_alike(call, words):
    """Both rooms refuse a call (room, to array) in one message, which holds these words."""
    messages = []
    for room in ROOMS:
        with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the messages are compared below)
            call(*room.values)
        messages.append(str(refusal.value))
    assert words in messages[0]
    assert messages[0] == messages[1]


def qkv(seed=0, lead=(B, H), dtype=np.float64, T=T, S=S):
    """Queries, keys and values in distinct prime sizes."""
    rng = np.random.default_rng(seed)
    shapes = (*lead, T, D_K), (*lead, S, D_K), (*lead, S, D_V)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def some_mask(shape=(B, 1, T, S), seed=1):
    """A random mask in which query 2 of the first sentence may attend to nothing."""
    mask = np.random.default_rng(seed).random(shape) > 0.4
    mask[..., 0] = True
    mask[0, ..., 2, :] = False
    return mask
