"""Who looked at whom while a sentence was translated, in tokens or in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.shapes import check_choice
from qkv.text import SPECIALS
from qkv.text.vocabulary import EOS, SOS, START

__all__ = ["KINDS", "Looks", "words_of"]

# How the model calls its attentions, layer by layer.
KINDS = {
    "cross": "decoder.layers.{}.cross_attention",
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
}


@dataclass(frozen=True, eq=False)
class Looks:
    """The weights of every head, from one pass over a whole sentence and its translation.

    The decoder says target[t] while it reads what comes before: <sos>, target[0], …, target[t - 1].
    So row t of its weights is where it looked to *say* target[t], and its input there is column t
    of its own self-attention, which is target[t - 1], and <sos> for t = 0.

    Args:
        text, translation: the two sentences.
        source: (S,) labels of the source, <eos> at its end.
        target: (T,) labels of what the decoder said, <eos> at its end.
        weights: by dotted name, each (H, rows, columns); a row sums to 1.
            encoder.layers.0.self_attention: source to source.
            decoder.layers.0.cross_attention: target to source.
            decoder.layers.0.self_attention: target to what the decoder read, see `columns`.
        read: (R,) labels of what the decoder read: <sos>, and target without its last token.
        source_words, target_words: the tokens of each word, by place; None where these are words.
    """

    text: str
    translation: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    read: tuple[str, ...]
    weights: Mapping[str, NDArray[Any]]
    source_words: tuple[tuple[int, ...], ...] | None = None
    target_words: tuple[tuple[int, ...], ...] | None = None

    def rows(self, kind: str) -> tuple[str, ...]:
        """Who looks: the labels of the rows of "cross", "encoder" or "decoder"."""
        check_choice("Looks.rows", "kind", kind, tuple(KINDS))
        return self.source if kind == "encoder" else self.target

    def columns(self, kind: str) -> tuple[str, ...]:
        """Who is looked at: the labels of the columns of "cross", "encoder" or "decoder"."""
        check_choice("Looks.columns", "kind", kind, tuple(KINDS))
        return self.read if kind == "decoder" else self.source

    def of(self, kind: str) -> NDArray[Any]:
        """The weights of all layers of a kind, (L, H, rows, columns).

        `.mean((0, 1))` is their average over layers and heads, `.mean(1)` that over heads.
        """
        check_choice("Looks.of", "kind", kind, tuple(KINDS))
        layers = range(sum(self._is_of(name, kind) for name in self.weights))
        return np.stack([self.weights[KINDS[kind].format(n)] for n in layers])

    def words(self) -> Looks:
        """The same for whole words, as spaces part them: "mat." is one, with its full stop.

        A word is looked at as much as its pieces together: columns are summed. It looks where its
        pieces look on average: rows are averaged. So a row still sums to 1.
        """
        if self.source_words is None or self.target_words is None:
            return self
        # What is said at place n is read at n + 1, but for the last token, which is not read.
        read = len(self.read)
        shifted = [tuple(n + 1 for n in word if n + 1 < read) for word in self.target_words]
        read_words = ((0,), *(word for word in shifted if word))
        groups = {
            "cross": (self.target_words, self.source_words),
            "encoder": (self.source_words, self.source_words),
            "decoder": (self.target_words, read_words),
        }
        merged = {
            name: _merge(value, *groups[kind])
            for name, value in self.weights.items()
            for kind in KINDS
            if self._is_of(name, kind)
        }
        return replace(
            self,
            source=_joined(self.source, self.source_words),
            target=_joined(self.target, self.target_words),
            read=_joined(self.read, read_words),
            weights=merged,
            source_words=None,
            target_words=None,
        )

    @staticmethod
    def _is_of(name: str, kind: str) -> bool:
        before, after = KINDS[kind].split("{}")
        return name.startswith(before) and name.endswith(after)


def words_of(tokens: Sequence[str], pieces: bool) -> tuple[tuple[int, ...], ...]:
    """Which tokens make each word, by place.

    Args:
        tokens: as the vocabulary spells them.
        pieces: whether a word begins with ▁, and what follows without one belongs to it; else each
            token is a word.
    """
    whole = {SPECIALS[SOS], SPECIALS[EOS]}
    words: list[list[int]] = []
    for n, token in enumerate(tokens):
        inside = pieces and words and not token.startswith(START) and token not in whole
        if inside and tokens[n - 1] not in whole:
            words[-1].append(n)
        else:
            words.append([n])
    return tuple(map(tuple, words))


def _merge(
    weights: NDArray[Any], rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]
) -> NDArray[Any]:
    """(H, T, S) in tokens to (H, words, words): rows averaged, columns summed."""
    summed = np.stack([weights[:, :, list(word)].sum(2) for word in columns], 2)
    return np.stack([summed[:, list(word)].mean(1) for word in rows], 1)


def _joined(tokens: Sequence[str], words: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """The words as a reader spells them; a ▁ that stands alone stays."""
    joined = ("".join(tokens[n] for n in word) for word in words)
    return tuple(word.removeprefix(START) or word for word in joined)
