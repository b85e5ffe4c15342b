"""Softmax and attention in both rooms: values by hand, torch's own, empty rows, odd sizes."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import qkv.numpy as qn
import qkv.torch as qt
from qkv.numpy.attention.softmax import IN_CACHE
from tests.helpers.rooms import D_V, ROOMS, B, H, S, T, close, qkv, some_mask

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")

LN3 = math.log(3)


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_softmax_by_hand(room, array):
    close(room.softmax(array([0.0, LN3])), [1 / 4, 3 / 4])
    x = array([[0.0, LN3], [0.0, 0.0]])
    close(room.softmax(x), [[1 / 4, 3 / 4], [1 / 2, 1 / 2]])
    close(room.softmax(x, axis=0), [[1 / 2, 3 / 4], [1 / 2, 1 / 4]])
    close(room.softmax(x + 100), room.softmax(x))


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_softmax_gives_minus_infinity_no_weight_and_an_empty_slice_zeros(room, array):
    x = array([[0.0, -math.inf, LN3], [-math.inf] * 3])
    close(room.softmax(x), [[1 / 4, 0, 3 / 4], [0, 0, 0]])


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("transposed", [False, True])
def test_softmax_of_more_scores_than_the_cache_holds_is_that_of_each_row(axis, transposed):
    """Some rows at a time, the last time fewer, or all at once where rows are not contiguous."""
    x = np.random.default_rng(7).standard_normal((3, 211, 263))
    x = x.T if transposed else x
    assert x.size > IN_CACHE
    exp = np.exp(x)
    close(qn.softmax(x, axis), exp / exp.sum(axis, keepdims=True))


def test_softmax_backward_by_hand():
    close(qn.softmax_backward(np.array([1.0, 0.0]), np.array([1 / 4, 3 / 4])), [3 / 16, -3 / 16])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_attention_by_hand(room, array):
    """Scores (0, 2 ln 3), halved by √4: weights 1/4 and 3/4, so 4 and 8 mix to 7."""
    q = array([[2 * LN3, 0.0, 0.0, 0.0]])
    k = array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    out, weights = room.scaled_dot_product_attention(q, k, array([[4.0], [8.0]]))
    close(weights, [[1 / 4, 3 / 4]])
    close(out, [[7.0]])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_scale_bias_and_mask_by_hand(room, array):
    q, k, v = array([[1.0]]), array([[0.0], [1.0], [9.0]]), array([[4.0], [8.0], [1.0]])
    mask = array([[True, True, False]])
    attend = room.scaled_dot_product_attention
    close(attend(q, k, v, mask=mask, scale=LN3)[1], [[1 / 4, 3 / 4, 0]])
    bias = array([[0.0, LN3 - 1, 5.0]])
    close(attend(q, k, v, mask=mask, bias=bias)[1], [[1 / 4, 3 / 4, 0]])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_additive_attention_by_hand(room, array):
    """Scores ln 3 · (tanh 0, tanh 1) / tanh 1."""
    w_q, w_k, w_s = array([[1.0]]), array([[1.0]]), array([LN3 / math.tanh(1)])
    q, k, v = array([[0.5]]), array([[-0.5], [0.5]]), array([[4.0], [8.0]])
    out, weights = room.additive_attention(q, k, v, w_q, w_k, w_s)
    close(weights, [[1 / 4, 3 / 4]])
    close(out, [[7.0]])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_rows_sum_to_one_and_columns_do_not(room, array):
    _, weights = room.scaled_dot_product_attention(*map(array, qkv()))
    weights = np.asarray(weights)
    close(weights.sum(-1), np.ones((B, H, T)))
    assert np.abs(weights.sum(-2) - 1).max() > 0.1


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(("room", "array"), ROOMS)
@pytest.mark.parametrize("lead", [(), (B,), (B, H), (2, 1, 3)], ids=str)
def test_agrees_with_torchs_own(room, array, lead, need_weights):
    q, k, v = map(torch.from_numpy, qkv(lead=lead))
    mask = torch.from_numpy(np.random.default_rng(3).random((T, S)) > 0.4) | (torch.arange(S) == 1)
    attend = room.scaled_dot_product_attention
    options = {"need_weights": need_weights}
    out, _ = attend(*map(array, (q, k, v)), **options)
    close(out, F.scaled_dot_product_attention(q, k, v))
    out, _ = attend(*map(array, (q, k, v)), mask=array(mask), **options)
    close(out, F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    out, _ = attend(*map(array, (q, q, q)), causal=True, **options)
    close(out, F.scaled_dot_product_attention(q, q, q, is_causal=True))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_causal_flag_is_the_causal_mask(room, array, need_weights):
    q, k, v = map(array, qkv())
    causal, mask = room.causal_mask(T, S), array(some_mask())
    attend = room.scaled_dot_product_attention
    out, _ = attend(q, k, v, causal=True, need_weights=need_weights)
    close(out, attend(q, k, v, mask=causal)[0])
    out, _ = attend(q, k, v, mask=mask, causal=True, need_weights=need_weights)
    close(out, attend(q, k, v, mask=room.combine_masks(mask, causal))[0])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_the_fused_kernel_gives_what_the_formula_gives(room, array):
    """Also where there are more scores than NumPy's softmax takes at a time."""
    q, k, v = map(array, qkv(T=257, S=263))
    mask = array(some_mask((B, 1, 257, 263)))
    bias = array(np.random.default_rng(4).standard_normal((H, 1, 263)))
    for options in ({}, {"causal": True}, {"mask": mask}, {"bias": bias, "mask": mask}):
        expected, weights = room.scaled_dot_product_attention(q, k, v, **options)
        out, nothing = room.scaled_dot_product_attention(q, k, v, **options, need_weights=False)
        close(out, expected)
        assert nothing is None
        assert tuple(weights.shape) == (B, H, 257, 263)


