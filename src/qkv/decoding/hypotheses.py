"""Beam hypotheses: the finished sentences of a search, the best few of each source."""

import math
from bisect import insort
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["BeamHypotheses", "Hypothesis", "best_sentences"]


class Hypothesis(NamedTuple):
    """A finished sentence: its normalized score, and the tokens after its prefix."""

    score: float
    tokens: list[int]


class BeamHypotheses:
    """The best finished sentences of one source, in falling order; of equals, the older first.

    Args:
        size: how many to keep.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.best: list[Hypothesis] = []

    def add(self, score: float, tokens: list[int]) -> None:
        """Let a finished sentence compete; an impossible one, of score −∞, never enters."""
        if score > self.worst:
            insort(self.best, Hypothesis(score, tokens), key=lambda hypothesis: -hypothesis.score)
            del self.best[self.size :]

    @property
    def worst(self) -> float:
        """The score that a new one has to beat: −∞ while a place is free."""
        return self.best[-1].score if len(self.best) == self.size else -math.inf


def best_sentences(
    hypotheses: Sequence[BeamHypotheses], count: int, prefixes: list[list[int]], pad_id: int
) -> tuple[list[list[list[int]]], list[list[float]]]:
    """The best of each source, padded to the longest: what a search returns, as lists.

    Args:
        hypotheses: of each of B sources.
        count: how many to take of each.
        prefixes: B lists of t tokens.
        pad_id: fills what is short, and stands alone where a source has fewer hypotheses.
    Returns:
        (B, count, T) tokens and (B, count) scores, −∞ where there is no hypothesis.
    """
    tokens = [
        [prefix + hypothesis.tokens for hypothesis in source.best[:count]]
        for prefix, source in zip(prefixes, hypotheses, strict=True)
    ]
    T = max(len(row) for row in [*prefixes[:1], *(row for rows in tokens for row in rows)])
    scores = [[hypothesis.score for hypothesis in source.best[:count]] for source in hypotheses]
    for rows, values in zip(tokens, scores, strict=True):
        missing = count - len(rows)
        rows[:] = [row + [pad_id] * (T - len(row)) for row in rows] + [[pad_id] * T] * missing
        values += [-math.inf] * missing
    return tokens, scores
