"""The exercises of the chapter on families that stand behind its core."""

from __future__ import annotations

from qkv.exercises.checks import WrongAnswer, as_function, as_number, exercise, reject

__all__ = ["blocks_of_guesses", "fill_in_the_middle"]

WORDS = ["The", "cat", "drinks", "the", "cold", "milk"]
GAPS = ((2, 3), (1, 4), (0, 2), (4, 6), (3, 3))  # the last one is empty
TWICE = ["the", "cat", "sees", "the", "dog", "sees", "the", "cat"]


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
