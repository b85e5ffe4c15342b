"""The exercises of the chapter on families: the check of each answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.exercises.checks import (
    TWO_DECIMALS,
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    as_sets,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import Letters
from qkv.language import gettext


def _labels(ids: np.ndarray, prefix: int, pad_id: int) -> np.ndarray:
    labels = np.full_like(ids, -100)
    labels[:, :-1] = ids[:, 1:]
    labels[:, : prefix - 1] = -100
    labels[labels == pad_id] = -100
    return labels


def _rolled(ids: np.ndarray, prefix: int, pad_id: int) -> np.ndarray:
    labels = np.roll(ids, -1, axis=1)
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
            -np.log10(asked).mean(),
            "That is the logarithm to base 10.",
            "In NumPy, np.log is the natural logarithm, and np.log10 is not.",
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


@exercise("families-3", Letters("ABCDEF"))
def evidence(letters: str) -> str:
    """The observations that show that a guess uses words to the right: B and D."""
    reject_choice(
        letters,
        "BD",
        "Ask of each: would a model that reads the left side alone, or nothing, show it too? How "
        "often can the best rule of that kind be right?",
        (
            "BE",
            "You took every word that moves the guess for evidence.",
            "On which side of the gap does the replaced word stand?",
        ),
        (
            "AD",
            "You took every high score for evidence.",
            "Which score can a constant guess reach at that gap, or a rule from the left side?",
        ),
        (
            "ACDF",
            "You took scores, losses and training for what the model reads.",
            "Which score can no rule from the left side reach? And must a model use what it saw in "
            "training?",
        ),
    )
    return "right: B changes the right side alone, and D is better than any rule from the left."


@exercise("families-4")
def prefix_batch(answer: object) -> str:
    """`f(ids, prefix, pad_id)`: the mask (T, T), and each row's answer, −100 if not asked."""
    function = as_function(answer)
    long = np.array([[3, 8, 5, 9, 4, 2, 0, 0], [7, 6, 5, 4, 8, 9, 3, 2], [5, 5, 1, 6, 6, 2, 0, 0]])
    short = np.array([[4, 7, 1, 2, 0], [9, 9, 3, 1, 2]])
    cases = ((long, 4, 0), (long, 2, 0), (short, 3, 0), (long, 3, 9), (short, 1, 0))
    for ids, prefix, pad_id in cases:
        got = function(ids.copy(), prefix, pad_id)
        reject(
            not isinstance(got, list | tuple) or len(got) != 2,
            "Two arrays were asked for.",
            "End in return mask, answers.",
        )
        _check_prefix_mask(as_array(got[0]), ids.shape[1], prefix)
        _check_prefix_labels(as_array(got[1]), ids, prefix, pad_id)
    kept = long.copy()
    answer(kept, 4, 0)  # type: ignore[operator]
    reject(
        not np.array_equal(kept, long),
        "It writes into the reader's own ids.",
        "The model still reads them. Write the answers into a new array.",
    )
    return "right: one column for each given word, and questions from the last of them on."


def _check_prefix_mask(got: Any, T: int, prefix: int) -> None:
    triangle, given = np.tri(T, dtype=bool), np.arange(T) < prefix
    right = triangle | given
    reject(
        got.shape not in ((T, T), (1, T, T), (1, 1, T, T)),
        gettext("For {T} tokens the shape of the mask is {shape}.").format(T=T, shape=got.shape),
        gettext("({T}, {T}): queries are rows, keys are columns.").format(T=T),
    )
    got = got.reshape(T, T)
    reject(
        got.dtype.kind == "f" and not np.isin(got, (0, 1)).all(),
        "The mask is no array of True and False.",
        "True = allowed. The −∞ comes later, inside attention.",
    )
    reject_each(
        got,
        (~right, "True and False are exchanged.", "In this book True means allowed."),
        (triangle if prefix > 1 else ~right, "This is GPT's mask.", "Who sees the given words?"),
        (np.ones_like(right), "This is BERT's mask.", "What is blocked behind the given words?"),
        (
            triangle & given,
            "What follows sees the given words alone.",
            "A later row sees the words between, too, and itself: which of the two holds, or both?",
        ),
        (
            right.T,
            "Rows and columns are exchanged.",
            "A given word is allowed *as a key*: a whole column.",
        ),
        (
            triangle | (np.arange(T) < prefix + 1),
            "One given word too many.",
            "With prefix 2, the keys 0 and 1 are allowed in every row.",
        ),
        (
            triangle | (np.arange(T) < prefix - 1) if prefix > 2 else ~right,
            "One given word is missing.",
            "With prefix 3, the keys 0, 1 and 2 are allowed in every row.",
        ),
    )
    reject(
        not np.array_equal(got, right),
        "Some cells of the mask are wrong.",
        "Draw it for four tokens, of which two are given.",
    )


