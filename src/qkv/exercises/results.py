"""The exercises of the chapter that looks inside the trained model: the check of each answer."""

from __future__ import annotations

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


def _as_signs(answer: object) -> str:
    """Five of +, - and 0 from a string or a list, or `WrongAnswer`."""
    parts = answer if isinstance(answer, str | list | tuple) else ()
    signs = "".join(str(part).strip(" ,") for part in parts)
    signs = signs.replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-")
    reject(
        len(signs) != 5 or not set(signs) <= set("+-0"),
        "Five signs were asked for.",
        'Write one of + - 0 for each observation, in their order, such as "+-0+-".',
    )
    return signs


def _name_score(got: float, weights: np.ndarray, alignment: set[tuple[int, int]]) -> None:
    T, S = weights.shape
    peaks = weights.argmax(axis=1)
    aligned = {i for i, _ in alignment}
    hits = sum((i, int(peaks[i])) in alignment for i in range(T))
    columns = weights.argmax(axis=0)
    right = hits / len(aligned)
    if is_close(got, right):
        return
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
    reject((weights < 0).any(), "A weight is negative.", "Softmax gives none. Which values add up?")
    reject(
        not is_close(weights.sum(), 1.0),
        f"The weights sum to {weights.sum():.2f}.",
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
        not is_close(output, [1.2, 1.2]),
        f"The output is ({output[0]:.2f}, {output[1]:.2f}), and not (1.20, 1.20).",
        "If the first word loses weight, one entry falls. Which other word has to lose as much?",
    )
    return "right: the darkest two cells are empty now, and the output is the same."


@exercise("results-3")
def evidence(answer: object) -> str:
    """What speaks for (+) or against (-) "the translation needs the weights of this head"."""
    reject_choice(
        _as_signs(answer),
        "00-0+",
        "In which observations are the weights of this head changed, and nothing else?",
        (
            "++-0+",
            "You took the whole head, or a look at it, for its weights.",
            "What else does a head write with? And was anything changed in the model?",
        ),
        (
            "++0-+",
            "You took a picture, and another model, for evidence about these weights.",
            "What does the claim predict if this head has equal weights, and nothing else changes?",
        ),
    )
    return (
        "right: only 3 and 5 change the weights alone, and 5 also shows that a change can be safe."
    )


@exercise("results-4")
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


@exercise("results-5")
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
