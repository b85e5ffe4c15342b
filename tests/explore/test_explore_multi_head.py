"""The explorer of "Multi-head attention": every grid point, and the claims made of it."""

import itertools

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.explore.framework.frames import Frames
from qkv.explore.multi_head import (
    D_K,
    D_MODEL,
    FOLLOW,
    N_HEADS,
    RELATIONS,
    SIZE,
    TOKENS,
    WORDS,
    cost,
    heads,
    wanted,
)

GRID = list(itertools.product(N_HEADS, D_K, WORDS, SIZE))


def mean_found(d_k, words=6, size=1):
    rows = heads(n_heads=8, d_k=d_k, words=words, size=size)["found"].rows
    return np.mean([float(row[2]) for row in rows])


@pytest.mark.parametrize(("n_heads", "d_k", "words", "size"), GRID)
def test_each_row_of_each_head_is_a_distribution_and_most_like_its_key(n_heads, d_k, words, size):
    panels = heads(n_heads=n_heads, d_k=d_k, words=words, size=size)
    maps = np.asarray(panels["maps"].values)
    assert maps.shape == (n_heads, words, words)
    np.testing.assert_allclose(maps.sum(axis=-1), 1)
    for head, weights in enumerate(maps):
        # Equal keys can tie with the one looked for; none beats it.
        right = weights[range(words), wanted(head, words)]
        np.testing.assert_allclose(right, weights.max(axis=1))
    assert panels["score"].endswith(f"{size**2 * d_k**0.5:.1f}")


def test_a_head_looks_for_a_word_of_the_sentence():
    assert wanted(0, 6) == [0, 0, 1, 2, 3, 4]
    for head, words in itertools.product(range(len(RELATIONS)), WORDS):
        assert set(wanted(head, words)) <= set(range(words))
    assert max(WORDS) == len(TOKENS)


def test_wide_heads_find_their_word_and_narrow_heads_less():
    found = [mean_found(d_k) for d_k in D_K]
    assert found == sorted(found)
    assert mean_found(32) > 0.95
    assert mean_found(2) < 0.5


@pytest.mark.parametrize("d_k", D_K)
def test_more_words_lower_the_right_weight_and_larger_entries_raise_it(d_k):
    by_words = [mean_found(d_k, words) for words in WORDS]
    assert by_words == sorted(by_words, reverse=True)
    assert mean_found(d_k, size=1.4) > mean_found(d_k)


@pytest.mark.parametrize(("n_heads", "words"), list(itertools.product(N_HEADS, WORDS)))
def test_the_cost_does_not_depend_on_heads_while_d_k_follows(n_heads, words):
    followed = cost(D_MODEL, n_heads, FOLLOW[n_heads], words)
    full = cost(D_MODEL, 1, D_MODEL, words)
    assert followed["parameters"] == full["parameters"]
    assert followed["FLOPs"] == full["FLOPs"]
    assert followed["weights"] == n_heads * full["weights"]


def test_parameters_are_those_of_the_layer():
    layer = qn.MultiHeadAttention(32, 4, 16, bias=False)
    assert cost(32, 4, 16, 6)["parameters"] == sum(p.size for _, p in layer.named_parameters())


def test_functions_are_pure_and_light():
    packed = Frames()
    for n_heads, d_k, words, size in GRID:
        point = {"n_heads": n_heads, "d_k": d_k, "words": words, "size": size}
        first, second = heads(**point), heads(**point)
        np.testing.assert_array_equal(first["maps"].values, second["maps"].values)
        assert first["cost"].rows == second["cost"].rows
        packed.add(first)
    assert len(packed.data) + len(str(packed.layout())) < 140_000
