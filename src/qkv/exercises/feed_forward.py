"""The exercises of the chapter on the feed-forward network: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import (
    as_array,
    as_letters,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)

VERBS = np.array([[0.0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]])  # (T, d_model)
W_1 = np.array([[1.0, -1], [-1, 1], [0, 0]])  # (d_model, d_ff)
TOLERANCE = 1e-3  # weights may be written as decimals


@exercise("feed_forward-1")
def network_by_hand(answer: object) -> str:
    """x = (1, 2) through three units, one of them below 0: (1, 3)."""
    out = as_array(answer)
    reject(
        out.size == 3,
        "These are the three units.",
        "One step is left: W_2 and b_2 take them back to d_model numbers.",
    )
    out = as_array(answer, (2,), "The output is as wide as x.")
    reject_each(
        out,
        (
            [-5, -3],
            "No activation yet.",
            "One of the three units is below 0 before the activation.",
        ),
        (
            [0, 0],
            "The activation came at the end.",
            "It stands between the two matrices, and the output may be negative.",
        ),
        ([1, 2], "One bias is missing.", "Which bias is added after W_2?"),
        ([2, 3], "One bias is missing.", "Which bias is added before the activation?"),
        ([2, 2], "Both biases are missing.", "The formula has two of them."),
        ([2, 5], "x was added.", "That is the residual connection. Here only FFN(x) is asked for."),
        tolerance=TOLERANCE,
    )
    reject(
        not is_close(out, [1, 3], TOLERANCE),
        "Not these numbers.",
        "Write the three units first: one column of W_1 for each. Then set negative ones to 0.",
    )
    return "right: the third unit was at −2, so it adds nothing."


@exercise("feed_forward-2")
def dead_unit(answer: object) -> str:
    """A bias b_1 under which unit 1 is 0 for all four verbs, and unit 2 is as it was."""
    b_1 = as_array(answer, (2,), "b_1 has one number for each unit.").astype(float)
    before = VERBS @ W_1
    after = before + b_1
    first, second = np.maximum(0, after).T
    reject(not np.isfinite(after).all(), "A bias is a finite number.", "A small one will do.")
    reject(
        is_close(first, np.maximum(0, before[:, 1])) or not second.any(),
        "Unit 2 has changed, or both have.",
        "The first number of b_1 belongs to unit 1, the second to unit 2.",
    )
    reject(
        not is_close(second, np.maximum(0, before[:, 1])),
        "Unit 2 has changed.",
        "Which number leaves a sum as it is?",
    )
    reject(
        first.max() > 0,
        f"Unit 1 still reaches {first.max():g} for one of the verbs.",
        "Its largest sum before the activation is 1. What has to be added to end at 0 or below?",
    )
    return "right: now a missing -s is not found, and no other verb changes."


@exercise("feed_forward-3")
def evidence(answer: object) -> str:
    """The observations that prove that a layer is not position-wise: A and D."""
    reject_choice(
        as_letters(answer, "ABCD"),
        "AD",
        "Ask of each: does one function, applied to every token by itself, show it too?",
        (
            "AB",
            "You took every change of the outputs for proof.",
            "Apply the same function to each row. What moves when the rows change their order?",
        ),
    )
    return "right: A and D show other tokens at work. Self-attention alone does B and C too."


@exercise("feed_forward-4")
def one_unit(answer: object) -> str:
    """Weights and a bias (w, w, b) with relu(x · w + b) = 1 for (1, 1), and 0 else."""
    which = "The weight of *negated*, the weight of *past*, and the bias."
    *weights, bias = as_array(answer, (3,), which).astype(float)
    cases = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    sums = cases @ weights + bias
    unit = np.maximum(0, sums)
    reject(
        is_close(unit, [0, 1, 1, 2], TOLERANCE),
        "Each feature alone is enough for it.",
        "Which bias takes a sum of 1 down to 0?",
    )
    reject(
        is_close(unit, [0, 1, 1, 0], TOLERANCE) or is_close(unit, [0, 0, 0, 0], TOLERANCE),
        "It is 0 for (1, 1).",
        "Both features have to push the unit up.",
    )
    reject(
        unit[0] > TOLERANCE,
        "It is active when neither feature is there.",
        "For (0, 0) the sum is the bias alone.",
    )
    reject(
        bool((unit[1:3] > TOLERANCE).any()),
        "It is active for one feature alone.",
        "For (1, 0) the sum is one weight and the bias. It may be 0 at most.",
    )
    reject(
        not is_close(unit[3], 1, TOLERANCE),
        f"For (1, 1) it is {unit[3]:g}.",
        "Both weights and the bias have to sum to 1.",
    )
    return (
        "right: one ReLU unit is enough for *and*. XOR takes two if x itself is not added. "
        "With a residual connection, the sum of the features − 2 · (this unit) is XOR."
    )


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