def test_torch_takes_the_fused_kernel_when_no_weights_are_needed(monkeypatch):
    calls = []
    kernel = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **k: calls.append(k) or kernel(*a, **k)
    )
    q, k, v = map(torch.from_numpy, qkv())
    qt.scaled_dot_product_attention(q, k, v)
    assert not calls
    for options in ({}, {"causal": True}, {"mask": torch.ones(S, dtype=torch.bool)}):
        qt.scaled_dot_product_attention(q, k, v, **options, need_weights=False)
    assert len(calls) == 3
    qt.scaled_dot_product_attention(q, q, q, causal=True, need_weights=False)
    assert calls[-1]["is_causal"]  # the kernel that skips the hidden half


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_an_empty_row_is_zeros_and_changes_no_other(room, array, need_weights):
    q, k, v = map(array, qkv())
    mask = some_mask()
    options = {"need_weights": need_weights}
    out, _ = room.scaled_dot_product_attention(q, k, v, mask=array(mask), **options)
    close(out[0, :, 2], np.zeros((H, D_V)))
    mask[0, ..., 2, :] = True
    full, _ = room.scaled_dot_product_attention(q, k, v, mask=array(mask), **options)
    close(np.delete(np.asarray(out[0]), 2, -2), np.delete(np.asarray(full[0]), 2, -2))
    close(out[1], full[1])
    hidden = array(np.full((T, 1), -np.inf))
    out, _ = room.scaled_dot_product_attention(q, k, v, bias=hidden, **options)
    close(out, np.zeros((B, H, T, D_V)))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_no_keys_no_queries_and_one_of_each(room, array, need_weights):
    def shape_of(T, S):
        q, k, v = map(array, qkv(T=T, S=S))
        out, _ = room.scaled_dot_product_attention(q, k, v, need_weights=need_weights)
        return np.asarray(out), np.asarray(v)

    close(shape_of(T, 0)[0], np.zeros((B, H, T, D_V)))
    assert shape_of(0, S)[0].shape == (B, H, 0, D_V)
    out, v = shape_of(T, 1)
    close(out, np.broadcast_to(v, out.shape))
