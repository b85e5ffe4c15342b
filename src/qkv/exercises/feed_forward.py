"""The exercises of the chapter on the feed-forward network: the check of each answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.exercises.checks import (
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import Letters
from qkv.language import gettext

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
def bends_where_wanted(answer: object) -> str:
    """W_2 of the units n, n − 1, n − 2, n − 3 for the outputs 0, 1, 0, 0, 1: (1, −2, 1, 1)."""
    weights = as_array(answer)
    reject(weights.size == 5, "These are five outputs.", "There is one weight for each unit.")
    reject(weights.size != 4, "Four weights were asked for.", "There is one for each unit.")
    weights = weights.astype(float).reshape(4)
    n = np.arange(5.0)[:, None]
    out = np.maximum(0, n - np.arange(4)) @ weights
    reject(
        is_close(weights, [1, -1, 0, 1], TOLERANCE),
        "These are the rises of the output.",
        "A unit goes on rising after its bend. What does the next one have to add to it?",
    )
    reject(
        is_close(weights, [0, 1, 0, 0], TOLERANCE) or is_close(weights, [1, 0, 0, 1], TOLERANCE),
        "These are outputs.",
        "A weight says by how much the rise changes at the bend of its unit.",
    )
    reject(
        not is_close(out, [0, 1, 0, 0, 1], TOLERANCE),
        gettext("The outputs are {outputs}.").format(outputs=", ".join(f"{v:g}" for v in out)),
        "Begin at n = 1, where only the first unit is above 0. Then n = 2, and so on.",
    )
    return "right: three changes along a line. One LayerNorm alone allows two."


@exercise("feed_forward-3", Letters("ABCD"))
def evidence(letters: str) -> str:
    """The observations that prove that a layer is not position-wise: A and D."""
    reject_choice(
        letters,
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
def negated_and_past(answer: object) -> str:
    """W_1, b_1, W_2, b_2 of a network that writes "negated and past" to the third number."""
    four = "Four parts, in this order: W_1, b_1, W_2, b_2."
    reject(
        not isinstance(answer, list | tuple),
        "A list or a tuple was asked for.",
        "It has four parts.",
    )
    parts = list(answer)  # type: ignore[call-overload]
    reject(len(parts) != 4, gettext("There are {count} parts.").format(count=len(parts)), four)
    w_1, b_1, w_2, b_2 = (as_array(part).astype(float) for part in parts)
    width = b_1.size
    if width == 1:  # one unit: a plain list of three numbers is its column, or its row
        w_1 = w_1.reshape(3, 1) if w_1.shape == (3,) else w_1
        w_2 = w_2.reshape(1, 3) if w_2.shape == (3,) else w_2
    b_2 = np.full(3, b_2.item()) if b_2.size == 1 else b_2
    b_2 = b_2.reshape(3) if b_2.size == 3 else b_2
    shapes = {"W_1": (w_1, (3, width)), "W_2": (w_2, (width, 3)), "b_2": (b_2, (3,))}
    for name, (matrix, wanted) in shapes.items():
        reject(
            matrix.shape != wanted,
            gettext("{name} has shape {shape}.").format(name=name, shape=matrix.shape),
            gettext("b_1 says that d_ff is {d_ff}. Then it is {shape}.").format(
                d_ff=width, shape=wanted
            ),
        )
    finite = all(np.isfinite(part).all() for part in (w_1, b_1, w_2, b_2))
    reject(not finite, "A weight is a finite number.", "Small ones will do.")
    tokens = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    out = np.maximum(0, tokens @ w_1 + b_1.reshape(-1)) @ w_2 + b_2
    said = out[:, 2]
    reject(
        is_close(said, [0, 1, 1, 2], TOLERANCE) or is_close(said, [0, 1, 1, 1], TOLERANCE),
        "Each feature alone is enough for it.",
        "Which bias takes a sum of 1 down to 0?",
    )
    reject(
        is_close(said, [0, 0, 0, 0], TOLERANCE),
        "It writes nothing for any token.",
        "For (1, 1, 0) the sum of a unit has to be above 0.",
    )
    reject(
        not is_close(said, [0, 0, 0, 1], TOLERANCE),
        gettext("It writes {outputs} for (0, 0), (1, 0), (0, 1), (1, 1).").format(
            outputs=", ".join(f"{v:g}" for v in said)
        ),
        "Compute the sum of each unit for each of these four, then what its row of W_2 adds.",
    )
    reject(
        not is_close(out[:, :2], np.zeros((4, 2)), TOLERANCE),
        "The third number is right, but the other two are not 0.",
        "Row by row, W_2 says what a unit writes to each of the three numbers.",
    )
    return (
        "right: one ReLU unit is enough for *and*. A linear map behind x + FFN(x) can now read "
        "XOR: negated + past − 2 · (third number)."
    )


@exercise("feed_forward-5")
def share_of_gpt_2_xl(answer: object) -> str:
    """The share that the networks have of GPT-2 XL's matrices and its table: 0.632."""
    share = as_number(answer)
    share = share / 100 if share > 1 else share
    layers = 12 * 48 * 1600
    table, own = 50_257, 8 * 48 * 1600  # all counts over d
    for wrong, mistake, hint in (
        (8 / 12, "That is the share of the layers.", "The table has weights too: tokens times d."),
        (4 / 12, "That is attention's share of the layers.", "The networks were asked for."),
        (
            own / (layers * 4 / 3 + table),
            "That counts two attentions a layer.",
            "A decoder-only model has no encoder to attend to.",
        ),
        (
            layers / (layers + table),
            "That is the share of the layers in the model.",
            "How much of a layer is the network?",
        ),
        (own / 48 / (own / 48 * 1.5 + table), "That is a model of one layer.", "It has 48."),
    ):
        reject(abs(share - wrong) < 0.005, mistake, hint)
    reject(
        abs(share - own / (layers + table)) > 0.006,
        "Not this share.",
        "Count network, attention and table each in multiples of d² or d. Which go above the line?",
    )
    return "right: 63 %. In GPT-2 small, with the same table, it is 46 %."


