"""The exercises of the chapter that looks inside the trained model: the check of each answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.exercises.checks import (
    TWO_DECIMALS,
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import OneEach
from qkv.language import gettext


def _as_marks(answer: object) -> str:
    """Five of Y and N from a string or a list, or `WrongAnswer`."""
    if isinstance(answer, np.ndarray):
        answer = answer.reshape(-1).tolist()
    parts = answer if isinstance(answer, str | list | tuple) else ()
    words = {"YES": "Y", "TRUE": "Y", "NO": "N", "FALSE": "N"}
    signs = [str(part).strip(" ,;\n").upper() for part in parts]
    marks = "".join(words.get(sign, sign) for sign in signs)
    reject(
        len(marks) != 5 or not set(marks) <= set("YN"),
        "Five marks were asked for.",
        'Write Y or N for each statement, in their order, such as "YNYNY".',
    )
    return marks


def _name_score(got: float, weights: np.ndarray, alignment: set[tuple[int, int]]) -> None:
    T, S = weights.shape
    peaks = weights.argmax(axis=1)
    aligned = {i for i, _ in alignment}
    hits = sum((i, int(peaks[i])) in alignment for i in range(T))
    columns = weights.argmax(axis=0)
    right = hits / len(aligned)
    if is_close(got, right):
        return
    last, first = dict(sorted(alignment)), dict(sorted(alignment)[::-1])
    kept = [sum(int(peaks[i]) == j for i, j in one.items()) / len(one) for one in (last, first)]
    any_order = sum(int(peaks[i]) == j for i, j in dict(alignment).items()) / len(aligned)
    for share in (any_order, *kept):
        reject(
            is_close(got, share),
            "Of a row with two aligned words, one was forgotten.",
            "dict(alignment) keeps one column of a row. Ask: is (row, column) in alignment?",
        )
    reject_each(
        got,
        (hits, "That is a number of rows.", "A share: divide by how many rows could be right."),
        (hits / T, "Rows that are aligned with nothing count as wrong.", "How many rows can hit?"),
        (
            hits / len(alignment),
            "Divided by the number of pairs.",
            "A row may be aligned with two words, and has one largest weight.",
        ),
        (
            sum((int(columns[j]), j) in alignment for j in range(S)) / len(aligned),
            "The largest weight of each column was taken.",
            "A row is a Korean word: its weights are weights[i].",
        ),
        (
            sum((int(peaks[i]), i) in alignment for i in range(T)) / len(aligned),
            "The pairs were read the other way round.",
            "A pair is (row, column): target first.",
        ),
        (
            sum(weights[i, j] for i, j in alignment) / len(aligned),
            "The weights on aligned words were added up.",
            "Only where the largest weight stands counts.",
        ),
    )
    reject(
        True, "Not this share.", "Try one row by hand: where is its peak, what is it aligned with?"
    )


@exercise("results-1")
def off_and_equal(answer: object) -> str:
    """How far an output moves: the head off, 5; its weights equal, √2.

    Weights 0.5, 0.3, 0.2 on values (6, 0), (0, 10), (0, 5): the output is (3, 4). With equal
    weights it is (2, 5).
    """
    got = as_array(answer, shape=(2,)).astype(float)
    off, equal = got.tolist()
    right = np.sqrt(2.0)
    reject(
        is_close(got, [right, 5.0], TWO_DECIMALS),
        "The two are in the wrong order.",
        "First the head that is off, then equal weights.",
    )
    reject(off in (3.0, 4.0), "That is one entry of the output.", "How long is a vector (a, b)?")
    reject(off == 7.0, "The two entries were added.", "Length: the root of the sum of squares.")
    reject(
        abs(off - np.sqrt(161)) < 0.1,
        "These are the values without weights.",
        "Each value counts by its weight.",
    )
    reject(
        abs(off - 5) > TWO_DECIMALS,
        "Not the first number.",
        "Where is the output if nothing comes?",
    )
    reject(
        abs(equal - np.sqrt(29)) < TWO_DECIMALS,
        "That is how long the new output is.",
        "How far is it from the old one? Subtract first.",
    )
    reject(
        abs(equal - (np.sqrt(29) - 5)) < TWO_DECIMALS,
        "The two lengths were subtracted.",
        "Subtract the vectors, then take the length.",
    )
    reject(
        abs(equal - 2) < TWO_DECIMALS,
        "The two changes were added.",
        "One entry falls, the other rises: take the length of the change.",
    )
    reject(
        abs(equal - np.sqrt(234)) < TWO_DECIMALS,
        "Equal weights, but they sum to 3.",
        "How large is each of three equal weights?",
    )
    reject(abs(equal - right) > TWO_DECIMALS, "Not the second number.", "Write both outputs first.")
    return "right. The values are the same; only switching off takes them away."


@exercise("results-2")
def same_output(answer: object) -> str:
    """Weights 0, 0, 0.9, 0.1: the first two values average to the third."""
    weights = as_array(answer, shape=(4,)).astype(float)
    values = np.array([[2.0, 0], [0, 2], [1, 1], [3, 3]])
    reject(
        is_close(weights, [0.4, 0.4, 0.1, 0.1]),
        "That is the row that is given.",
        "The first weight has to become 0.",
    )
    reject(
        (weights < -1e-9).any(),
        "A weight is negative.",
        "Softmax gives none. Which values add up?",
    )
    reject(
        abs(weights.sum() - 1) > 1e-3,  # half precision is enough
        gettext("The weights sum to {total:.3f}.").format(total=weights.sum()),
        "What is taken from one word has to go to another.",
    )
    reject(weights[0] > 1e-6, "The first word still has weight.", "It has to lose all of it.")
    output = weights @ values
    reject(
        is_close(weights, [0, 0.8, 0.1, 0.1]),
        "All of it went to cat: now the output lies on the side of cat.",
        "Draw the four values as points. Which point lies half way between two others?",
    )
    reject(
        not is_close(output, [1.2, 1.2], 2e-3),
        gettext("The output is ({first:.3f}, {second:.3f}), and not (1.200, 1.200).").format(
            first=output[0], second=output[1]
        ),
        "If the first word loses weight, one entry falls. Which other word has to lose as much?",
    )
    return (
        "right: the darkest two cells are empty now, and the output is the same. In our twelve "
        "sentences, the encoder heads of this model have no such other row."
    )


@exercise("results-3", OneEach("12345", "YN"))
def evidence(answer: object) -> str:
    """What follows when two heads are off alone, and together."""
    reject_choice(
        _as_marks(answer),
        "YNYNN",
        "Ask of each: which two cells of the table say so? If no cell does, it does not follow.",
        (
            "YYYYN",
            "You took heads that are off alone for heads that are off together.",
            "Which line of the table has both heads off?",
        ),
        (
            "YYYYY",
            "You took alone for together, and the same picture for the same work.",
            "Read the table by line: a, then b, then both. One adjective at a time.",
        ),
    )
    return "right: off alone says nothing of off together, and one adjective nothing of another."


@exercise("results-4")
def how_far(answer: object) -> str:
    """`f(A, new, V, W_O)`: for each query, how far its output moves."""
    function = as_function(answer)
    rng = np.random.default_rng(2)
    for H, T, S, d_v, d_model in ((2, 3, 4, 5, 7), (3, 5, 2, 4, 3), (1, 4, 6, 2, 5)):
        A, new = rng.dirichlet(np.ones(S), size=(2, H, T))
        V, W_O = rng.normal(size=(H, S, d_v)), rng.normal(size=(H, d_v, d_model))
        got = as_array(
            function(A, new, V, W_O),
            hint="One length for each query: heads and the width are summed over.",
        ).astype(float)
        _name_move(got, new - A, V, W_O, np.linalg.norm((A @ V @ W_O).sum(0), axis=-1), new)
    return "right. Opposite moves of two heads cancel: so add the heads first, then measure."


def _name_move(
    got: np.ndarray, change: np.ndarray, V: np.ndarray, W_O: np.ndarray, old: np.ndarray, new: Any
) -> None:
    parts = change @ V @ W_O  # (H, T, d_model)
    moved = parts.sum(axis=0)  # (T, d_model)
    right = np.linalg.norm(moved, axis=-1)  # (T,)
    after = np.linalg.norm((new @ V @ W_O).sum(axis=0), axis=-1)

    def is_(wrong: np.ndarray | np.floating) -> bool:
        return got.shape == np.shape(wrong) and is_close(got, wrong)

    if got.size == right.size and is_close(got.reshape(-1), right):
        return
    reject(
        len(change) > 1 and is_(np.linalg.norm(parts, axis=-1).sum(axis=0)),
        "The lengths of the heads were added.",
        "Two heads may move the output in opposite directions. Add the vectors first.",
    )
    reject(
        is_(after - old) or is_(np.abs(after - old)),
        "Two lengths were subtracted.",
        "Subtract the outputs, then take the length: a vector can turn and stay as long.",
    )
    reject(is_(moved), "That is the change itself, a vector for each query.", "How long is each?")
    reject(
        is_(np.linalg.norm(parts, axis=-1)),
        "That is one length for each head and query.",
        "The output is a sum over heads: add them before you measure.",
    )
    reject(
        is_(np.linalg.norm((change @ V).sum(axis=0), axis=-1))
        or is_(np.linalg.norm(change @ V, axis=(0, 2))),
        "The values were not multiplied by W_O.",
        "What reaches the output of word i is weight · value · W_O.",
    )
    weight_moved = np.abs(change).sum(axis=-1)  # (H, T)
    reject(
        any(is_(share * weight_moved.sum(axis=0)) for share in (0.5, 1, 0.5 / len(change))),
        "That is how much weight moves.",
        "The same weight can move the output far, or not at all: values and W_O count too.",
    )
    reject(
        len(change) > 1 and is_(np.linalg.norm(parts[0], axis=-1)),
        "That is the first head alone.",
        "The output is a sum over all heads.",
    )
    reject(is_(np.linalg.norm(moved)), "That is one length for all words.", "One for each query.")
    reject(is_((moved**2).sum(axis=-1)), "The root is missing.", "Length: the root of the sum.")
    reject(is_(after), "That is how long the new output is.", "How far is it from the old one?")
    reject(
        got.size != right.size,
        gettext("Expected T = {T} lengths, got shape {shape}.").format(
            T=len(right), shape=got.shape
        ),
        "Sum over heads, then take the length along the last axis.",
    )
    reject(True, "Not these lengths.", "One head, one query first: (new − old) · values · W_O.")


@exercise("results-5")
def equal_on_allowed(answer: object) -> str:
    """`f(mask)`: equal weights on the allowed keys of each row, 0 on the others."""
    function = as_function(answer)
    rng = np.random.default_rng(3)
    masks = [np.tri(4, dtype=bool), np.ones((3, 5), dtype=bool)]
    masks.append(np.arange(6) < np.full((4, 6), 3))  # padding
    free = rng.random((5, 7)) < 0.4
    free[np.arange(5), np.arange(5)] = True
    masks += [free, np.tri(3, 5, 2, dtype=bool)]  # a decoder that has a cache
    for mask in masks:
        weights = as_array(function(mask), shape=mask.shape).astype(float)
        right = mask / mask.sum(axis=1, keepdims=True)
        if is_close(weights, right):
            continue
        T, S = mask.shape
        if not mask.all():
            reject(
                is_close(weights, np.full((T, S), 1 / S)),
                "Blocked keys still have weight.",
                "Look at row 0 of np.tri(4): what may it read?",
            )
            reject(
                is_close(weights, mask / S),
                "The rows do not sum to 1.",
                "How many keys does each row share its weight among?",
            )
        reject(
            is_close(weights, mask / mask.sum()),
            "All weights together sum to 1.",
            "Each row has to sum to 1.",
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            columns = mask / mask.sum(axis=0)
        reject(
            is_close(weights, columns),
            "The columns sum to 1.",
            "A row is a query: count its allowed keys, along axis 1.",
        )
        triangles = [np.tri(T, S, S - T), np.tri(T, S)]
        reject(
            any(is_close(weights, one / one.sum(axis=1, keepdims=True)) for one in triangles),
            "That is right for a causal mask only.",
            "Other keys may be blocked too, such as padding. Read the mask.",
        )
        reject((weights[~mask] != 0).any(), "A blocked key has weight.", "Only allowed keys count.")
        reject(
            not is_close(weights.sum(axis=1), np.ones(T)),
            "A row does not sum to 1.",
            "Divide by the number of allowed keys in that row.",
        )
        reject(True, "The weights of a row are not equal.", "Each allowed key gets the same.")
    return "right. Each row shares its weight among the keys that it may read."


@exercise("results-6")
def alignment_score(answer: object) -> str:
    """`f(weights, alignment)`: of the rows that are aligned, the share with the peak on it."""
    function = as_function(answer)
    rng = np.random.default_rng(4)
    for T, S, alignment in (
        (3, 4, {(0, 1), (1, 3), (2, 0)}),
        (5, 6, {(0, 1), (1, 4), (1, 2), (2, 2)}),  # rows 3 and 4 are aligned with nothing
        (5, 3, {(0, 0), (0, 2), (1, 1), (2, 0), (4, 1), (4, 2)}),
    ):
        for _ in range(8):
            weights = rng.dirichlet(np.ones(S), size=T)
            weights[0] = np.eye(S)[min(j for i, j in alignment if i == 0)]
            _name_score(as_number(function(weights, set(alignment))), weights, alignment)
    return "right. A row that is aligned with nothing can be neither hit nor miss."


@exercise("results-7")
def five_of_five(answer: object) -> str:
    """Two equal settings, five seeds: the chance that one of the two wins with all five, 1/16."""
    got = as_number(answer)
    reject_each(
        got,
        (1 / 32, "That is the chance for one of the two.", "Either of them may be the lucky one."),
        (0.5, "That is the chance with one seed.", "It has to happen five times in a row."),
        (
            1 / 10,
            "Chances of runs that are apart are multiplied.",
            "And with two seeds? 1/2 · 1/2.",
        ),
        (0.2, "That is one of five.", "How likely is one win, and how likely are five?"),
        (1 / 25, "Nothing here has the chance 1/5.", "What is the chance to win with one seed?"),
    )
    reject(
        abs(got - 6.25) < 0.26,
        "In percent that would be right.",
        "Give the share: a number between 0 and 1.",
    )
    reject(
        abs(got - 1 / 16) > 0.0026, "Not this number.", "Try two seeds first: list all outcomes."
    )
    return "right: 2 · (1/2)⁵ = 0.0625. Of twelve such variations, 0.75 are expected by luck alone."
