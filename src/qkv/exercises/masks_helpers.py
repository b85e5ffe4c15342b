"""Helpers of the exercises on masks: reading an answer, causal attention with planted leaks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import as_array, is_close, reject

Array: TypeAlias = np.ndarray[Any, Any]
Attend: TypeAlias = Callable[[Array], Array]
TOLERANCE = 5e-3  # a weight worked out on paper has two decimals


def as_sets(answer: object) -> list[set[float]]:
    """Two lists of positions, or `WrongAnswer`."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    lists = [list(part) for part in parts if isinstance(part, list | tuple | set | np.ndarray)]
    reject(
        len(parts) != 2 or len(lists) != 2,
        "Two lists were asked for.",
        "First where `je` looks in its own sentence, then where it looks in the source.",
    )
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
        "A row has one weight for each key, those that may not be seen included.",
    )
    return row


def reject_each(got: Array, *mistakes: tuple[object, str, str]) -> None:
    """Raise `WrongAnswer` at the first (answer, mistake, hint) that the reader has given."""
    for wrong, mistake, hint in mistakes:
        reject(is_close(got, wrong, TOLERANCE), mistake, hint)


def causal(hole: tuple[int, int] | None = None, late: bool = False, faint: float = 0.0) -> Attend:
    """Causal self-attention over any number of tokens, or one that leaks later tokens.

    Args:
        hole: a (query, key) pair that ought to be forbidden and is not.
        late: weights are set to zero after the softmax.
        faint: how much of the last token reaches every output by the back door.
    """

    def attend(x: Array) -> Array:
        allowed = np.tri(len(x), dtype=bool)  # (T, S)
        if hole and max(hole) < len(x):
            allowed[hole] = True
        e = np.exp(x @ x.T / 5)  # (T, S)
        counted = e if late else np.where(allowed, e, 0.0)
        out = np.where(allowed, e, 0.0) / counted.sum(-1, keepdims=True) @ x
        leaky: Array = out + faint * x[-1]
        return leaky

    return attend


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

    def changes_pile_up(self) -> bool:
        """Whether the rows that differ from x only ever became more, from input to input."""
        full_length = [z for z in self.inputs if z.shape == self.x.shape]
        changed = [frozenset(np.flatnonzero((z != self.x).any(axis=1))) for z in full_length]
        distinct = [rows for i, rows in enumerate(changed) if rows and rows not in changed[:i]]
        return len(distinct) > 1 and all(a < b for a, b in itertools.pairwise(distinct))
