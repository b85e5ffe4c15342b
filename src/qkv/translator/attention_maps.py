"""Attention maps of one translated sentence: who attends to whom, in tokens or in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.shapes import check_choice
from qkv.text import SPECIAL_TOKENS
from qkv.text.vocabulary import EOS, SOS, WORD_START
from qkv.translator.attention_view import (
    LabelledWeights,
    SentenceView,
    render_page,
    render_view,
)

__all__ = ["KINDS", "AttentionMaps", "attention_page", "group_words"]

# How the model names its attention layers, each with the number of the layer in it.
KINDS = {
    "cross": "decoder.layers.{}.cross_attention",
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
}
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """Attention weights of every head, from one pass over a whole sentence and its translation.

    In a notebook it shows itself: choose the attention, the layer, the head and a word.

    The decoder predicts target[t] from <sos>, target[0], …, target[t - 1]. So row t of its weights
    is where it attended to *predict* target[t], and its input there is column t of its own
    self-attention, which is target[t - 1], and <sos> for t = 0.

    Args:
        text, translation: the two sentences.
        source: (S,) labels of the source, <eos> at its end.
        target: (T,) labels of what the decoder predicts, <eos> at its end.
        decoder_input: (R,) labels of what the decoder reads: <sos>, and target without its last
            token.
        weights: by dotted name, each (H, queries, keys); a row sums to 1.
            encoder.layers.0.self_attention: source to source.
            decoder.layers.0.cross_attention: target to source.
            decoder.layers.0.self_attention: target to decoder_input.
        source_words, target_words: the token indices of each word; None where labels are words.
    """

    text: str
    translation: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    decoder_input: tuple[str, ...]
    weights: Mapping[str, NDArray[Any]]
    source_words: Groups | None = None
    target_words: Groups | None = None

    def queries(self, kind: str) -> tuple[str, ...]:
        """Labels of the rows of "cross", "encoder" or "decoder": the tokens that attend."""
        check_choice("AttentionMaps.queries", "kind", kind, tuple(KINDS))
        return self.source if kind == "encoder" else self.target

    def keys(self, kind: str) -> tuple[str, ...]:
        """Labels of the columns of "cross", "encoder" or "decoder": the tokens attended to."""
        check_choice("AttentionMaps.keys", "kind", kind, tuple(KINDS))
        return self.decoder_input if kind == "decoder" else self.source

    def stack(self, kind: str) -> NDArray[Any]:
        """The weights of all layers of a kind, (L, H, queries, keys).

        `.mean((0, 1))` is their average over layers and heads, `.mean(1)` that over heads.
        """
        check_choice("AttentionMaps.stack", "kind", kind, tuple(KINDS))
        layers = range(sum(_is_of(name, kind) for name in self.weights))
        return np.stack([self.weights[KINDS[kind].format(n)] for n in layers])

    def merge_subwords(self) -> AttentionMaps:
        """The maps between whole words, as spaces part them: "mat." is one, with its full stop.

        A word is attended to as much as its subwords together: columns are summed. It attends as
        its subwords do on average: rows are averaged. So a row still sums to 1.
        """
        if self.source_words is None or self.target_words is None:
            return self
        # Token n of the target is input n + 1 of the decoder, but for the last, which is not read.
        length = len(self.decoder_input)
        shifted = [tuple(n + 1 for n in word if n + 1 < length) for word in self.target_words]
        input_words = ((0,), *(word for word in shifted if word))
        groups = {
            "cross": (self.target_words, self.source_words),
            "encoder": (self.source_words, self.source_words),
            "decoder": (self.target_words, input_words),
        }
        merged = {
            name: _merge(value, *groups[kind])
            for name, value in self.weights.items()
            for kind in KINDS
            if _is_of(name, kind)
        }
        return replace(
            self,
            source=_join(self.source, self.source_words),
            target=_join(self.target, self.target_words),
            decoder_input=_join(self.decoder_input, input_words),
            weights=merged,
            source_words=None,
            target_words=None,
        )

    def __repr__(self) -> str:
        """The sentences, and the word that each word of the translation attends to most."""
        words = self.merge_subwords()
        cross = words.stack("cross")  # (L, H, T, S)
        mean = cross.mean((0, 1))  # (T, S)
        layers, heads = cross.shape[:2]
        lines = [
            f"AttentionMaps: {self.text} → {self.translation}",
            f"cross-attention, mean over layers ({layers}) and heads ({heads}):",
        ]
        for label, row in zip(words.target, mean, strict=True):
            best = int(row.argmax())
            lines.append(f"  {label} ← {words.source[best]} ({row[best]:.2f})")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The interactive view, for a notebook and a page made of one."""
        return render_view([self._view()])

    def _view(self) -> SentenceView:
        words = self.merge_subwords()
        same = (words.source, words.target) == (self.source, self.target)
        return SentenceView(
            self.text, self.translation, words._labelled(), None if same else self._labelled()
        )

    def _labelled(self) -> dict[str, LabelledWeights]:
        return {
            kind: LabelledWeights(self.queries(kind), self.keys(kind), self.stack(kind))
            for kind in KINDS
        }


def attention_page(maps: Sequence[AttentionMaps]) -> str:
    """A whole HTML page that shows the attention maps of some sentences, and loads nothing."""
    return render_page([sentence._view() for sentence in maps])


def group_words(tokens: Sequence[str], subwords: bool) -> Groups:
    """Group the tokens of each word: their indices, word by word.

    Args:
        tokens: as the vocabulary spells them.
        subwords: whether a word begins with ▁, and what follows without one belongs to it; else
            each token is a word.
    """
    special = {SPECIAL_TOKENS[SOS], SPECIAL_TOKENS[EOS]}
    words: list[list[int]] = []
    for n, token in enumerate(tokens):
        continues = subwords and n and not token.startswith(WORD_START) and token not in special
        if continues and tokens[n - 1] not in special:
            words[-1].append(n)
        else:
            words.append([n])
    return tuple(map(tuple, words))


def _is_of(name: str, kind: str) -> bool:
    prefix, suffix = KINDS[kind].split("{}")
    return name.startswith(prefix) and name.endswith(suffix)


def _merge(
    weights: NDArray[Any], rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]
) -> NDArray[Any]:
    """(H, T, S) of tokens to (H, words, words): rows averaged, columns summed."""
    summed = np.stack([weights[:, :, list(word)].sum(2) for word in columns], 2)
    return np.stack([summed[:, list(word)].mean(1) for word in rows], 1)


def _join(tokens: Sequence[str], words: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """The words as a reader spells them; a ▁ that stands alone stays."""
    joined = ("".join(tokens[n] for n in word) for word in words)
    return tuple(word.removeprefix(WORD_START) or word for word in joined)
