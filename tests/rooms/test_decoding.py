"""Greedy, beam and exhaustive search: by hand, against one another, with a cache and without."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.decoding import ROOMS, Cached, lists, table
from tests.helpers.rooms import close

LOG = np.log
PENALTIES = [("power", 0.0), ("power", 1.0), ("power", -0.5), ("gnmt", 0.6), ("gnmt", 0.0)]


def garden_path(to):
    """0 starts, 1 ends. The likelier first word, 2, leads nowhere; after 3 the end is near sure."""
    rows = {
        (0,): [0.0, 0.0, 0.6, 0.4],
        (0, 2): [0.0, 0.3, 0.4, 0.3],
        (0, 3): [0.0, 0.9, 0.05, 0.05],
    }

    def step(prefixes):
        with np.errstate(divide="ignore"):
            found = [rows.get(tuple(p), [0.0, 0.5, 0.25, 0.25]) for p in prefixes.tolist()]
            return to(LOG(np.array(found)))

    return step


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_garden_path_by_hand(room, to):
    step, start = garden_path(to), to(np.array([[0]]))
    options = {"eos_id": 1, "max_new_tokens": 4}
    tokens, scores = lists(room.greedy(step, start, **options))
    assert tokens == [[0, 2, 2, 1]]
    close(scores, [LOG(0.6 * 0.4 * 0.5)])
    tokens, scores = lists(
        room.beam_search(step, start, beam_size=2, length_penalty=0.0, **options)
    )
    assert tokens == [[[0, 3, 1]]]
    close(scores, [[LOG(0.4 * 0.9)]])
    # two words and the end: the sum is divided by 2, since the end counts and the start does not
    tokens, scores = lists(room.beam_search(step, start, beam_size=2, **options))
    assert tokens == [[[0, 3, 1]]]
    close(scores, [[LOG(0.4 * 0.9) / 2]])
    tokens, scores = lists(
        room.exhaustive_search(step, start, length_penalty=0.0, n_best=2, **options)
    )
    assert tokens == [[[0, 3, 1], [0, 2, 1]]]
    close(scores, LOG([[0.36, 0.18]]))


@pytest.mark.parametrize("room", [qn, qt], ids=["numpy", "torch"])
def test_length_normalization_by_hand(room):
    assert room.length_normalizer(9, 0.5, "power") == 3
    assert room.length_normalizer(7, 2.0, "gnmt") == 4
    assert room.length_normalizer(1, 0.6, "gnmt") == 1
    assert room.length_normalizer(5, length_penalty=0) == 1
    assert math.isclose(room.length_normalizer(4, length_penalty=-0.5), 0.5)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    V=st.integers(2, 4),
    max_new_tokens=st.integers(1, 4),
    B=st.integers(1, 3),
    n_best=st.integers(1, 4),
    penalty=st.sampled_from(PENALTIES),
    cached=st.booleans(),
    eos=st.booleans(),
)
def test_enough_beams_find_what_exhaustive_search_finds(
    seed, V, max_new_tokens, B, n_best, penalty, cached, eos
):
    formula, alpha = penalty
    options = {
        "eos_id": V - 1 if eos else None,
        "max_new_tokens": max_new_tokens,
        "pad_id": 7,
        "n_best": n_best,
    }
    options |= {"length_formula": formula, "length_penalty": alpha}
    starts = np.arange(B)[:, None] % V
    results = []
    for param in ROOMS:
        room, to = param.values
        step = table(seed, V, to)
        results.append(lists(room.exhaustive_search(step, to(starts), **options)))
        search = Cached(step, to) if cached else step
        found = room.beam_search(
            search,
            to(starts),
            beam_size=max(V**max_new_tokens, n_best),
            early_stopping="never",
            **options,
        )
        results.append(lists(found))
    tokens, scores = results[0]
    there = np.isfinite(scores)
    assert (np.diff(np.where(there, scores, -1e9)) <= 0).all()
    for other, their_scores in results[1:]:
        assert other == tokens
        assert np.array_equal(np.isfinite(their_scores), there)
        close(np.where(there, their_scores, 0), np.where(there, scores, 0))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 6), st.sampled_from(PENALTIES))
def test_one_beam_is_greedy(seed, V, max_new_tokens, penalty):
    formula, alpha = penalty
    starts = np.arange(3)[:, None] % V
    for param in ROOMS:
        room, to = param.values
        step = table(seed, V, to)
        tokens, sums = lists(room.greedy(step, to(starts), eos_id=0, max_new_tokens=max_new_tokens))
        for rule in (True, False, "never") if alpha == 0 else (True,):
            found, scores = lists(
                room.beam_search(
                    *(step, to(starts)),
                    **{
                        "eos_id": 0,
                        "max_new_tokens": max_new_tokens,
                        "beam_size": 1,
                        "early_stopping": rule,
                    },
                    **{"length_formula": formula, "length_penalty": alpha},
                )
            )
            assert [best for (best,) in found] == tokens
            lengths = [(row[1:].index(0) + 1) if 0 in row[1:] else max_new_tokens for row in tokens]
            normalizers = [room.length_normalizer(n, alpha, formula) for n in lengths]
            close(scores[:, 0], sums / normalizers)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    V=st.integers(2, 6),
    beam_size=st.integers(1, 4),
    rule=st.sampled_from([True, False, "never"]),
    penalty=st.sampled_from(PENALTIES),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_rooms_caches_and_batches_change_nothing(seed, V, beam_size, rule, penalty, dtype):
    formula, alpha = penalty
    options = {"eos_id": 0, "max_new_tokens": 6, "beam_size": beam_size, "early_stopping": rule}
    options |= {
        "length_formula": formula,
        "length_penalty": alpha,
        "n_best": beam_size,
        "pad_id": 9,
    }
    starts = np.array([[1], [0], [1]])[:V]
    results, counts = [], []
    for param in ROOMS:
        room, to = param.values
        step = table(seed, V, to, dtype=dtype)
        cached = Cached(step, to)
        results += [lists(room.beam_search(s, to(starts), **options)) for s in (step, cached)]
        counts.append(cached.rows)
        alone = [lists(room.beam_search(step, to(s[None]), **options)) for s in starts]
        for n, (tokens, scores) in enumerate(alone):
            width = len(tokens[0][0])
            assert [row[:width] for row in results[-1][0][n]] == tokens[0]
            assert np.array_equal(results[-1][1][n], scores[0])
    for tokens, scores in results[1:]:
        assert tokens == results[0][0]
        assert np.array_equal(scores, results[0][1])
    assert counts[0] == counts[1]
    assert counts[0][0] == len(starts)  # each sentence is seen once, then as many as go on
    assert max(counts[0]) <= beam_size * len(starts)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_greedy_and_sampling_are_the_same_with_a_cache(room, to):
    starts = to(np.arange(5)[:, None])
    for seed in range(10):
        step = table(seed, 6, to)
        cached = Cached(step, to)
        options = {"eos_id": 0, "max_new_tokens": 8, "pad_id": 9}
        plain = room.greedy(step, starts, **options)
        for a, b in zip(plain, room.greedy(cached, starts, **options), strict=True):
            assert a.tolist() == b.tolist()
        assert cached.rows == sorted(cached.rows, reverse=True)  # ended ones are seen no more
        assert plain[0].shape[1] <= 9


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_what_has_ended_is_filled_up(room, to):
    rows = {0: [0.1, 0.2, 0.7], 1: [0.1, 0.7, 0.2], 2: [0.7, 0.2, 0.1]}
    step = lambda prefixes: to(LOG(np.array([rows[p[-1] % 3] for p in prefixes.tolist()])))  # noqa: E731
    starts = to(np.array([[0], [2], [1]]))
    tokens, sums = lists(room.greedy(step, starts, eos_id=0, max_new_tokens=3, pad_id=5))
    assert tokens == [[0, 2, 0, 5], [2, 0, 5, 5], [1, 1, 1, 1]]
    close(sums, LOG([0.7**2, 0.7, 0.7**3]))
    assert lists(room.greedy(step, starts[:1], eos_id=0, max_new_tokens=9))[0] == [[0, 2, 0]]
    assert lists(room.greedy(step, starts[:1], eos_id=None, max_new_tokens=4))[0] == [
        [0, 2, 0, 2, 0]
    ]