def _check_prefix_labels(got: Any, ids: np.ndarray, prefix: int, pad_id: int) -> None:
    right, T = _labels(ids, prefix, pad_id), ids.shape[1]
    reject(
        got.shape != ids.shape,
        gettext("For ids of shape {expected} the shape of the answers is {shape}.").format(
            expected=ids.shape, shape=got.shape
        ),
        "One answer for each row, the last one included: what comes after the last token?",
    )
    reject(
        got.dtype.kind not in "iu",
        gettext("The answers are {dtype} numbers.").format(dtype=got.dtype),
        "Answers are ids, and cross-entropy takes whole numbers. Which entry made them others?",
    )
    if np.array_equal(got, right):
        return
    reject_each(
        got,
        (
            np.where(right == -100, pad_id, right),
            "Rows that are not asked have the id of <pad> as their answer.",
            "The loss leaves out −100. What does it do with another number?",
        ),
        (
            _labels(ids, prefix + 1, pad_id),
            "The first answer is missing.",
            "The last given row predicts the token that comes after it.",
        ),
        (
            _labels(ids, prefix - 1, pad_id),
            "One given row too many is asked.",
            "Which row predicts the first token that is not given?",
        ),
        (
            _labels(ids, 1, pad_id),
            "All given rows are asked too.",
            "They see their own answers. Which rows are not asked?",
        ),
        (
            np.where(_labels(ids, prefix, 0) == 0, -100, _labels(ids, prefix, 0)),
            "The id of <pad> is taken to be 0.",
            "The function is told which id it is: pad_id.",
        ),
        (
            _rolled(ids, prefix, pad_id),
            "The last row is asked for the first token.",
            "np.roll goes round. The last row is not asked.",
        ),
        (
            _labels(ids, prefix, -1),
            "Rows have to predict <pad>.",
            "Which answers are filler, and no text?",
        ),
        (
            np.where(ids == pad_id, -100, _labels(ids, prefix, -1)),
            "A row is left out if it *reads* <pad>.",
            "The last word of a sentence reads no <pad>. What is its answer?",
        ),
        (
            np.where((np.arange(T) < prefix) | (ids == pad_id), -100, ids),
            "Each row has to predict the token that it reads.",
            "Shift the ids by one: row i predicts token i + 1.",
        ),
    )
    raise WrongAnswer(
        "Some answers are wrong.",
        "Take [[7, 8, 9, 2]] with prefix 2 and write the four answers on paper.",
    )


