"""The exercise of the chapter on decoding that builds one step of a beam search."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import WrongAnswer, as_function, exercise, is_close, reject

__all__ = ["one_step"]

Array: TypeAlias = np.ndarray[Any, Any]
Step: TypeAlias = tuple[Array, Array, Array]
CASES = ((3, 5, 2), (1, 7, 3), (2, 11, 4), (4, 3, 4))  # K, V, k


def _best(totals: Array, k: int, V: int) -> Step:
    places = np.argsort(-totals, axis=None, kind="stable")[:k]
    return places // V, places % V, totals.ravel()[places]


@exercise("decoding-4")
def one_step(answer: object) -> str:
    """`f(scores, log_probs, k)` gives rows, tokens and sums of the best k continuations."""
    function = as_function(answer)
    rng = np.random.default_rng(12)
    for K, V, k in CASES:
        scores = -4 * rng.random(K)  # (K,)
        logits = 2 * rng.normal(size=(K, V))
        log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))  # (K, V)
        got = function(scores, log_probs, k)
        reject(
            not isinstance(got, tuple | list) or len(got) != 3,
            "Three arrays were asked for.",
            "End with: return rows, tokens, sums.",
        )
        rows, tokens, sums = (np.asarray(part) for part in got)
        reject(
            rows.shape != (k,) or tokens.shape != (k,) or sums.shape != (k,),
            f"With k = {k} the shapes are {rows.shape}, {tokens.shape}, {sums.shape}.",
            "k continuations are kept in all, not k of each hypothesis.",
        )
        right = _best(scores[:, None] + log_probs, k, V)
        if not _equal((rows, tokens, sums), right):
            _name_mistake((rows, tokens, sums), right, scores, log_probs, k)
    return "right. A beam search is this step, and the rule for what has ended."


def _equal(got: Step, right: Step) -> bool:
    return all(is_close(a, b) for a, b in zip(got, right, strict=True))


def _name_mistake(got: Step, right: Step, scores: Array, log_probs: Array, k: int) -> None:
    K, V = log_probs.shape
    reject(
        _equal(got, _best(log_probs, k, V)),
        "The sums so far are missing.",
        "A continuation is as likely as its beginning times its new word. Which sum is that?",
    )
    reject(
        _equal(got, _best(scores[:, None] * log_probs, k, V)),
        "The logarithms were multiplied.",
        "Probabilities are multiplied. What happens to their logarithms?",
    )
    totals = scores[:, None] + log_probs
    worst = np.argsort(totals, axis=None)[:k]
    reject(
        is_close(np.sort(got[2]), np.sort(totals.ravel()[worst])),
        "These are the least likely continuations.",
        "In which direction does np.argsort sort?",
    )
    reject(
        is_close(np.sort(got[2]), np.sort(right[2])) and not is_close(got[2], right[2]),
        "The right continuations, in the wrong order.",
        "Best first was asked for.",
    )
    reject(
        is_close(got[2], right[2]) and is_close(got[0], right[1]) and is_close(got[1], right[0]),
        "Rows and tokens are exchanged.",
        "Which of the two says whose continuation it is?",
    )
    reject(
        is_close(got[2], right[2]),
        "The sums are right; a row or a token is not.",
        "Place n of the flattened table stands in a row of V entries: divide by V.",
    )
    single = [_best(totals[row : row + 1], 1, V)[2][0] for row in range(K)]
    reject(
        k <= K and is_close(np.sort(got[2]), np.sort(single)[::-1][:k][::-1]),
        "One continuation of each hypothesis was taken.",
        "Two of the best may continue the same hypothesis.",
    )
    raise WrongAnswer(
        "Some continuations are not among the best.",
        "Write down the table of all N · V sums, and take its k largest entries.",
    )
