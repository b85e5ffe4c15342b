"""The exercises behind the core of the chapter on the feed-forward network."""

from __future__ import annotations

from qkv.exercises.checks import as_number, exercise, reject

__all__ = ["numbers_that_cannot_learn", "swiglu_width"]


@exercise("feed_forward-5")
def numbers_that_cannot_learn(answer: object) -> str:
    """Gradient entries that are 0 because one unit of a 3–2–3 network is dead: 3 + 1 + 3."""
    number = as_number(answer)
    reject(number == 3, "Only one of the matrices is counted.", "A unit stands in both of them.")
    reject(
        number == 4,
        "What comes before the unit is counted, and what comes after it is not.",
        "The gradient of a row of W_2 is the unit's value times something.",
    )
    reject(
        number == 6,
        "Both matrices are counted.",
        "The unit has one more number of its own.",
    )
    reject(
        number == 17,
        "These are all the numbers of the network.",
        "The other unit still learns, and so does b_2.",
    )
    reject(
        number in (8, 10),
        "b_2 does learn.",
        "It is added after both units. Does its gradient ask what the units say?",
    )
    reject(
        number == 9,
        "That is what the four verbs give.",
        "Two of the nine belong to unit 2. It is active for one verb, and x has zeros there.",
    )
    reject(
        number != 7,
        "Not this number.",
        "Count the unit's column of W_1, its entry of b_1 and its row of W_2.",
    )
    return (
        "right: plain gradient descent leaves them where they are as long as the inputs stay. "
        "Momentum, weight decay or other inputs may move them."
    )


@exercise("feed_forward-6")
def swiglu_width(answer: object) -> str:
    """The largest d_ff of SwiGLU with no more weights than 512 → 2048 → 512: 1365."""
    number = as_number(answer)
    reject(
        number == 2048,
        "Then SwiGLU has half as many weights again.",
        "How many matrices has it?",
    )
    reject(
        number == 1024,
        "That is half.",
        "Not twice as many matrices: three in place of two.",
    )
    reject(
        1365 < number <= 1366,
        "That is a little too many.",
        "The number of units is whole, and the weights may not be more.",
    )
    reject(number == 3072, "The wrong way round.", "More matrices, so fewer units.")
    reject(
        number != 1365,
        "Not this number.",
        "Write both counts: 2 · 512 · 2048 on one side, 3 · 512 · d_ff on the other.",
    )
    return "right: two thirds of 2048, rounded down."
