"""The two splits: nothing lost, sizes, and what training never shows."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qkv.corpus import combinations, sentences, split_by_combination, split_random

PAIRS = sentences()
BOTH = pytest.mark.parametrize("split", [split_random, split_by_combination])
SEEDS = st.integers(0, 2**32)


def words(pairs):
    return {word for pair in pairs for word in (*pair.source, *pair.target)}


@BOTH
def test_each_pair_is_on_one_side_in_its_old_order(split):
    training, held = split(PAIRS, 0.1, Random(1))
    place = {pair: i for i, pair in enumerate(PAIRS)}
    sides = [[place[pair] for pair in side] for side in (training, held)]
    assert [sorted(side) for side in sides] == sides
    assert sorted([*sides[0], *sides[1]]) == list(range(len(PAIRS)))


@BOTH
def test_the_generator_alone_decides(split):
    assert split(PAIRS, 0.1, Random(1)) == split(PAIRS, 0.1, Random(1))
    assert split(PAIRS, 0.1, Random(1)) != split(PAIRS, 0.1, Random(2))


@settings(max_examples=10, deadline=None)
@given(st.floats(0, 1, exclude_max=True), SEEDS)
def test_a_random_split_has_the_share(share, seed):
    training, held = split_random(PAIRS[:997], share, Random(seed))
    assert (len(training), len(held)) == (997 - round(share * 997), round(share * 997))


@settings(max_examples=10, deadline=None)
@given(st.floats(0, 0.3), SEEDS)
def test_what_is_held_back_by_combination_is_new(share, seed):
    training, held = split_by_combination(PAIRS, share, Random(seed))
    seen = {combination for pair in training for combination in combinations(pair)}
    assert all(set(combinations(pair)) - seen for pair in held)
    assert words(training) == words(PAIRS)
    for part in range(3):  # nouns, verbs, tenses
        known = {combination[part] for combination in seen}
        assert known == {c[part] for pair in PAIRS for c in combinations(pair)}
    assert share * len(PAIRS) <= len(held) < share * len(PAIRS) + 200


def test_a_random_split_hides_no_combination():
    """Which is why the other split is the harder one."""
    training, held = split_random(PAIRS, 0.1, Random(0))
    seen = {combination for pair in training for combination in combinations(pair)}
    assert sum(not set(combinations(pair)) - seen for pair in held) > 0.98 * len(held)


def test_the_documented_sizes():
    training, held = split_by_combination(PAIRS, 0.1, Random(0))
    assert (len(training), len(held)) == (30_930, 3_437)
    assert len({combination for pair in PAIRS for combination in combinations(pair)}) == 3_325


def test_reasons_are_held_back():
    training, held = split_by_combination(PAIRS, 0.1, Random(0))
    seen = {combination for pair in training for combination in combinations(pair)}
    reasons = [pair for pair in held if pair.features.reason]
    assert len(reasons) == 717
    assert sum(combinations(pair)[-1] not in seen for pair in reasons) == 403


def test_combinations_of_a_pair():
    pair = next(p for p in PAIRS if " ".join(p.source) == "The cat sat on the mat")
    assert combinations(pair) == [("cat", "sit", "past"), ("mat", "sit", "past")]
    tired = "The dog did not cross the street because it was tired"
    pair = next(p for p in PAIRS if " ".join(p.source) == tired)
    events = [("dog", "cross", "past"), ("street", "cross", "past")]
    assert combinations(pair) == [*events, ("dog", "tired", "because")]


@BOTH
@pytest.mark.parametrize("share", [1, -0.1, "half", True])
def test_shares_outside_the_range_are_refused(split, share):
    with pytest.raises(ValueError, match=rf"share must be a number in \[0, 1\), got {share!r}"):
        split(PAIRS, share, Random(0))


def test_what_would_take_a_word_from_training_is_refused():
    with pytest.raises(ValueError, match=r"share = 0\.5 of 2 pairs cannot be held back: after 0,"):
        split_by_combination(PAIRS[:2], 0.5, Random(0))
    with pytest.raises(ValueError, match="of 34367 pairs cannot be held back"):
        split_by_combination(PAIRS, 0.99, Random(0))