@exercise("families-5")
def masked_batch(answer: object) -> str:
    """`f(ids, gaps, mask_id)`: what a BERT reads, and the answers of the gaps alone."""
    function = as_function(answer)
    ids = np.array([[5, 8, 6, 9, 0], [7, 7, 4, 8, 6]])
    rows = np.array([[9, 4, 9, 5, 6, 8, 4]])
    cases = (
        (ids, np.array([[0, 0, 1, 0, 0], [0, 1, 0, 0, 1]]) > 0, 3),
        (rows, np.array([[0, 1, 0, 0, 0, 0, 1]]) > 0, 2),
        (ids, np.zeros((2, 5), dtype=bool), 3),
        (ids, np.array([[0, 0, 1, 0, 0], [0, 1, 0, 0, 0]]) > 0, 8),  # 8 stands in ids already
    )
    for tokens, gaps, mask_id in cases:
        got = function(tokens, gaps, mask_id)
        reject(
            not isinstance(got, list | tuple) or len(got) != 2,
            "Two arrays were asked for.",
            "What the model reads, and the answers, in this order.",
        )
        reads, answers = (as_array(part, tokens.shape) for part in got)
        reject(
            answers.dtype.kind not in "iu",
            gettext("The answers are {dtype} numbers.").format(dtype=answers.dtype),
            "Answers are ids, and cross-entropy takes whole numbers.",
        )
        masked = np.where(gaps, mask_id, tokens)
        reject(
            np.array_equal(reads, tokens) and gaps.any(),
            "Nothing is masked.",
            "The model still has to read [MASK] in each gap.",
        )
        reject(
            not np.array_equal(reads, masked),
            "What the model reads is not right.",
            "[MASK] in the gaps, and every other token as it was.",
        )
        mistakes = (
            (
                np.where(gaps, mask_id, -100),
                "The gaps have the answer [MASK].",
                "When are the answers taken from ids, and what stands in ids by then?",
            ),
            (
                tokens,
                "More rows are asked than the gaps.",
                "The model would still learn. But rows that see their answer make the loss look "
                "good: mark them by −100.",
            ),
            (
                np.where(gaps, tokens, 0),
                "Rows that are not asked have the answer 0.",
                "−100 marks them.",
            ),
        )
        marked = np.where(reads == mask_id, tokens, -100)
        reject(
            np.array_equal(answers, marked) and not np.array_equal(reads == mask_id, gaps),
            "A row is asked that is no gap.",
            "[MASK] can stand in ids already. What says where the gaps are?",
        )
        for wrong, mistake, hint in mistakes if gaps.any() else ():
            reject(np.array_equal(answers, wrong), mistake, hint)
        reject(
            not np.array_equal(answers, np.where(gaps, tokens, -100)),
            "The answers are not right.",
            "In a gap the token that stood there, and −100 everywhere else.",
        )
    kept = rows.copy()
    answer(kept, *cases[1][1:])  # type: ignore[operator]
    reject(
        not np.array_equal(kept, rows),
        "It writes [MASK] into the reader's own ids.",
        "In the next epoch the words are gone. Which line makes a new array?",
    )
    return "right: the answers are words again, and ids stay as they were."


@exercise("families-6", Letters("ABCDEFG"))
def same_outputs(letters: str) -> str:
    """What can be done to a trained model with the same logits: A, C and F."""
    reject_choice(
        letters,
        "ACF",
        "Ask of each: with the same weights, is the same formula computed for every text, or "
        "a different one? Rounded weights are others. And what does a product with zeros add?",
    )
    return "right: blocks and a causal cache compute the same formula, and A times 0 adds nothing."


def _in_order(before: list[str], middle: list[str], after: list[str]) -> list[str]:
    return ["<pre>", *before, "<suf>", *after, "<mid>", *middle, "<eos>"]


@exercise("families-7")
def fill_in_the_middle(answer: object) -> str:
    """`f(words, start, stop)`: <pre> prefix <suf> suffix <mid> middle <eos>."""
    function = as_function(answer)
    for words, start, stop in (*((WORDS, *gap) for gap in GAPS), (TWICE, 3, 5), (TWICE, 6, 7)):
        before, middle, after = words[:start], words[start:stop], words[stop:]
        right = _in_order(before, middle, after)
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
                _in_order(before, words[start : stop + 1], after),
                "The middle is one word too long.",
                "In Python words[start:stop] leaves out words[stop].",
            ),
            (
                _in_order(before, words[start : stop + 1], words[stop + 1 :]),
                "The word at stop is taken for a part of the gap.",
                "The gap is words[start:stop], so words[stop] stands behind it.",
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
            gettext("For words[{start}:{stop}] it gives {words}.").format(
                start=start, stop=stop, words=" ".join(map(str, got))
            ),
            "Three marks, three pieces, and the end; the piece that is asked stands last.",
        )
    return "right. A causal mask lets the middle see both sides, because both stand before it."


@exercise("families-8")
def tokens_of_three_runs(answer: object) -> str:
    """Tokens from drafts of 4 of which 2, 0 and 4 are accepted: 3 + 1 + 5 = 9."""
    number = as_number(answer)
    reject_each(
        number,
        (
            6,
            "Each run gives more than the accepted tokens.",
            "The run that refuses a guess also knows the right token in its place.",
        ),
        (
            8,
            "One token is missing.",
            "If all four guesses are accepted, what does the last row of that run predict?",
        ),
        (12, "Not all guesses are kept.", "What becomes of the guesses behind a refused one?"),
        (15, "Each run is counted as if all were accepted.", "Which guesses are kept in each run?"),
        (3, "That is one token for each run.", "How many are accepted, and what comes with them?"),
    )
    reject(number != 9, "Not this number.", "Count the new tokens of each run, one by one.")
    return "right: 2 + 1, 0 + 1 and 4 + 1 tokens, together 9."
