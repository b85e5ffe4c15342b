"""Beam scorer: of the best continuations, which end, which go on, and when a search is over."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from qkv.decoding.hypotheses import BeamHypotheses
from qkv.decoding.length_normalization import length_normalizer

__all__ = ["BeamScorer", "NextBeams"]


class NextBeams(NamedTuple):
    """The beams that go on, K of each sentence that is still searched, one after the other."""

    parents: list[int]  # the row of the last call that each continues
    tokens: list[int]  # the token by which it does
    scores: list[float]  # the sum of its log-probabilities


class BeamScorer:
    """Keeps the hypotheses of B sentences, and chooses the beams that go on, step by step.

    Args:
        B: number of sentences.
        beam_size, eos_id, max_new_tokens, length_penalty, length_formula, early_stopping: as
            `beam_search` takes them.
        drop_finished: leave sentences out of the next call once their search is over, as a step
            that keeps a cache allows.
    """

    def __init__(
        self,
        B: int,
        beam_size: int,
        eos_id: int | None,
        max_new_tokens: int,
        length_penalty: float,
        length_formula: str,
        early_stopping: bool | Literal["never"],
        drop_finished: bool,
    ) -> None:
        self.beam_size, self.eos_id, self.max_new_tokens = beam_size, eos_id, max_new_tokens
        self.penalty = length_penalty, length_formula
        self.early_stopping, self.drop_finished = early_stopping, drop_finished
        self.hypotheses = [BeamHypotheses(beam_size) for _ in range(B)]
        self.searching = set(range(B))
        self.sentences = list(range(B))  # those in the next call, of which K rows each are
        self.written: list[list[int]] = [[]] * (B * beam_size)  # by row, without the prefix
        self.length = 0

    def process(
        self, sums: Sequence[Sequence[float]], places: Sequence[Sequence[int]], K: int, V: int
    ) -> NextBeams:
        """Extend the beams of each sentence by one token, and finish those that end.

        Args:
            sums: of the best continuations of each sentence, falling: (A, C) log-probabilities.
            places: (A, C) beam · V + token of each.
            K: beams of each sentence in the call that the sums are from.
            V: number of tokens.
        Returns:
            The beams that go on; none once every search is over.
        """
        self.length += 1
        normalizer = length_normalizer(self.length, *self.penalty)
        # "never" gives up early: there a beam is promised the length that suits it best.
        longest = self.early_stopping == "never" and self.penalty[0] > 0
        promised = length_normalizer(self.max_new_tokens, *self.penalty) if longest else normalizer
        beams = NextBeams([], [], [])
        sentences: list[int] = []
        written: list[list[int]] = []
        for n, sentence in enumerate(self.sentences):
            unfinished: list[tuple[float, int, int]] = []  # sum, row, token
            finished: list[tuple[float, int, int]] = []
            for rank, (total, place) in enumerate(zip(sums[n], places[n], strict=True)):
                beam, token = divmod(place, V)
                row = n * K + beam
                if token != self.eos_id and self.length < self.max_new_tokens:
                    unfinished.append((total, row, token))
                    continue
                finished.append((-math.inf, row, token))
                if sentence in self.searching and rank < self.beam_size:
                    tokens = [*self.written[row], token]
                    self.hypotheses[sentence].add(total / normalizer, tokens)
            # Where too few go on, impossible ones fill their rows.
            going_on = [*unfinished, *finished][: self.beam_size]
            self._stop(sentence, going_on[0][0] / promised)
            if sentence in self.searching or not self.drop_finished:
                sentences.append(sentence)
                for total, row, token in going_on:
                    beams.parents.append(row)
                    beams.tokens.append(token)
                    beams.scores.append(total)
                    written.append([*self.written[row], token])
        self.sentences, self.written = sentences, written
        return beams

    def _stop(self, sentence: int, attainable: float) -> None:
        """End the search for a sentence that its best unfinished beam cannot improve any more."""
        worst = self.hypotheses[sentence].worst
        if attainable <= worst or (self.early_stopping is True and worst > -math.inf):
            self.searching.discard(sentence)
