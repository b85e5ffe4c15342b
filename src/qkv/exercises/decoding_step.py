"""The exercise of the chapter on decoding that builds one step of a beam search."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import WrongAnswer, as_function, exercise, is_close, reject

__all__ = ["one_step"]

Array: TypeAlias = np.ndarray[Any, Any]
Step: TypeAlias = tuple[Array, Array]  # finished, going on: (n, 3) each of row, token, sum
CASES = ((3, 5, 2, 1), (1, 7, 3, 6), (2, 11, 4, 0), (4, 3, 4, 2))  # N, V, k, eos


@exercise("decoding-4")
def one_step(answer: object) -> str:
    """`f(scores, log_probs, k, eos)` gives what ends among the best k, and the best k others."""
    function = as_function(answer)
    rng = np.random.default_rng(6)
    for N, V, k, eos in CASES:
        scores = -2 * rng.random(N)  # (N,)
        logits = 2 * rng.normal(size=(N, V))
        logits[:, eos] += 2
        log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))  # (N, V)
        got = _read(function(scores, log_probs, k, eos))
        given = scores.copy(), log_probs.copy()
        answer(*given, k, eos)  # type: ignore[operator]
        reject(
            not (np.array_equal(given[0], scores) and np.array_equal(given[1], log_probs)),
            "Your function changes its input.",
            "Write the totals into an array of their own.",
        )
        right = _split(scores[:, None] + log_probs, k, eos)
        if not _equal(got, right):
            _name_mistake(got, right, scores, log_probs, k, eos)
    return "right. A beam search is this step, repeated until it may stop."


def _read(got: object) -> Step:
    parts = list(got) if isinstance(got, tuple | list) else []
    reject(
        len(parts) != 2 or not all(isinstance(part, list | tuple) for part in parts),
        "Two lists were asked for.",
        "End with: return finished, going_on.",
    )
    entries = [entry for part in parts for entry in part]
    reject(
        not all(isinstance(entry, tuple | list) and len(entry) == 3 for entry in entries),
        "An entry is no triple.",
        "Each entry is (row, token, sum).",
    )
    reject(
        not all(isinstance(n, Integral) for entry in entries for n in entry[:2])
        or not all(isinstance(entry[2], Real) for entry in entries),
        "A row or a token is no whole number.",
        "Both are used as indices. Which division gives whole numbers?",
    )
    finished, going_on = (np.array(part, float).reshape(-1, 3) for part in parts)
    return finished, going_on


def _ranked(totals: Array) -> Array:
    """All continuations, best first: (N · V, 3)."""
    places = np.argsort(-totals, axis=None, kind="stable")
    return np.column_stack([*divmod(places, totals.shape[1]), totals.ravel()[places]])


def _split(totals: Array, k: int, eos: int) -> Step:
    ranked = _ranked(totals)
    ends = ranked[:, 1] == eos
    return ranked[:k][ends[:k]], ranked[~ends][:k]


def _equal(got: Step, right: Step) -> bool:
    return all(is_close(a, b) for a, b in zip(got, right, strict=True))


def _name_mistake(
    got: Step, right: Step, scores: Array, log_probs: Array, k: int, eos: int
) -> None:
    finished, going_on = got
    reject(
        _equal(got, _split(log_probs, k, eos)),
        "The sums so far are missing.",
        "A continuation is as likely as its beginning times its new word. Which sum is that?",
    )
    reject(
        _equal(got, _split(scores[:, None] * log_probs, k, eos)),
        "The logarithms were multiplied.",
        "Probabilities are multiplied. What happens to their logarithms?",
    )
    reject(
        _equal((finished[::-1], going_on[::-1]), right),
        "The right continuations, in the wrong order.",
        "Best first was asked for.",
    )
    swapped = [1, 0, 2]
    reject(
        _equal((finished[:, swapped], going_on[:, swapped]), right),
        "Rows and tokens are exchanged.",
        "Which of the two says whose continuation it is?",
    )
    reject(
        _equal((finished[:, 2:], going_on[:, 2:]), (right[0][:, 2:], right[1][:, 2:])),
        "The sums are right; a row or a token is not.",
        "Place n of the flattened table stands in a row of V entries: divide by V.",
    )
    _name_wrong_choice(got, right, scores[:, None] + log_probs, k, eos)


def _name_wrong_choice(got: Step, right: Step, totals: Array, k: int, eos: int) -> None:
    finished, going_on = got
    reject(
        bool((going_on[:, 1] == eos).any()),
        "A hypothesis goes on after <eos>.",
        "What becomes of one that ended, and who takes its place?",
    )
    reject(
        is_close(going_on, right[1][: len(going_on)]) and len(going_on) < k,
        f"With k = {k} only {len(going_on)} go on.",
        "The place of one that ended is given to the next best.",
    )
    reject(
        is_close(going_on, right[1]) and len(finished) > len(right[0]),
        "Too many are finished.",
        "Those that end count only among the best k of all continuations.",
    )
    reject(
        is_close(going_on, right[1]) and len(finished) < len(right[0]),
        "Too few are finished.",
        "One that ends among the best k is kept, whatever goes on beside it.",
    )
    worst = _split(-totals, k, eos)[1]
    reject(
        is_close(np.sort(going_on[:, 2]), np.sort(-worst[:, 2])),
        "These are the least likely continuations.",
        "In which direction does np.argsort sort?",
    )
    raise WrongAnswer(
        "Some continuations are not among the best.",
        "Write down the table of all N · V sums. Two of the best may continue the same row.",
    )
