"""Batches by length: every pair once, little padding, none too large, new neighbours each time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qkv.text import EOS, SOS, batches, bucket_by_length, bucketed_batches, collate

rng_of = np.random.default_rng


def pairs_of(lengths, rng):
    """Random ids; a target of length T stands between <sos> and <eos>, which makes T + 1."""
    return [
        (rng.integers(4, 99, s), np.array([SOS, *rng.integers(4, 99, t - 1), EOS]))
        for s, t in lengths
    ]


def like_sentences(n, rng):
    """S and T as real captions have them: a long tail, and targets about as long as sources."""
    s = np.clip(rng.lognormal(np.log(16), 0.35, n), 4, 62).astype(int)
    t = np.clip(s * rng.normal(1, 0.15, n), 4, 62).astype(int)
    return np.stack([s, t], 1)


def test_a_batch_by_hand():
    pairs = [
        ([7], [SOS, 8, 9, EOS]),
        ([4, 5, 6], [SOS, EOS]),
    ]
    batch = collate(pairs, [1, 0], pad_id=50)
    np.testing.assert_array_equal(batch.source, [[4, 5, 6], [7, 50, 50]])
    np.testing.assert_array_equal(batch.target_in, [[SOS, 50, 50], [SOS, 8, 9]])
    np.testing.assert_array_equal(batch.target_out, [[EOS, 50, 50], [8, 9, EOS]])
    np.testing.assert_array_equal(batch.index, [1, 0])
    assert (batch.non_padding, batch.padded) == (8, 12)
    assert {x.dtype for x in (batch.source, batch.target_in, batch.target_out)} == {np.dtype("i8")}
    collate(pairs, [0]).source[...] = 0
    assert pairs[0] == ([7], [SOS, 8, 9, EOS])


def test_without_a_generator_the_short_come_first():
    lengths = [(5, 2), (1, 1), (3, 4), (2, 1), (4, 4)]
    plan = bucket_by_length(lengths, 8)
    assert [index.tolist() for index in plan] == [[1, 3], [2, 4], [0]]


@given(
    lengths=st.lists(st.tuples(st.integers(1, 23), st.integers(1, 23)), min_size=1, max_size=60),
    room=st.integers(23, 200),
    seed=st.none() | st.integers(0, 99),
    pool=st.integers(1, 70),
)
@settings(deadline=None)
def test_every_pair_comes_once_and_whole_and_no_batch_is_too_large(lengths, room, seed, pool):
    pairs = pairs_of(lengths, rng_of(3))
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "POOL_SIZE", pool)
        rng = None if seed is None else rng_of(seed)
        found = list(bucketed_batches(pairs, room, rng=rng, pad_id=100))
    for batch in found:
        b, s = batch.source.shape
        t = batch.target_in.shape[1]
        assert batch.target_out.shape == (b, t)
        assert b * max(s, t) <= room
        assert batch.padded == b * (s + t)
        assert batch.non_padding == (batch.source != 100).sum() + (batch.target_out != 100).sum()
        for n, source, read, said in zip(
            batch.index, batch.source, batch.target_in, batch.target_out, strict=True
        ):
            seen.append(n)
            np.testing.assert_array_equal(source[source != 100], pairs[n][0])
            np.testing.assert_array_equal(read[read != 100], pairs[n][1][:-1])
            np.testing.assert_array_equal(said[said != 100], pairs[n][1][1:])
            for row, length in ((source, lengths[n][0]), (read, lengths[n][1])):
                assert (row[length:] == 100).all()  # padding stands at the end alone
    assert sorted(seen) == list(range(len(pairs)))


def test_each_epoch_has_another_order_and_a_seed_brings_it_back():
    pairs = pairs_of(like_sentences(5003, rng_of(1)), rng_of(2))
    rng = rng_of(5)
    first, second = ([b.index for b in bucketed_batches(pairs, 512, rng=rng)] for _ in range(2))
    again = [b.index for b in bucketed_batches(pairs, 512, rng=rng_of(5))]
    assert all(map(np.array_equal, first, again))
    assert len(first) == len(again)
    together = [{frozenset(index.tolist()) for index in plan} for plan in (first, second)]
    assert len(together[0] & together[1]) < len(first) / 5  # other neighbours, too
    found = list(bucketed_batches(pairs, 512, rng=rng_of(5)))
    widths = [max(batch.source.shape[1], batch.target_in.shape[1]) for batch in found]
    assert widths != sorted(widths)  # short and long batches take turns


def test_little_is_wasted_where_padding_to_the_longest_wastes_most():
    lengths = like_sentences(20_011, rng_of(4))
    pairs = pairs_of(lengths, rng_of(5))
    found = list(bucketed_batches(pairs, 2048, rng=rng_of(6)))
    non_padding = sum(batch.non_padding for batch in found)
    assert non_padding == lengths.sum()
    share = non_padding / sum(batch.padded for batch in found)
    fullness = [max(b.source.size, b.target_in.size) / 2048 for b in found]
    assert share > 0.9
    assert non_padding / (2 * lengths.max() * len(pairs)) < 0.35
    assert np.mean(fullness) > 0.95


def test_pools_are_sorted_one_by_one(monkeypatch):
    lengths = like_sentences(2000, rng_of(7))
    monkeypatch.setattr(batches, "POOL_SIZE", 500)
    plan = bucket_by_length(lengths, 256, rng=rng_of(8))
    order = rng_of(8).permutation(2000)
    pool_of = np.empty(2000, int)
    pool_of[order] = np.arange(2000) // 500
    for index in plan:
        assert len(set(pool_of[index])) == 1
        assert (np.diff(lengths[index].max(1)) >= 0).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda p: bucketed_batches([*p, (range(1, 10), [SOS, 7, EOS])], 8),
            r"pair 2 must have at most max_tokens = 8, got 9 \(S = 9, T = 2\): raise it, or leave",
        ),
        (lambda p: bucketed_batches(p, 3), r"pair 1 .* max_tokens = 3, got 4 \(S = 2, T = 4\)"),
        (lambda p: bucketed_batches(p, 0), "max_tokens must be a whole number of at least 1"),
        (lambda p: bucketed_batches(p, 8, pad_id=-1), "pad_id must be a whole number of at lea"),
        (lambda p: bucketed_batches([], 8), "pairs must hold at least one pair, got none"),
        (
            lambda p: bucketed_batches([*p, ([], [SOS, EOS])], 8),
            r"source of pair 2 must be integers \(T,\) with at least a token, got float64 \(0,\)",
        ),
        (
            lambda p: bucketed_batches([([4], [EOS]), *p], 8),
            r"target of pair 0 must be integers \(T,\) with at least <sos> and <eos>, got int64",
        ),
        (lambda p: bucketed_batches([([[4]], [1, 2])], 8), r"source of pair 0 .*int64 \(1, 1\)"),
        (lambda p: collate(p, []), "collate: pairs must hold at least one pair"),
        (
            lambda p: bucket_by_length([3, 4], 8),
            r"lengths must be integers \(N, 2\), got int64 \(2,\)",
        ),
        (lambda p: bucket_by_length(np.ones((2, 2)), 8), r"lengths must be integers"),
    ],
)
def test_what_does_not_fit_is_refused_at_the_call(call, words):
    pairs = [([4], [SOS, EOS]), ([5, 6], [SOS, 7, 8, 9, EOS])]
    with pytest.raises(ValueError, match=words):
        call(pairs)


def test_pairs_may_come_from_zip():
    found = bucketed_batches(zip([[4], [5]], [[SOS, EOS], [SOS, 6, EOS]], strict=True), 8)
    assert [batch.source.tolist() for batch in found] == [[[4], [5]]]