@exercise("feed_forward-6")
def repaired_network(answer: object) -> str:
    """`f(x, W_1, b_1, W_2, b_2)` with no token moved, and the B that hides one fault: 1."""
    reject(
        not isinstance(answer, list | tuple) or len(answer) != 2,
        "Two things were asked for.",
        "The repaired function, then a comma and the number of sentences.",
    )
    parts = list(answer)  # type: ignore[call-overload]
    function, hides = as_function(parts[0]), as_number(parts[1])
    rng = np.random.default_rng(8)
    for batch, length in ((2, 3), (3, 3), (4, 2)):
        x = rng.normal(size=(batch, length, 4))
        weights = [rng.normal(size=size) for size in ((4, 5), (5,), (5, 4), (4,))]
        w_1, b_1, w_2, b_2 = weights
        got = np.asarray(function(x, *weights))
        reject(
            got.shape != x.shape,
            gettext("For x of shape {x} the shape is {shape}.").format(x=x.shape, shape=got.shape),
            "One output for each token: (B, T, d_model).",
        )
        between = np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2
        at_the_end = np.maximum(0, (x @ w_1 + b_1) @ w_2 + b_2)
        neither = (x @ w_1 + b_1) @ w_2 + b_2

        def moved(out: np.ndarray[Any, Any], length: int = length) -> np.ndarray[Any, Any]:
            return out.reshape(length, -1, 4).swapaxes(0, 1)

        reject_each(
            got,
            (
                moved(at_the_end),
                "As it was handed out.",
                "Compute two sentences, each alone and both together. Then look for the ReLU.",
            ),
            (
                at_the_end,
                "One fault is left: no output is ever negative.",
                "Between which two steps does the formula have its max?",
            ),
            (
                moved(between),
                "One fault is left: outputs stand at other tokens.",
                "In which order do the rows lie in the long table?",
            ),
            (
                neither,
                "The ReLU is gone.",
                "Then two matrices are one. Where does the formula have its max?",
            ),
        )
        reject(
            not is_close(got, between, 1e-5),
            "Not these outputs.",
            "Put the formula beside the function, line by line; then undo the first reshape.",
        )
    reject(
        hides != 1,
        "The function is right. The number is not.",
        "When are the shapes (T, B, d_model), axes swapped, and (B, T, d_model) the same rows?",
    )
    return "right: with one sentence, no row can go to another one."


@exercise("feed_forward-7")
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
        "Two of these learn.",
        "Unit 2 is active for some tokens, and no entry of a token is 0.",
    )
    reject(
        number != 7,
        "Not this number.",
        "Go through the four parts. In each: which numbers touch the dead unit, and only it?",
    )
    return (
        "right: plain gradient descent leaves them where they are as long as the inputs stay. "
        "Momentum, weight decay or other inputs may move them."
    )


@exercise("feed_forward-8")
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
        "Count the weights of each. How many belong to one unit of SwiGLU?",
    )
    return "right: two thirds of 2048, rounded down."
