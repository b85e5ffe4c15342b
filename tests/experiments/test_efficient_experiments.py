"""The experiments of "Attention for long texts": states of recall, bytes of checkpointing."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import qkv.torch as qt
from qkv.experiments.efficient_blocks import numpy_peak, torch_peak
from qkv.experiments.efficient_checkpointing import (
    WAYS,
    LiveBytes,
    kept_bytes,
    peak_bytes,
    run_layers,
    segment_length,
)
from qkv.experiments.efficient_recall import KINDS, Recall, draw, window_bound


def answers(model, keys, values):
    with torch.no_grad():
        return model(keys, values)


@pytest.mark.parametrize("width", [8, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_keeps_decides_which_pairs_its_answers_depend_on(kind, width):
    model, n, kept = Recall(kind, width, 64, seed=0).double(), 8, 64 // (2 * width)
    keys, values = draw(n, 1, torch.Generator().manual_seed(0))
    before = answers(model, keys, values)
    felt = []
    for i in range(n):
        other = values.clone()
        other[0, i] = (other[0, i] + 1) % 16
        felt.append(not torch.allclose(answers(model, keys, other), before, atol=1e-12))
    seen = kept if kind == "window" else n
    assert felt == [False] * (n - seen) + [True] * seen


def test_linear_attention_is_a_sum_that_grows_pair_by_pair():
    model = Recall("linear", 8, 64, seed=0).double()
    keys, values = draw(5, 2, torch.Generator().manual_seed(1))
    asked = model.keys(keys)
    pairs = asked + model.values(values)
    state, ones = torch.zeros(2, 7, 8), torch.zeros(2, 7)
    for i in range(5):
        features = F.elu(model.w_k(pairs[:, i])) + 1
        state = state + features[:, :, None] * model.w_v(pairs[:, i])[:, None]
        ones = ones + features
    q = F.elu(model.w_q(asked)) + 1
    mixed = q @ state / (q @ ones[..., None])
    assert state[0].numel() + ones[0].numel() <= 64
    torch.testing.assert_close(model(keys, values), model.out(mixed))


@pytest.mark.parametrize("kind", ["linear", "random features"])
def test_the_width_of_a_key_costs_features_nothing(kind):
    for width, features in ((8, 7), (4, 12), (2, 21)):
        model = Recall(kind, width, 64, seed=0)
        of_keys = features if kind == "linear" else 8
        assert model.w_k.out_features == model.w_q.out_features == of_keys
        assert features * (model.w_v.out_features + 1) <= 64
        if kind == "random features":
            assert model.directions.shape == (8, features)


def test_pairs_have_different_keys_and_any_values():
    keys, values = draw(16, 200, torch.Generator().manual_seed(2))
    assert keys.shape == values.shape == (200, 16)
    assert all(len(set(row)) == 16 for row in keys.tolist())
    assert set(values.flatten().tolist()) == set(range(16))


def test_a_window_answers_its_pairs_and_guesses_the_rest():
    assert window_bound(8, 64, 4) == window_bound(4, 128, 16) == 1
    assert window_bound(8, 64, 16) == pytest.approx((4 + 12 / 16) / 16)


def test_segments_change_no_gradient():
    layers = [qt.EncoderLayer(8, 2, 16) for _ in range(5)]
    parameters = [p for layer in layers for p in layer.parameters()]
    x = torch.randn(2, 3, 8)
    found = []
    for length in (0, 1, 2):
        loss = run_layers(layers, x, length).square().mean()
        found.append(torch.autograd.grad(loss, parameters))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            torch.testing.assert_close(a, b)


def test_lengths_of_segments():
    assert [segment_length(way, 16) for way in WAYS] == [0, 1, 4]
    assert [segment_length(way, 10) for way in WAYS] == [0, 1, 3]


def test_kept_bytes_count_each_storage_once_and_no_parameter():
    x, w = torch.ones(10, 4), torch.ones(4, 4, requires_grad=True)
    assert kept_bytes(lambda: (x @ w).exp(), [w]) == x.nbytes + 10 * 4 * 4  # exp keeps its result
    assert kept_bytes(lambda: (x @ w) * (x * 2 @ w), [w]) == 4 * x.nbytes


def test_live_bytes_follow_what_is_made_and_freed():
    outside = torch.ones(100)
    with LiveBytes() as live:
        a = torch.zeros(1000)
        part = a.view(10, 100)[2]
        assert live.now == a.nbytes
        del a
        assert live.now == 4000  # the view holds it
        b = outside.view(10, 10)
        assert live.now == 4000
        del part
        assert live.now == 0
    assert live.peak == 4000
    assert b.shape == (10, 10)


def test_the_peak_of_a_step_is_more_than_what_it_keeps():
    x, w = torch.ones(50, 4), torch.ones(4, 4, requires_grad=True)

    def run():
        return (x @ w).exp().sin().sum()

    assert kept_bytes(run, [w]) < peak_bytes(lambda: run().backward())


def test_numpys_peak_is_that_of_the_call_alone_though_python_counts_all_threads():
    mebibyte, others = 2**20, iter([3, 0, 8, 0, 3])  # what other threads hold during each run

    def call():
        return np.ones(mebibyte, np.uint8), np.ones(next(others) * mebibyte, np.uint8)

    assert mebibyte <= numpy_peak(call) < 1.01 * mebibyte


def test_peaks_are_of_a_call_with_its_inputs():
    assert 8000 <= numpy_peak(np.ones, 1000) < 9000
    assert torch_peak(torch.ones, 1000, dtype=torch.float64) == 8000
