"""The exercises of the chapter on families: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import (
    TWO_DECIMALS,
    WrongAnswer,
    as_function,
    as_letters,
    as_number,
    as_sets,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)


def _labels(ids: np.ndarray, prefix: int, pad_id: int) -> np.ndarray:
    labels = np.full_like(ids, -100)
    labels[:, :-1] = ids[:, 1:]
    labels[:, : prefix - 1] = -100
    labels[labels == pad_id] = -100
    return labels


WORDS = ["The", "cat", "drinks", "the", "cold", "milk"]
GAPS = ((2, 3), (1, 4), (0, 2), (4, 6), (3, 3))  # the last one is empty
TWICE = ["the", "cat", "sees", "the", "dog", "sees", "the", "cat"]


@exercise("families-1")
def loss_of_a_text(answer: object) -> str:
    """The loss of one translation: p of rows 6 to 9 is 1/2, 1/4, 1/8, 1; the mean of −log p."""
    number = as_number(answer)
    p = np.array([0.9, 0.1, 0.2, 0.1, 0.3, 0.5, 0.5, 0.25, 0.125, 1.0])
    loss, asked = -np.log(p), p[6:]
    reject_each(
        number,
        (loss.mean(), "That is the mean over all ten rows.", "Which tokens are given, not asked?"),
        (
            loss[7:].mean(),
            "The first answer is missing.",
            "Which row predicts the first word of the translation?",
        ),
        (
            loss[5:].mean(),
            "One row too many.",
            "The colon is given, so the row before it is not asked.",
        ),
        (
            loss[6:9].mean(),
            "The last row is missing.",
            "A row that predicts the end is asked too, even if it costs nothing.",
        ),
        (loss[6:].sum(), "That is a sum.", "The loss is a mean over the rows that are asked."),
        (
            -np.log2(asked).mean(),
            "That is in bits.",
            "The formula has the natural logarithm: −log (1/2) = 0.69.",
        ),
        (
            -np.log(asked.mean()),
            "The mean of p comes too early.",
            "First −log p of each row, then the mean.",
        ),
        (-loss[6:].mean(), "A loss is not negative here.", "The logarithm of p < 1 is negative."),
        tolerance=TWO_DECIMALS,
    )
    reject(
        not is_close(number, 1.5 * np.log(2), TWO_DECIMALS),
        "Not this loss.",
        "Write down the rows that are asked, then −log p of each: a multiple of log 2.",
    )
    return "right: rows 6 to 9, (1 + 2 + 3 + 0) · log 2 / 4 = 1.04."


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
    reject_choice(
        as_letters(answer, "ABCDE"),
        "BD",
        "Ask of each: would a model that reads the left side alone show it too? How often can the "
        "best rule from the left be right?",
        (
            "BE",
            "You took every word that moves the guess for evidence.",
            "On which side of the gap does the replaced word stand?",
        ),
        (
            "ACD",
            "You took scores and training for what the model reads.",
            "Which score can no rule from the left side reach? And must a model use what it saw in "
            "training?",
        ),
    )
    return "right: B changes the right side alone, and D is better than any rule from the left."


@exercise("families-4")
def prefix_labels(answer: object) -> str:
    """`f(ids, prefix, pad_id)`: the answer of each row, −100 where the row is not asked."""
    function = as_function(answer)
    ids = np.array([[3, 8, 5, 9, 4, 2, 0, 0], [7, 6, 5, 4, 8, 9, 3, 2], [5, 5, 1, 6, 6, 2, 0, 0]])
    for prefix, pad_id in ((4, 0), (2, 0), (3, 9), (1, 0)):
        right = _labels(ids, prefix, pad_id)
        got = np.asarray(function(ids.copy(), prefix, pad_id))
        reject(
            got.shape != ids.shape,
            f"For ids of shape {ids.shape} the shape is {got.shape}.",
            "One answer for each row, the last one included: what comes after the last token?",
        )
        reject(
            got.dtype.kind not in "iu",
            f"The answers are {got.dtype} numbers.",
            "Answers are ids, and cross-entropy takes whole numbers. Which entry made them others?",
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


@exercise("families-5")
def fill_in_the_middle(answer: object) -> str:
    """`f(words, start, stop)`: <pre> prefix <suf> suffix <mid> middle <eos>."""
    function = as_function(answer)
    for words, start, stop in (*((WORDS, *gap) for gap in GAPS), (TWICE, 3, 5), (TWICE, 6, 7)):
        before, middle, after = words[:start], words[start:stop], words[stop:]
        right = ["<pre>", *before, "<suf>", *after, "<mid>", *middle, "<eos>"]
        got = list(function(list(words), start, stop))
        if got == right:
            continue
        mistakes = (
            (
                ["<pre>", *before, "<mid>", *middle, "<suf>", *after, "<eos>"],
                "The middle still stands before the words to its right.",
                "A causal model writes the middle last. What has to stand before it?",
            ),
            (right[:-1], "It never ends.", "How does the model know that the gap is filled?"),
            (
                ["<pre>", *before, "<suf>", *after, "<mid>", *words[start : stop + 1], "<eos>"],
                "The middle is one word too long.",
                "In Python words[start:stop] leaves out words[stop].",
            ),
            (
                [*before, *after, *middle, "<eos>"],
                "The three marks are missing.",
                "Without marks, nobody sees where the gap is.",
            ),
        )
        for wrong, mistake, hint in mistakes:
            reject(got == wrong, mistake, hint)
        reject(
            words is TWICE,
            "A word that stands in the list twice is taken for the same place.",
            "Cut the list by positions, not by the words that stand there.",
        )
        reject(
            start == stop,
            "It goes wrong when the gap is empty.",
            "What is words[3:3]? The marks stay.",
        )
        raise WrongAnswer(
            f"For words[{start}:{stop}] it gives {' '.join(map(str, got))}.",
            "Three marks, three pieces, and the end; the piece that is asked stands last.",
        )
    return "right. A causal mask lets the middle see both sides, because both stand before it."


@exercise("families-6")
def blocks_of_guesses(answer: object) -> str:
    """Large model runs for 12 tokens, with drafts of 4, of which 2 are accepted each time: 4."""
    number = as_number(answer)
    reject(
        number == 12,
        "That is one run for each token.",
        "How many tokens does one run of the large model confirm or correct here?",
    )
    reject(
        number == 6,
        "Each run gives more than the two accepted tokens.",
        "The run that refuses the third guess also knows the right token in its place.",
    )
    reject(
        number == 48,
        "Those are not runs of the large model.",
        "The small model writes the guesses; the large one reads all four at once.",
    )
    reject(
        number == 3,
        "Not all four guesses are kept.",
        "What becomes of the fourth guess, when the third is refused?",
    )
    reject(number != 4, "Not this number.", "Count the new tokens after one run, then divide.")
    return "right: 2 accepted and 1 corrected token a run, 12 / 3 = 4 runs."
