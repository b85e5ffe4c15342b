"""Helpers of the exercises on masks: reading an answer, causal attention with planted leaks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import as_array, reject

Array: TypeAlias = np.ndarray[Any, Any]
Attend: TypeAlias = Callable[[Array], Array]
TOLERANCE = 5e-3  # a weight worked out on paper has two decimals
FLOAT_TYPES = {np.float64: 1e-6, np.float32: 1e-3}  # the faintest leak that has to be found


def as_sets(answer: object, order: str) -> list[set[float]]:
    """Two lists of positions, or `WrongAnswer`; `order` says which of them comes first."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    lists = [list(part) for part in parts if isinstance(part, list | tuple | set | np.ndarray)]
    reject(len(parts) != 2 or len(lists) != 2, "Two lists were asked for.", order)
    reject(
        any(isinstance(entry, str | bool | np.bool_) for one in lists for entry in one),
        "These are not positions.",
        "Give the places where the tokens stand, as whole numbers counted from 0.",
    )
    return [set(as_array(one).ravel().tolist()) for one in lists]


def as_row(answer: object) -> Array:
    """One number for each of four keys, or `WrongAnswer`."""
    row = as_array(answer)
    reject(
        row.shape != (4,),
        f"Four weights were asked for; this has shape {row.shape}.",
        "A row has one weight for each key, the blocked ones included.",
    )
    return row


def causal(
    hole: tuple[int, int] | None = None,
    late: bool = False,
    faint: float = 0.0,
    norm: bool = False,
    masked: bool = True,
    sentence: int | None = None,
    pads: int = 0,
    ahead: int = 0,
    feature: int | None = None,
    even: bool = False,
    twice: bool = False,
) -> Attend:
    """Causal self-attention over any number of tokens, or one that leaks later tokens.

    Args:
        hole: a (query, key) pair that ought to be blocked and is not.
        late: weights are set to zero after the softmax.
        faint: how much of the last token is added to every output.
        norm: a LayerNorm stands before the attention.
        masked: False allows every key.
        sentence: the one sentence of the batch in which the hole is; None is all.
        pads: so many first tokens are blocked as keys; a row with no key is NaN.
        ahead: how many keys too many each query is allowed.
        feature: this number of the last token is added to one number of every output, and
            subtracted from the next one.
        even: the model reads |x|.
        twice: all weights are divided by their sum, the allowed ones by theirs once more.
    """

    def attend(x: Array) -> Array:
        T = x.shape[-2]
        allowed = np.tri(T, k=ahead, dtype=bool) | (not masked)  # (T, S)
        allowed = np.tile(allowed & (np.arange(T) >= pads), (len(x), 1, 1))  # (B, T, S)
        if hole and max(hole) < T:
            query, key = hole
            whose = slice(None) if sentence is None else slice(sentence, sentence + 1)
            allowed[whose, query, key] = True
        z = _layer_norm(x) if norm else x
        z = np.abs(z) if even else z
        e = np.exp(z @ z.mT / 5)  # (B, T, S)
        counted = e if late else np.where(allowed, e, 0)
        if twice:  # right, and rounded: the first sum holds the later tokens
            e = e / e.sum(-1, keepdims=True)
            counted = np.where(allowed, e, 0)
        with np.errstate(invalid="ignore"):
            out = np.where(allowed, e, 0) / counted.sum(-1, keepdims=True) @ z
        # As rounding does: a prefix differs from the whole in the last digits, and nothing leaks.
        out *= 1 + T * np.finfo(x.dtype).eps
        leaky: Array = out + faint * x[..., -1:, :]
        if feature is not None:
            moved = x[..., -1:, feature] / 10  # (B, 1): one number up, its neighbour down
            leaky[..., feature] += moved
            leaky[..., feature - 1] -= moved
        return leaky

    return attend


def _layer_norm(x: Array) -> Array:
    """LayerNorm, rounded: what x + 1 and 2x change of it is rounding alone, and that is no find."""
    centred = x - x.mean(-1, keepdims=True)
    normed: Array = (centred / (x.std(-1, keepdims=True) + x.dtype.type(1e-12))).round(4)
    return normed


class Recorder:
    """A reader's leak detector on one input, and what it asks of the models that it is given."""

    def __init__(self, function: Callable[[Attend, Array], object], x: Array) -> None:
        self.function, self.x = function, x
        self.inputs: list[Array] = []

    def __call__(self, attend: Attend) -> bool:
        def recorded(z: Array) -> Array:
            self.inputs.append(np.array(z))
            return attend(z)

        return bool(self.function(recorded, self.x))

    def reads_prefixes(self) -> bool:
        """Whether it gave the model fewer words than there are."""
        return any(z.shape[:2] < self.x.shape[:2] for z in self.inputs)

    def changed_words(self) -> list[Array]:
        """For each changed input of full length, which words differ from x: (B, T)."""
        changed = [(z != self.x).any(-1) for z in self.inputs if z.shape == self.x.shape]
        return [words for words in changed if words.any()]

    def replaces_sentences(self) -> bool:
        """Whether a word was only ever replaced together with all others of its sentence."""
        changed = self.changed_words()
        return bool(changed) and all(
            words.any(-1).tolist() == words.all(-1).tolist() for words in changed
        )

    def changes_pile_up(self) -> bool:
        """Whether the words that differ from x only ever became more, from input to input."""
        changed = [frozenset(map(tuple, np.argwhere(words))) for words in self.changed_words()]
        distinct = [words for i, words in enumerate(changed) if words not in changed[:i]]
        return len(distinct) > 1 and all(a < b for a, b in itertools.pairwise(distinct))
