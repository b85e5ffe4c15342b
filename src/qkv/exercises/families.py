"""The exercises of the chapter on families: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.exercises.families_further import blocks_of_guesses, fill_in_the_middle
from qkv.exercises.masks_helpers import TOLERANCE, as_letters, as_sets

__all__ = [
    "blocks_of_guesses",
    "evidence",
    "fill_in_the_middle",
    "prefix_labels",
    "prefix_row",
    "rows_that_move",
]


@exercise("families-1")
def prefix_row(answer: object) -> str:
    """Row 1 of a prefix mask of 3 over exponentials 3, 1, 4, 2, 6."""
    row = as_array(answer, shape=(5,))
    reject_each(
        row,
        (
            [3 / 4, 1 / 4, 0, 0, 0],
            "That is the row of a causal mask.",
            "The query stands inside the prefix. Which of its keys come later, and are allowed?",
        ),
        (
            [3 / 16, 1 / 16, 4 / 16, 2 / 16, 6 / 16],
            "That is the row without a mask.",
            "Are the words behind the prefix allowed for a word of the prefix?",
        ),
        (
            [3 / 7, 0, 4 / 7, 0, 0],
            "The word does not see itself.",
            "Look at the diagonal of the mask.",
        ),
        (
            [3 / 10, 1 / 10, 4 / 10, 2 / 10, 0],
            "One key too many.",
            "Count the words of the prefix again, the first one included.",
        ),
        (
            [3 / 16, 1 / 16, 4 / 16, 0, 0],
            "These weights do not sum to 1.",
            "By what do you divide after the blocked words are crossed out?",
        ),
        tolerance=TOLERANCE,
    )
    reject(
        not is_close(row, [3 / 8, 1 / 8, 4 / 8, 0, 0], TOLERANCE),
        "Not these weights.",
        "Write down row 1 of the mask first: five zeros and ones.",
    )
    return "right: 3, 1 and 4 are left, divided by 8."


@exercise("families-2")
def rows_that_move(answer: object) -> str:
    """Rows that move in a prefix model of 7 tokens, prefix 4: token 2 replaced, then token 5."""
    first, second = as_sets(answer, "First the rows for position 2, then those for position 5.")
    reject(
        first == {2, 3, 4, 5, 6},
        "For position 2 these are the rows of a causal model.",
        "May rows 0 and 1 see position 2? It stands in the same prefix.",
    )
    reject(
        first == {0, 1, 2, 3},
        "For position 2 the rows behind the prefix are missing.",
        "What does the last row see of the prefix?",
    )
    reject(
        first != set(range(7)),
        "The rows for position 2 are not right.",
        "Read column 2 of the mask from top to bottom.",
    )
    reject(
        second == set(range(7)),
        "For position 5 these are the rows of a BERT.",
        "Does the prefix see what comes after it?",
    )
    reject(
        second == {6},
        "For position 5 one row is missing.",
        "Does a row see its own token?",
    )
    reject(
        second == {4, 5, 6},
        "For position 5 there is one row too many.",
        "Row 4 stands behind the prefix, so it is causal. Does position 5 come later?",
    )
    reject(
        second != {5, 6},
        "The rows for position 5 are not right.",
        "Read column 5 of the mask from top to bottom.",
    )
    return "right: a word of the prefix moves every row, a later word only its own and later rows."


@exercise("families-3")
def evidence(answer: object) -> str:
    """The observations that show that a guess uses words to the right: B and D."""
    letters = as_letters(answer, "ABCDE")
    reject(
        "A" in letters,
        "A does not show it.",
        "How often would a guess from the left side be right here, by the best possible rule?",
    )
    reject(
        "C" in letters,
        "C says how the model was trained to answer, not what it reads.",
        "Could a model with a causal mask be trained on masked words as well?",
    )
    reject(
        "E" in letters,
        "E holds for a causal model too.",
        "On which side of the gap is the word that was replaced?",
    )
    reject(
        "B" not in letters,
        "One is missing.",
        "Which observation compares two inputs that differ on the right side alone?",
    )
    reject(
        "D" not in letters,
        "Another is missing.",
        "Which number is above what the left side alone allows?",
    )
    return "right: B changes the right side alone, and D is better than any rule from the left."


@exercise("families-4")
def prefix_labels(answer: object) -> str:
    """`f(ids, prefix, pad_id)`: the answer of each row, −100 where the row is not asked."""
    function = as_function(answer)
    ids = np.array([[3, 8, 5, 9, 4, 2, 0, 0], [7, 6, 5, 4, 8, 9, 3, 2], [5, 5, 1, 6, 6, 2, 0, 0]])
    for prefix, pad_id in ((4, 0), (2, 0), (3, 9)):
        right = _labels(ids, prefix, pad_id)
        got = np.asarray(function(ids.copy(), prefix, pad_id))
        reject(
            got.shape != ids.shape,
            f"For ids of shape {ids.shape} the shape is {got.shape}.",
            "One answer for each row, the last one included: what comes after the last token?",
        )
        if np.array_equal(got, right):
            continue
        reject_each(
            got,
            (
                np.where(right == -100, pad_id, right),
                "Rows that are not asked have the id of <PAD> as their answer.",
                "The loss leaves out −100. What does it do with another number?",
            ),
            (
                _labels(ids, prefix + 1, pad_id),
                "The first answer is missing.",
                "The last row of the prefix predicts the token that comes after it.",
            ),
            (
                _labels(ids, prefix - 1, pad_id),
                "One row of the prefix too many is asked.",
                "Which row predicts the first token that is not given?",
            ),
            (
                _labels(ids, 1, pad_id),
                "The prefix is asked too.",
                "Rows of the prefix see their own answers. Which rows are not asked?",
            ),
            (
                _labels(ids, prefix, -1),
                "Rows have to predict <PAD>.",
                "Which answers are filler, and no text?",
            ),
            (
                np.where((np.arange(8) < prefix) | (ids == pad_id), -100, ids),
                "Each row has to predict the token that it reads.",
                "Shift the ids by one: row i predicts token i + 1.",
            ),
        )
        raise WrongAnswer(
            "Some answers are wrong.",
            "Take [[7, 8, 9, 2]] with prefix 2 and write the four answers on paper.",
        )
    return "right: shifted by one, and asked from the last row of the prefix on."


def _labels(ids: np.ndarray, prefix: int, pad_id: int) -> np.ndarray:
    labels = np.full_like(ids, -100)
    labels[:, :-1] = ids[:, 1:]
    labels[:, : prefix - 1] = -100
    labels[labels == pad_id] = -100
    return labels
