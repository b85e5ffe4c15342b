"""The explorer of "Multi-head attention": every grid point, and the claims made of it."""

import itertools

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.explore.framework.frames import Frames
from qkv.explore.multi_head import D_K, D_MODEL, FOLLOW, N_HEADS, RELATIONS, TOKENS, cost, heads

GRID = list(itertools.product(D_MODEL, N_HEADS, D_K))


@pytest.mark.parametrize(("n_heads", "d_k"), list(itertools.product(N_HEADS, D_K)))
def test_each_row_of_each_head_is_a_distribution_and_most_like_its_key(n_heads, d_k):
    maps = np.asarray(heads(d_model=32, n_heads=n_heads, d_k=d_k)["maps"].values)
    assert maps.shape == (n_heads, len(TOKENS), len(TOKENS))
    np.testing.assert_allclose(maps.sum(axis=-1), 1)
    for head, wanted in zip(maps, RELATIONS.values(), strict=False):
        # Equal keys can tie with the one looked for; none beats it.
        np.testing.assert_allclose(head[range(6), wanted], head.max(axis=1))


def test_wide_heads_find_their_word_and_narrow_heads_less():
    def mean_found(d_k):
        rows = heads(d_model=32, n_heads=8, d_k=d_k)["found"].rows
        return np.mean([float(row[2]) for row in rows])

    found = [mean_found(d_k) for d_k in D_K]
    assert found == sorted(found)
    assert mean_found(64) > 0.99
    assert mean_found(2) < 0.5


@pytest.mark.parametrize("d_model", D_MODEL)
@pytest.mark.parametrize("n_heads", N_HEADS)
def test_the_cost_does_not_depend_on_heads_while_d_k_follows(d_model, n_heads):
    followed = cost(d_model, n_heads, FOLLOW[d_model, n_heads])
    full = cost(d_model, 1, d_model)
    assert followed["parameters"] == full["parameters"]
    assert followed["FLOPs"] == full["FLOPs"]
    assert followed["weights"] == n_heads * full["weights"]


def test_parameters_are_those_of_the_layer():
    layer = qn.MultiHeadAttention(32, 4, 16, bias=False)
    assert cost(32, 4, 16)["parameters"] == sum(p.size for _, p in layer.named_parameters())


def test_functions_are_pure_and_light():
    packed = Frames()
    for d_model, n_heads, d_k in GRID:
        first = heads(d_model=d_model, n_heads=n_heads, d_k=d_k)
        second = heads(d_model=d_model, n_heads=n_heads, d_k=d_k)
        np.testing.assert_array_equal(first["maps"].values, second["maps"].values)
        assert first["cost"].rows == second["cost"].rows
        packed.add(first)
    assert len(packed.data) < 100_000
