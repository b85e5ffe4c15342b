"""When a beam search stops, how it treats equals, dead ends and what is unfinished."""

import numpy as np
import pytest

import qkv.numpy as qn
from tests.helpers.decoding import ROOMS, Cached, lists, table
from tests.helpers.rooms import close

LOG = np.log


def markov(matrix, to):
    """A step that knows the last token only."""
    with np.errstate(divide="ignore"):
        scores = LOG(np.array(matrix))
    return lambda prefixes: to(scores[np.array(prefixes.tolist())[:, -1]])


def calls(step):
    """The step, and a list that grows with each call."""
    seen = []

    def counted(prefixes):
        seen.append(tuple(prefixes.shape))
        return step(prefixes)

    return counted, seen


# 0 ends. Ending at once costs log 0.3; each further 1 costs log 0.6, so longer means are better.
LONG = [[0.3, 0.6, 0.1], [0.3, 0.6, 0.1], [0.3, 0.6, 0.1]]


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_rules_to_stop(room, to):
    found = {}
    for rule in (True, False, "never"):
        step, seen = calls(markov(LONG, to))
        tokens, _ = lists(
            room.beam_search(
                *(step, to(np.array([[1]]))),
                **{
                    "eos_id": 0,
                    "max_new_tokens": 6,
                    "beam_size": 2,
                    "early_stopping": rule,
                    "length_penalty": 2.0,
                },
            )
        )
        found[rule] = len(tokens[0][0]) - 1, len(seen)
    # with two beams: True stops at the second finished one; the other rules see that longer is
    # better, all the way to what has not ended by max_new_tokens
    assert found == {True: (2, 2), False: (6, 6), "never": (6, 6)}


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_only_never_waits_for_what_may_still_come(room, to):
    """After a long unlikely beginning the rest is free: its mean is best, if one waits for it."""
    rows = {1: [0.6, 0.0, 0.4, 0.0], 2: [0.05, 0.0, 0.0, 0.95], 3: [0.01, 0.0, 0.0, 0.99]}
    step = markov([rows.get(n, rows[3]) for n in range(4)], to)
    options = {"eos_id": 0, "max_new_tokens": 8, "beam_size": 1}
    start = to(np.array([[1]]))
    lengths = {}
    for rule in (True, False, "never"):
        tokens, scores = lists(room.beam_search(step, start, early_stopping=rule, **options))
        lengths[rule] = len(tokens[0][0]) - 1
    assert lengths == {True: 1, False: 1, "never": 8}
    close(scores, [[(LOG(0.4) + LOG(0.95) + 6 * LOG(0.99)) / 8]])
    exact, best = lists(room.exhaustive_search(step, start, eos_id=0, max_new_tokens=5))
    again, score = lists(
        room.beam_search(
            step, start, eos_id=0, max_new_tokens=5, beam_size=4, early_stopping="never"
        )
    )
    assert exact == again
    close(best, score)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_sum_never_waits_in_vain(room, to):
    """Without a penalty sums only fall: all rules but True are exact, and stop as early as can be.

    0 ends with 0.5; what goes on has at most 0.25, so the best is known after one step."""
    step, seen = calls(markov([[0.5, 0.25, 0.25]] * 3, to))
    for rule in (False, "never"):
        seen.clear()
        room.beam_search(
            step,
            to(np.array([[1]])),
            eos_id=0,
            max_new_tokens=9,
            beam_size=1,
            length_penalty=0.0,
            early_stopping=rule,
        )
        assert len(seen) == 1


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_equals_come_in_order(room, to):
    flat = markov(np.full((4, 4), 0.25), to)
    start = to(np.array([[1], [2]]))
    tokens, _ = lists(room.greedy(flat, start, eos_id=3, max_new_tokens=2))
    assert tokens == [[1, 0, 0], [2, 0, 0]]
    tokens, scores = lists(
        room.beam_search(
            flat, start, eos_id=3, max_new_tokens=2, beam_size=3, n_best=3, length_penalty=0.0
        )
    )
    assert tokens[0] == [[1, 0, 0], [1, 0, 1], [1, 0, 2]]
    assert len(set(scores.reshape(-1).tolist())) == 1


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_there_may_be_fewer_sentences_than_asked_for(room, to):
    step = table(3, 3, to, forbidden=[1])  # 0 ends, so there are two sentences of one word
    for search in (step, Cached(step, to)):
        tokens, scores = lists(
            room.beam_search(
                search,
                to(np.array([[2]])),
                eos_id=0,
                max_new_tokens=1,
                beam_size=4,
                n_best=4,
                pad_id=7,
            )
        )
        assert sorted(tokens[0][:2]) == [[2, 0], [2, 2]]
        assert tokens[0][2:] == [[7, 7], [7, 7]]
        assert np.isfinite(scores[0, :2]).all()
        assert np.isneginf(scores[0, 2:]).all()


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_dead_end_is_dropped_by_beams(room, to):
    # from 1 the likelier 2 leads to nothing; 3 ends
    dead = [[1, 0, 0, 0], [0, 0, 0.9, 0.1], [0, 0, 0, 0], [1, 0, 0, 0]]
    step, start = markov(dead, to), to(np.array([[1], [3]]))
    tokens, scores = lists(room.beam_search(step, start, eos_id=0, max_new_tokens=4, beam_size=2))
    assert tokens == [[[1, 3, 0]], [[3, 0, 0]]]
    close(scores, [[LOG(0.1) / 2], [0]])
    with pytest.raises(ValueError, match="greedy: step must leave row 0 a token to go on with"):
        room.greedy(step, start, eos_id=0, max_new_tokens=4)
    lost, scores = lists(room.beam_search(step, to(np.array([[2]])), eos_id=0, max_new_tokens=4))
    assert lost == [[[0]]]
    assert np.isneginf(scores).all()


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_scores_have_the_steps_dtype_but_not_half(room, to):
    start = np.array([[1], [2]], np.int32)
    for dtype, expected in ((np.float16, "float32"), (np.float32, "float32"), (float, "float64")):
        step = table(0, 5, to, dtype=dtype)
        for call in (room.greedy, room.beam_search, room.sample, room.exhaustive_search):
            tokens, scores = call(step, to(start), eos_id=0, max_new_tokens=3)
            assert str(scores.dtype).endswith(expected)
            assert str(tokens.dtype).endswith("int32")


def test_prefixes_stay_as_they_are_and_may_be_read_only():
    prefixes = np.arange(6).reshape(3, 2).T[:, :2]
    prefixes.flags.writeable = False
    before = prefixes.copy()
    for call in (qn.greedy, qn.beam_search, qn.sample, qn.exhaustive_search):
        tokens, _ = call(table(1, 5), prefixes, eos_id=0, max_new_tokens=3)
        assert np.array_equal(tokens.reshape(2, -1)[:, :2], prefixes)
    assert np.array_equal(prefixes, before)
