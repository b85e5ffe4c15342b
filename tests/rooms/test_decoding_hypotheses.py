"""Beam hypotheses and the beam scorer, by hand: plain lists, no arrays."""

import math

from qkv.decoding import BeamHypotheses, BeamScorer, best_sentences


def hypotheses(*entries, size=2):
    found = BeamHypotheses(size)
    for score, tokens in entries:
        found.add(score, tokens)
    return found


def test_the_best_are_kept_and_of_equals_the_older():
    kept = hypotheses((-3.0, [1]), (-2.0, [2]), (-3.0, [3]), (-2.0, [4]))
    assert kept.best == [(-2.0, [2]), (-2.0, [4])]
    assert kept.worst == -2.0
    assert hypotheses((-3.0, [1]), (-math.inf, [2])).best == [(-3.0, [1])]
    assert hypotheses((-3.0, [1])).worst == -math.inf


def test_short_sentences_and_missing_ones_are_filled_up():
    sources = [hypotheses((-1.0, [5, 1]), (-2.0, [1])), hypotheses((-3.0, [1])), hypotheses()]
    tokens, scores = best_sentences(sources, 2, [[7], [8], [9]], 0)
    assert tokens == [
        [[7, 5, 1], [7, 1, 0]],
        [[8, 1, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0]],
    ]
    assert scores == [[-1.0, -2.0], [-3.0, -math.inf], [-math.inf, -math.inf]]


def test_the_scorer_parts_what_ends_from_what_goes_on():
    """Two beams, V = 4, 1 ends: the second of four continuations ends, two go on."""
    scorer = BeamScorer(1, 2, 1, 9, 1.0, "power", False, drop_finished=True)
    beams = scorer.process([[-0.5, -0.75, -1.0, -2.0]], [[2, 1, 3, 0]], 1, 4)
    assert beams == ([0, 0], [2, 3], [-0.5, -1.0])
    assert scorer.hypotheses[0].best == [(-0.75, [1])]
    beams = scorer.process([[-0.625, -1.0, -1.5, -4.0]], [[1, 5, 2, 6]], 2, 4)
    assert scorer.hypotheses[0].best == [(-0.3125, [2, 1]), (-0.5, [3, 1])]
    assert scorer.searching == set()  # -1.5 / 2 does not beat -0.5
    assert beams == ([], [], [])
