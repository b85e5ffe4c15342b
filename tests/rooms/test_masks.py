"""Masks: values by hand, shapes, both rooms, and what they refuse."""

import numpy as np
import pytest

from qkv.config import TransformerConfig
from tests.helpers.rooms import ROOMS

PAD = 0
IDS = np.array([[5, 3, 2, PAD, PAD], [7, PAD, 4, 6, PAD]])


def same(mask, expected):
    """Whole masks are equal, and boolean."""
    mask = np.asarray(mask)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, expected)


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_padding_mask_is_true_for_words_and_has_room_for_heads_and_queries(room, array):
    mask = room.padding_mask(array(IDS), PAD)
    same(mask, [[[[1, 1, 1, 0, 0]]], [[[1, 0, 1, 1, 0]]]])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_causal_mask_by_hand(room, array):
    same(room.causal_mask(3), [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_causal_mask_is_aligned_bottom_right(room, array):
    same(room.causal_mask(2, 5), [[[[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]]])
    same(room.causal_mask(1, 4), np.ones((1, 1, 1, 4)))
    assert tuple(room.causal_mask(0, 3).shape) == (1, 1, 0, 3)


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_last_rows_of_a_longer_causal_mask_are_the_causal_mask_of_the_last_queries(room, array):
    whole = np.asarray(room.causal_mask(7))
    for T in range(1, 8):
        same(room.causal_mask(T, 7), whole[:, :, 7 - T :])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_combined_masks_allow_what_all_of_them_allow(room, array):
    combined = room.combine_masks(room.padding_mask(array(IDS), PAD), None, room.causal_mask(5))
    assert tuple(combined.shape) == (2, 1, 5, 5)
    for sentence in range(2):
        for query in range(5):
            for key in range(5):
                allowed = IDS[sentence, key] != PAD and key <= query
                assert bool(combined[sentence, 0, query, key]) == allowed


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_combining_nothing_is_no_mask(room, array):
    assert room.combine_masks() is None
    assert room.combine_masks(None, None) is None
    same(room.combine_masks(None, room.causal_mask(3)), np.tri(3)[None, None])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_combining_leaves_its_masks_alone(room, array):
    first, second = array(np.ones((3, 3), bool)), array(np.zeros((3, 3), bool))
    room.combine_masks(first, second)
    same(first, np.ones((3, 3)))


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_prefix_mask_by_hand(room, array):
    same(
        room.prefix_mask(array(np.array([3, 0, 4])), 4),
        [
            [[[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]]],
            np.tri(4)[None],
            np.ones((1, 4, 4)),
        ],
    )


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_a_model_reads_a_prefix_both_ways_and_nothing_ahead_of_it(room, array):
    config = TransformerConfig(
        11, d_model=8, n_heads=2, d_ff=12, n_layers=2, dropout=0.0, causal=False
    )
    model = room.DecoderOnly(config).eval()
    ids = np.array([[1, 2, 3, 4, 5, 6, 7]])
    mask = room.prefix_mask(array(np.array([3])), 7)

    def moved(word):
        other = ids.copy()
        other[0, word] = 9
        change = model(array(other), mask=mask) - model(array(ids), mask=mask)
        return [bool(row.any()) for row in change[0]]

    assert moved(1) == [True] * 7
    assert moved(4) == [False] * 4 + [True] * 3


def float_ids(room, array):
    room.padding_mask(array(IDS.astype(np.float32)), PAD)


def one_sentence(room, array):
    room.padding_mask(array(IDS[0]), PAD)


def more_queries(room, array):
    room.causal_mask(5, 3)


def half_a_query(room, array):
    room.causal_mask(2.5)


def a_mask_of_numbers(room, array):
    room.combine_masks(None, room.causal_mask(3), array(np.ones((3, 3))))


def masks_of_two_lengths(room, array):
    room.combine_masks(room.padding_mask(array(IDS), PAD), room.causal_mask(4))


def a_prefix_longer_than_the_text(room, array):
    room.prefix_mask(array(np.array([2, 6])), 5)


def one_prefix(room, array):
    room.prefix_mask(array(np.array(3)), 5)


def half_a_token(room, array):
    room.prefix_mask(array(np.array([2])), 2.5)


REFUSED = {
    float_ids: "padding_mask: ids must be an integer array, got float32: pass token ids",
    one_sentence: "padding_mask: ids must be (B, S), got (5,): "
    "one sentence is a batch of one, ids[None, :]",
    more_queries: "causal_mask: T must be at most S = 3, got 5: "
    "the queries are the last T of the S positions",
    half_a_query: "causal_mask: T and S must be counts, got 2.5 and 2.5: pass len(tokens)",
    a_prefix_longer_than_the_text: "prefix_mask: lengths[1] must lie in [0, T] = [0, 5], got 6",
    one_prefix: "prefix_mask: lengths must be (B,), got ()",
    half_a_token: "prefix_mask: T must be a whole number of at least 0, got 2.5",
    a_mask_of_numbers: "combine_masks: mask 2 must be a bool array, got float64: "
    "True = may attend: pass 0 and -inf as bias=, or as mask == 0, and 0 and 1 as mask == 1",
    masks_of_two_lengths: "combine_masks: masks must broadcast to (B, H, T, S), "
    "got (2, 1, 1, 5) and (1, 1, 4, 4): check T and S, and keep axes of length 1",
}


@pytest.mark.parametrize(("room", "array"), ROOMS)
@pytest.mark.parametrize("call", REFUSED, ids=lambda call: call.__name__)
def test_refused_with_the_same_words_in_both_rooms(call, room, array):
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the whole text is compared below)
        call(room, array)
    assert str(error.value) == REFUSED[call]
