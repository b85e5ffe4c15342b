"""What the checks of "Masks" share: ways to read an answer, and models with a planted leak."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import as_array, close, refuse

Array: TypeAlias = np.ndarray[Any, Any]
Attend: TypeAlias = Callable[[Array], Array]
TWO_PLACES = 5e-3  # a weight worked out on paper has two decimals


def two_sets(answer: object) -> list[set[float]]:
    """Two lists of positions, or `Wrong`."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    lists = [list(part) for part in parts if isinstance(part, list | tuple | set | np.ndarray)]
    refuse(
        len(parts) != 2 or len(lists) != 2,
        "Two lists were asked for.",
        "First where `je` looks in its own sentence, then where it looks in the source.",
    )
    refuse(
        any(isinstance(entry, str | bool | np.bool_) for one in lists for entry in one),
        "These are not positions.",
        "Give the places where the tokens stand, as whole numbers counted from 0.",
    )
    return [set(as_array(one).ravel().tolist()) for one in lists]


def weights(answer: object) -> Array:
    """One number for each of four keys, or `Wrong`."""
    row = as_array(answer)
    refuse(
        row.shape != (4,),
        f"Four weights were asked for; this has shape {row.shape}.",
        "A row has one weight for each key, those that may not be seen included.",
    )
    return row


def refuse_each(got: Array, *mistakes: tuple[object, str, str]) -> None:
    """Raise `Wrong` at the first (answer, mistake, hint) that the reader has given."""
    for wrong, mistake, hint in mistakes:
        refuse(close(got, wrong, TWO_PLACES), mistake, hint)


def planted(hole: tuple[int, int] | None = None, late: bool = False, faint: float = 0.0) -> Attend:
    """A causal model of any number of tokens, or one with a fault.

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


class Detector:
    """A reader's leak detector on one input, and what it asks of the models that it is given."""

    def __init__(self, function: Callable[[Attend, Array], object], x: Array) -> None:
        self.function, self.x = function, x
        self.asked: list[Array] = []

    def __call__(self, attend: Attend) -> bool:
        def heard(z: Array) -> Array:
            self.asked.append(np.array(z))
            return attend(z)

        return bool(self.function(heard, self.x))

    def changes_pile_up(self) -> bool:
        """Whether the rows that differ from x only ever became more, from input to input."""
        whole = [z for z in self.asked if z.shape == self.x.shape]
        changed = [frozenset(np.flatnonzero((z != self.x).any(axis=1))) for z in whole]
        distinct = [rows for i, rows in enumerate(changed) if rows and rows not in changed[:i]]
        return len(distinct) > 1 and all(a < b for a, b in itertools.pairwise(distinct))
