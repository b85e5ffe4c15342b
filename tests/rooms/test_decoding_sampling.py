"""Sampling: the filters by hand and by their definition, the frequencies of what is drawn."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
from tests.helpers.decoding import ROOMS, Cached, lists, table
from tests.helpers.rooms import close

LOG = np.log


def generator(room, seed=0):
    return np.random.default_rng(seed) if room is qn else torch.Generator().manual_seed(seed)


def kept(scores):
    """Which tokens a filter has left, as lists of ids."""
    return [np.flatnonzero(np.isfinite(row)).tolist() for row in np.array(scores.tolist())]


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_filters_by_hand(room, to):
    scores = to(LOG([[0.1, 0.5, 0.15, 0.25], [0.25, 0.25, 0.25, 0.25]]))
    assert kept(room.top_k_filtering(scores, 1)) == [[1], [0]]
    assert kept(room.top_k_filtering(scores, 2)) == [[1, 3], [0, 1]]
    assert kept(room.top_k_filtering(scores, 9)) == [[0, 1, 2, 3]] * 2
    assert kept(room.top_p_filtering(scores, 0.4)) == [[1], [0, 1]]
    assert kept(room.top_p_filtering(scores, 0.5)) == [[1], [0, 1]]  # reached, not passed
    assert kept(room.top_p_filtering(scores, 0.51)) == [[1, 3], [0, 1, 2]]
    assert kept(room.top_p_filtering(scores, 1e-9)) == [[1], [0]]  # at least one
    assert kept(room.top_p_filtering(scores, 1)) == [[0, 1, 2, 3]] * 2
    assert kept(room.top_p_filtering(scores + 3, 0.4)) == [[1], [0, 1]]  # logits will do
    close(room.top_k_filtering(scores, 2)[0, 1], LOG(0.5))  # what is kept stays as it is


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    shape=st.lists(st.integers(1, 4), max_size=2),
    V=st.integers(1, 9),
    top_k=st.integers(1, 10),
    top_p=st.floats(0.01, 1),
    ties=st.booleans(),
)
def test_the_filters_are_what_they_say(seed, shape, V, top_k, top_p, ties):
    scores = np.random.default_rng(seed).standard_normal((*shape, V))
    scores = np.round(scores) if ties else scores
    both = []
    for param in ROOMS:
        room, to = param.values
        a, b = room.top_k_filtering(to(scores), top_k), room.top_p_filtering(to(scores), top_p)
        both.append([np.array(x.tolist()).reshape(scores.shape) for x in (a, b)])
    assert all(np.array_equal(a, b) for a, b in zip(*both, strict=True))
    by_k, by_p = both[0]
    for row, k_row, p_row in zip(*(x.reshape(-1, V) for x in (scores, by_k, by_p)), strict=True):
        order = sorted(range(V), key=lambda i: (-row[i], i))
        assert set(np.flatnonzero(np.isfinite(k_row))) == set(order[:top_k])
        mass = np.exp(row) / np.exp(row).sum()
        n = np.isfinite(p_row).sum()
        assert set(np.flatnonzero(np.isfinite(p_row))) == set(order[:n])
        assert mass[order[:n]].sum() >= top_p - 1e-9
        assert mass[order[: n - 1]].sum() < top_p + 1e-9
        assert n >= 1


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.1, 0.4, 0.2, 0.3]),
        ({"temperature": 0.5}, np.array([1, 16, 4, 9]) / 30),
        ({"temperature": 1e-30}, [0, 1, 0, 0]),
        ({"top_k": 2}, [0, 4 / 7, 0, 3 / 7]),
        ({"top_p": 0.65}, [0, 4 / 7, 0, 3 / 7]),
        # of the masses 4/7 and 3/7 that top-k leaves, the first alone reaches 0.55
        ({"top_k": 2, "top_p": 0.55}, [0, 1, 0, 0]),
        # sharpened first: 16/30 reaches 0.5, where 0.4 would not
        ({"temperature": 0.5, "top_p": 0.5}, [0, 1, 0, 0]),
    ],
)
def test_tokens_are_drawn_as_often_as_they_should(room, to, options, expected):
    N = 20000
    step = lambda prefixes: to(LOG(np.tile([0.1, 0.4, 0.2, 0.3], (len(prefixes), 1))))  # noqa: E731
    starts = to(np.zeros((N, 1), int))
    rng = generator(room)
    tokens, sums = room.sample(step, starts, eos_id=None, max_new_tokens=1, rng=rng, **options)
    drawn = np.array(tokens.tolist())[:, 1]
    counts = np.bincount(drawn, minlength=4)
    assert not counts[np.array(expected) == 0].any()
    spread = np.sqrt(N * np.array(expected) * (1 - np.array(expected)))
    assert (abs(counts - N * np.array(expected)) <= 5 * spread).all()
    close(sums.tolist(), LOG([0.1, 0.4, 0.2, 0.3])[drawn])  # the step's own, not the sharpened


@pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("temperature", [1e-9, 1e-38, 1e-320])
def test_the_lowest_temperatures_draw_the_likeliest(room, to, dtype, temperature):
    """1e-320 is 0 in float32: it gave empty translations."""
    scores = np.log(np.array([0.1, 0.4, 0.2, 0.3], dtype))
    step = lambda prefixes: to(np.tile(scores, (len(prefixes), 1)))  # noqa: E731
    options = {"eos_id": None, "max_new_tokens": 3, "rng": generator(room)}
    tokens, _ = room.sample(step, to(np.zeros((9, 1), int)), temperature=temperature, **options)
    assert tokens[:, 1:].tolist() == [[1, 1, 1]] * 9


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_seed_gives_the_same_tokens_with_a_cache_and_without(room, to):
    starts = to(np.arange(5)[:, None])
    for seed in range(10):
        step = table(seed, 6, to)
        options = {"eos_id": 0, "max_new_tokens": 8, "top_k": 4, "top_p": 0.9, "pad_id": 9}
        plain, again, cached, other = (
            lists(room.sample(s, starts, rng=generator(room, n), **options))
            for s, n in ((step, seed), (step, seed), (Cached(step, to), seed), (step, seed + 1))
        )
        assert plain[0] == again[0] == cached[0]
        assert np.array_equal(plain[1], cached[1])
        assert plain[0] != other[0]


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_one_token_of_choice_is_greedy(room, to):
    step, starts = table(4, 6, to), to(np.arange(5)[:, None])
    expected = lists(room.greedy(step, starts, eos_id=0, max_new_tokens=6))
    for options in ({"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-6}):
        found = lists(room.sample(step, starts, eos_id=0, max_new_tokens=6, **options))
        assert found[0] == expected[0]
        close(found[1], expected[1])


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_an_impossible_token_is_never_drawn(room, to):
    step = table(5, 4, to, dtype=np.float32, forbidden=[0, 3])
    tokens, sums = lists(
        room.sample(
            step, to(np.ones((500, 1), int)), eos_id=None, max_new_tokens=3, temperature=50.0
        )
    )
    assert {n for row in tokens for n in row} == {1, 2}
    assert np.isfinite(sums).all()


@pytest.mark.parametrize("step_of", [lambda step, to: step, Cached], ids=["plain", "cached"])
def test_with_draws_a_sentence_gets_the_same_in_any_batch_and_in_either_room(step_of):
    uniforms = np.random.default_rng(3).random((4, 6))
    starts = np.array([[1], [2], [3], [1]])
    found = []
    for param in ROOMS:
        room, to = param.values
        step = table(0, 5, to)

        def run(rows, room=room, to=to, step=step):
            own = {"eos_id": 0, "max_new_tokens": 6, "uniforms": to(uniforms[rows])}
            return lists(room.sample(step_of(step, to), to(starts[rows]), **own))[0]

        whole = run([0, 1, 2, 3])
        alone = [run([n])[0] for n in range(4)]
        assert [row[: len(one)] for row, one in zip(whole, alone, strict=True)] == alone
        assert whole[0] != whole[3]  # the same beginning, other numbers
        assert run([2, 0])[1][: len(alone[0])] == alone[0]
        found.append(whole)
    assert found[0] == found[1]


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_draws_by_hand(room, to):
    """Of masses 0.1, 0.4, 0.2, 0.3 each number takes the token in whose share it falls."""
    step = lambda prefixes: to(np.tile(LOG([0.1, 0.4, 0.2, 0.3]), (len(prefixes), 1)))  # noqa: E731
    uniforms = np.array([[0.0, 0.09], [0.11, 0.49], [0.51, 0.69], [0.71, 0.99]])
    tokens, _ = room.sample(
        step, to(np.ones((4, 1), int)), eos_id=None, max_new_tokens=2, uniforms=to(uniforms)
    )
    assert tokens.tolist() == [[1, 0, 0], [1, 1, 1], [1, 2, 2], [1, 3, 3]]
