"""The exercises of the chapter on decoding: the check of each answer."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    WrongAnswer,
    as_function,
    as_letters,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)

GREEDY, BEAM, LIKELIEST = "i eat", "we sleep", "they swim"
FLIP = np.log(3.0 / 2.4) / np.log(5 / 3)  # 0.437
Array: TypeAlias = np.ndarray[Any, Any]
Step: TypeAlias = tuple[Array, Array]  # finished, going on: (n, 3) each of row, token, sum
CASES = ((3, 5, 2, 1), (1, 7, 3, 6), (2, 11, 4, 0), (4, 3, 4, 2))  # N, V, k, eos


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


@exercise("decoding-1")
def three_searches(answer: object) -> str:
    """The sentences of greedy decoding, of a beam of 2, and the likeliest of all."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    reject(
        len(parts) != 3 or not all(isinstance(part, str) for part in parts),
        "Three sentences were asked for.",
        'Write them as a list of strings, such as ["I swim", "I swim", "we eat"].',
    )
    greedy, beam, likeliest = (" ".join(str(part).lower().split()) for part in parts)
    reject(
        greedy != GREEDY,
        "The first sentence is not that of greedy decoding.",
        "Take the largest number of the first row, then the largest of the row that it leads to.",
    )
    reject(
        beam == GREEDY,
        "The second sentence is again that of greedy decoding.",
        "With two hypotheses, continue both of the words that were kept, and compare products.",
    )
    reject(
        beam == LIKELIEST,
        "Beam search with k = 2 never sees the second sentence.",
        "Which two words are left after the first step?",
    )
    reject(
        beam != BEAM,
        "The second sentence is not that of k = 2.",
        "Six sentences begin with a word that was kept. Multiply out all six.",
    )
    reject(
        likeliest == BEAM,
        "The third sentence is not the likeliest.",
        "Look at the sentences that begin with the word that the beam dropped.",
    )
    reject(
        likeliest != LIKELIEST,
        "The third sentence is not the likeliest of the seven.",
        "A second word that is certain costs nothing.",
    )
    return "right: 0.19, 0.195 and 0.2. A beam of 3 would find the third."


@exercise("decoding-2")
def kinds_of_error(answer: object) -> str:
    """Proven search errors: A, C, E, F. A perfect search is right in A and F."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    reject(
        len(parts) != 2,
        "Two strings of letters were asked for.",
        'Write first the search errors, then what a perfect search gets right: ["XY", "XYZ"].',
    )
    search, perfect = (as_letters(part, "ABCDEF") for part in parts)
    reject_choice(
        search,
        "ACEF",
        "For the first string, compare the first column with the third, row by row.",
        (
            "AEF",
            "In the first string, you compared with the right translation.",
            "Which column has what a search should have found?",
        ),
        (
            "BCD",
            "In the first string stand the rows where the model prefers a wrong sentence.",
            "That is what the model does. What proves that the search has missed something?",
        ),
    )
    reject_choice(
        perfect,
        "AF",
        "For the second string: which sentence does a perfect search return in each row?",
        (
            "ACEF",
            "In the second string, you took every search error for the whole of the fault.",
            "The third column is what a perfect search returns. Is it the right one?",
        ),
        (
            "BD",
            "In the second string stand the rows without a proven search error.",
            "Is what they return the right translation?",
        ),
    )
    return "right. B and D are model errors; C and E are errors of both kinds."


@exercise("decoding-3")
def proofs(answer: object) -> str:
    """The results that prove a bug in a beam search: B, D, F."""
    reject_choice(
        as_letters(answer, "ABCDEF"),
        "BDF",
        "Ask of each: can a program without a bug do this? At each step it keeps the best k, and "
        "forgets all others.",
        (
            "ABCDF",
            "You took it for a rule that more hypotheses are never worse.",
            "What may push the best beginning out of a wider beam at a later step?",
        ),
        (
            "ABC",
            "You compared the widths with each other, and nothing else.",
            "What in a result can be computed in another way?",
        ),
    )
    return "right. A wider beam can be worse without a bug. A wrong score cannot."


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


@exercise("decoding-5")
def nucleus(answer: object) -> str:
    """`f(p, top_p)` gives the probabilities of top-p sampling: cut, and of sum 1 again."""
    function = as_function(answer)
    for p, top_p, kept in (
        ([0.1, 0.45, 0.05, 0.4], 0.8, [1, 3]),
        ([0.1, 0.45, 0.05, 0.4], 0.3, [1]),
        ([0.3, 0.125, 0.5, 0.075], 0.875, [0, 1, 2]),
        ([0.125, 0.125, 0.5, 0.25], 0.75, [2, 3]),
        ([0.2, 0.7, 0.1], 1.0, [0, 1, 2]),
    ):
        array = np.array(p)
        got = np.asarray(function(array, top_p), float)
        given = array.copy()
        answer(given, top_p)  # type: ignore[operator]
        reject(
            not np.array_equal(given, array),
            "Your function changes its input.",
            "Write the result into an array of its own.",
        )
        reject(
            got.shape != array.shape,
            f"The shape is {got.shape}, not {array.shape}.",
            "One probability for each word, 0 for those that are cut, in the order of p.",
        )
        right = np.zeros_like(array)
        right[kept] = array[kept]
        reject(
            is_close(got, right) and top_p < 1,
            "The probabilities do not sum to 1.",
            "Divide those that are left by their sum.",
        )
        right /= right.sum()
        if is_close(got, right):
            continue
        reject(not got.any() or np.isnan(got).any(), "No word is left.", "The likeliest stays.")
        reject(
            np.count_nonzero(got) < len(kept),
            f"With top_p = {top_p} too few words are left.",
            "The word that makes the sum reach top_p stays too.",
        )
        reject(
            np.count_nonzero(got) > len(kept),
            f"With top_p = {top_p} too many words are left.",
            "Stop as soon as the sum reaches top_p.",
        )
        raise WrongAnswer(
            "The wrong words are left, or they stand in another order.",
            "Sort, cut, and put each probability back at the place that it came from.",
        )
    for n, top_p, left in ((4, 0.5, 2), (8, 0.375, 3)):  # any of the equal ones may stay
        got = np.asarray(function(np.full(n, 1 / n), top_p), float)
        reject(
            got.shape != (n,) or not is_close(np.sort(got), [0] * (n - left) + [1 / left] * left),
            f"With top_p = {top_p}, {left} of {n} equal words have to be left.",
            "Of equal words, too, no more stay than the sum needs. A limit keeps all of them.",
        )
    return "right. The number of words that stay changes with the distribution."


@exercise("decoding-6")
def flip_penalty(answer: object) -> str:
    """The α at which sums of −2.4 over 3 tokens and −3.0 over 5 score the same: 0.437."""
    got = as_number(answer)
    reject_each(
        got,
        (3.0 / 2.4, "That is the ratio of the sums.", "Which power of 5 / 3 is it?"),
        (1 / FLIP, "That is its reciprocal.", "Take logarithms of 1.25 = (5 / 3)^α."),
        (-FLIP, "The sign is wrong.", "With α = 0 the shorter wins. Must α rise or fall?"),
        (
            np.log(3.0 / 2.4) / np.log(4 / 2),
            "<eos> was left out of the lengths.",
            "The lengths in the question count it already.",
        ),
        tolerance=0.01,
    )
    reject(
        not is_close(got, FLIP, 0.01),
        "Not this number.",
        "Set 2.4 / 3^α = 3.0 / 5^α, and take logarithms.",
    )
    return "right: ln 1.25 / ln (5 / 3). Above it the longer sentence wins."
