"""The explorer of "What attention costs": its counts are those of the package's layers."""

import itertools

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.counting import count_products
from qkv.experiments import stored_result
from qkv.explore.cost import (
    BATCH,
    D_MODEL,
    DEVICES,
    LAYERS,
    N_HEADS,
    START,
    Cost,
    N,
    as_bytes,
    costs,
    seconds,
)
from qkv.explore.framework.frames import Frames


@pytest.mark.parametrize(("n", "n_heads"), [(5, 1), (7, 4), (48, 2)])
def test_flops_are_those_of_the_encoder_layer(n, n_heads):
    layer = qn.EncoderLayer(8, n_heads, 32, dtype=np.float64).eval()
    x = np.random.default_rng(0).normal(size=(3, n, 8))
    assert count_products(layer, x) == sum(Cost(n, 8, n_heads, batch=3).flops.values())


def test_parameters_are_those_of_the_encoder_layer_without_biases_and_norms():
    layer = qn.EncoderLayer(8, 2, 32)
    matrices = sum(p.size for _, p in layer.named_parameters() if p.ndim == 2)
    assert Cost(5, 8).parameters == matrices


def test_scores_and_cache_are_as_large_as_the_package_makes_them():
    q = np.zeros((3, 2, 5, 4), np.float32)
    assert Cost(5, 8, 2, batch=3).score_bytes == qn.scaled_dot_product_attention(q, q, q)[1].nbytes
    layer, cache = qn.MultiHeadAttention(8, 2).eval(), qn.KeyValueCache()
    layer(np.zeros((3, 5, 8), np.float32), cache=cache)
    assert Cost(5, 8, 2, batch=3).cache_bytes == cache.keys.nbytes + cache.values.nbytes


def test_heads_change_the_scores_and_nothing_else():
    one, many = Cost(2048, 512, 1), Cost(2048, 512, 16)
    assert one.flops == many.flops
    assert one.cache_bytes == many.cache_bytes
    assert many.score_bytes == 16 * one.score_bytes


@pytest.mark.parametrize("d_model", D_MODEL)
def test_the_mark_stands_where_the_curves_cross(d_model):
    flops = Cost(6 * d_model, d_model).flops
    assert flops["n² part"] == flops["projections"] + flops["feed-forward"]
    assert costs(**START | {"d_model": d_model})["growth"].mark == 6 * d_model


def test_the_cpu_is_the_one_that_was_measured():
    peak = stored_result("cost_time").figures["peak"]
    assert DEVICES["one CPU core, measured"] == 1e9 * peak


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.34, "2.3 s"),
        (0.0123, "12 ms"),
        (2e-5, "20 µs"),
        (1234, "1,234 s"),
        (7200, "2 h"),
        (10**6, "12 days"),
    ],
)
def test_seconds_have_the_unit_that_fits(value, text):
    assert seconds(value) == text


def test_bytes_have_the_unit_that_fits():
    assert as_bytes(512) == "512 B"
    assert as_bytes(32 * 2**30) == "32 GiB"
    assert as_bytes(2**50) == "1,024 TiB"


def test_functions_are_pure_and_light():
    packed = Frames()
    for n, d, heads, layers, batch in itertools.product(N, D_MODEL, N_HEADS, LAYERS, BATCH):
        point = {"n": n, "d_model": d, "n_heads": heads, "layers": layers, "batch": batch}
        first, second = costs(**point), costs(**point)
        assert first["costs"].rows == second["costs"].rows
        np.testing.assert_array_equal(first["share"].values, second["share"].values)
        packed.add(first)
    assert len(packed.data) < 100_000
