"""The exercises of the chapter on embeddings: the check of each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)

Pair = tuple[str, str]
Array = np.ndarray[Any, Any]


def as_merges(answer: object) -> tuple[Pair, Pair]:
    """Two pairs of pieces, such as [("a", "l"), ("al", "l")], or `WrongAnswer`."""
    pairs = [_as_pair(part) for part in answer] if isinstance(answer, list | tuple) else []
    reject(
        len(pairs) != 2,
        "Two merges were asked for.",
        'Write a list of two pairs, such as [("a", "l"), ("al", "l")].',
    )
    return pairs[0], pairs[1]


def _as_pair(part: object) -> Pair:
    pieces = part.replace("+", " ").split() if isinstance(part, str) else part
    if not isinstance(pieces, list | tuple) or len(pieces) != 2:
        raise WrongAnswer("A merge joins two pieces.", 'Write each as a pair, such as ("a", "l").')
    return str(pieces[0]).strip(), str(pieces[1]).strip()


def as_words_and_probabilities(
    answer: Any, vocabulary: Sequence[str], k: int
) -> tuple[list[str], Array]:
    """k words of the vocabulary and k numbers, from a list of pairs, or `WrongAnswer`."""
    pairs = list(answer.items()) if isinstance(answer, Mapping) else _as_list(answer)
    reject(
        len(pairs) != k,
        f"For k = {k} your function returns {len(pairs)} things.",
        "Return a list of k pairs: [(word, probability), …].",
    )
    reject(
        any(isinstance(pair, str) or np.size(np.array(pair, object)) != 2 for pair in pairs),
        "Each entry has to be a pair.",
        "First the word, then its probability.",
    )
    words = [str(word) for word, _ in pairs]
    unknown = [word for word in words if word not in vocabulary]
    reject(
        unknown,
        f"{unknown[:1]} is no word of the vocabulary.",
        "First the word itself, not its id; then the probability.",
    )
    return words, np.array([as_number(probability) for _, probability in pairs])


def _as_list(answer: Any) -> list[Any]:
    if isinstance(answer, str) or not hasattr(answer, "__iter__"):
        raise WrongAnswer(
            "Your function has to return a list.", "One pair for each of the k words."
        )
    return list(answer)


WORDS = ("the", "a", "Eiffel", "miniature", "tower")


def _named(words: Sequence[str]) -> str:
    return ", ".join(f"*{word}*" for word in words)


@exercise("embedding-1")
def logits_by_hand(answer: object) -> str:
    """The logits of x = (−2, 1) for the five words of the chapter."""
    logits = as_array(answer, shape=(5,)).astype(float)
    right = np.array([1, -1, 1, 5, -4])
    reject_each(
        logits,
        (-right, "Every sign is turned.", "x begins with −2. Which number of a row meets it?"),
        ([0, 0, -2, 6, -4], "Only *large* was used.", "A dot product has two terms here."),
        ([1, -1, 3, -1, 0], "Only *famous* was used.", "A dot product has two terms here: large?"),
        ([1, -1, 5, -7, 4], "The −2 counts as +2.", "x begins with a minus sign."),
        (
            np.exp(right) / np.exp(right).sum(),
            "These are probabilities.",
            "The logits are what the softmax is given.",
        ),
        (np.exp(right), "These are the exponentials.", "Stop one step earlier."),
        tolerance=5e-3,
    )
    off = [
        word for word, a, b in zip(WORDS, logits, right, strict=True) if not is_close(a, b, 5e-3)
    ]
    reject(
        is_close(np.abs(logits), np.abs(right), 5e-3) and off,
        f"The sign of {_named(off)} is wrong.",
        "−2 times a negative number is positive; 1 times it stays negative.",
    )
    reject(
        0 < len(off) < 5,
        f"Right except for {_named(off)}.",
        "Write both products of that row: −2 · large and 1 · famous. Then add them.",
    )
    reject(
        off,
        "Not these logits.",
        "One dot product for each row of the table: −2 · large + 1 · famous.",
    )
    return "right. The largest is that of *miniature*: it is the most likely word."


@exercise("embedding-2")
def first_merges(answer: object) -> str:
    """The first two merges of "new new newer lower low": e + w, n + ew."""
    merges = as_merges(answer)
    first, second = merges
    reject(
        first == ("n", "e"),
        "n + e stands there as often as another pair that comes before it.",
        "Which of the equal pairs begins with the token that has the smallest number?",
    )
    reject(
        first == ("▁", "n"),
        "▁ + n is as frequent as two other pairs.",
        "Number the sorted characters. Where does ▁ stand?",
    )
    reject(
        first in (("l", "o"), ("o", "w"), ("w", "e"), ("e", "r")),
        "The first pair is not the most frequent one.",
        "Count the pair n + e for comparison.",
    )
    reject(first != ("e", "w"), "The first merge is another.", "Write down each pair's count.")
    reject(
        second in (("n", "e"), ("w", "e"), ("e", "w")),
        "The second pair no longer stands there that often.",
        "Write the five words again after the first merge, then count.",
    )
    reject(
        second == ("▁", "n"),
        "The second merge: ▁ + n is as frequent as another pair.",
        "▁ has a larger number than every letter.",
    )
    reject(
        second != ("n", "ew"),
        "The second merge is another.",
        "After the first merge, which token stands before the new one?",
    )
    return "right: count again after every merge."


@exercise("embedding-3")
def tells_apart(answer: object) -> str:
    """What makes the last vectors of "the Eiffel tower" and "a miniature tower" differ: C, E."""
    reject_choice(
        as_letters(answer, "ABCDE"),
        "CE",
        "Follow the last token of both sentences: its id, the row that it reads, what comes after.",
        (
            "ABCE",
            "You took a better table for one that tells the towers apart.",
            "Which row do both sentences read at the end, after training or with more numbers?",
        ),
    )
    return "right: either the id differs, or something after the lookup reads the neighbours."


@exercise("embedding-4")
def likeliest(answer: object) -> str:
    """`f(x, table, vocabulary, k)` gives the k most likely words with their probabilities."""
    function = as_function(answer)
    vocabulary = ["up", "left", "down", "right", "here", "there"]
    rng = np.random.default_rng(3)
    for dtype, k, shift in ((float, 3, 0), (np.float32, 1, 0), (float, 2, 40), (float, 3, -40)):
        table: Array = rng.normal(size=(6, 5)).astype(dtype)
        x: Array = rng.normal(size=5).astype(dtype)
        if shift:  # every logit moves by 1600 or −1600
            table[:, -1], x[-1] = 40, shift
        logits = (table @ x).astype(float)
        p = np.exp(logits - logits.max())
        p /= p.sum()
        order = np.argsort(-p)
        with np.errstate(all="ignore"):
            got = function(x.copy(), table.copy(), list(vocabulary), k)
        words, shares = as_words_and_probabilities(got, vocabulary, k)
        reject(
            not np.isfinite(shares).all(),
            f"With logits near {1600 if shift > 0 else -1600}, your probabilities are no numbers.",
            "What may be subtracted from all logits, so that p does not change?",
        )
        best = [vocabulary[i] for i in order[:k]]
        reject(
            words == [vocabulary[i] for i in order[::-1][:k]],
            "These are the least likely words.",
            "In which direction does argsort sort?",
        )
        reject(
            k > 1 and words == best[::-1],
            "These are the right words, the most likely last.",
            "Turn the list around.",
        )
        reject(
            words != best,
            "These are not the most likely words.",
            "Take the dot product of x with each row; the largest ones decide.",
        )
        top = logits[order[:k]]
        if not shift:
            reject_each(
                shares,
                (top, "These are the logits, not probabilities.", "Where is the softmax?"),
                (np.exp(top), "This is not divided by the sum.", "What do all six sum to?"),
                (top / logits.sum(), "No exponential.", "Logits can be below 0; e^logit not."),
                tolerance=1e-4,
            )
        among = p[order[:k]] / p[order[:k]].sum()
        reject(
            is_close(shares, among, 1e-4),
            f"Your {k} probabilities sum to 1.",
            "The other words have a share too: softmax first, then choose.",
        )
        reject(
            not is_close(shares, p[order[:k]], 1e-4),
            "The words are right, their probabilities are not.",
            "Exponentiate all logits, divide by their sum, then take the largest.",
        )
    return "right: dot products, softmax over all words, the largest first."


@exercise("embedding-5")
def evidence(answer: object) -> str:
    """What proves that the merges were learned from the test text as well: B and D."""
    reject_choice(
        as_letters(answer, "ABCD"),
        "BD",
        "Try to explain each by merges that were learned from the training text alone.",
        (
            "ABCD",
            "You took all of it for proof.",
            "What would an honest BPE with every character of its text do with another text?",
        ),
    )
    return "right: A and C fit an honest tokenizer too."


@exercise("embedding-6")
def table_gradient(answer: object) -> str:
    """`f(ids, dout, V)` adds the gradient of each position to the row that was looked up."""
    function = as_function(answer)
    ids = np.array([[3, 0], [3, 3]])  # (B, T)
    flat = ids.ravel()
    for dtype in (np.float64, np.float32):
        rows = np.array([[1.5, 2.25], [4.5, 8.75], [16.5, 32.75], [64.25, 128.75]], dtype)
        expected = np.zeros((5, 2))
        np.add.at(expected, flat, rows)
        last, first = np.zeros((5, 2)), np.zeros((5, 2))
        last[[3, 0]], first[[3, 0]] = rows[[3, 1]], rows[[0, 1]]
        got = np.asarray(function(ids.copy(), rows.reshape(2, 2, 2).copy(), 5))
        reject(
            got.shape != (5, 2),
            f"For 5 tokens and d_model = 2 the shape is {got.shape}.",
            "A gradient has the shape of what it is the gradient of.",
        )
        mean = expected / np.array([1, 1, 1, 3, 1])[:, None]
        reject_each(
            got,
            (last, "Only the last of the three equal ids counts.", "What does += do with a list?"),
            (first, "Only the first of the three equal ids counts.", "Which positions are left?"),
            (
                mean,
                "The gradients of equal ids are averaged.",
                "One row moves; three outputs move.",
            ),
            (np.zeros((5, 2)), "No gradient arrives.", "Does the loop change the result?"),
        )
        reject(
            is_close(got, np.trunc(got)),
            "Your gradients are whole numbers; these were not.",
            "Which type has the array that you begin with?",
        )
        reject(
            not is_close(got, expected),
            "Some rows are wrong.",
            "Write down which positions row 3 went to, and what each of them brings back.",
        )
    return "right: a row collects from every position at which it was used."
