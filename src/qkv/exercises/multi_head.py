"""The exercises of the chapter on multi-head attention: the check of each answer."""

from __future__ import annotations

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
from qkv.numpy import merge_heads

GIB = 2**30


@exercise("multi_head-1")
def join_and_mix(answer: object) -> str:
    """Two heads give 6 and 7; W_O = [[1, 1], [2, −1]]."""
    row = as_array(answer, (2,), "W_O has two columns: one number each.")
    reject_each(
        row,
        ([6, 7], "That is step 4: the two heads, joined.", "One matrix is left."),
        ([7, 6], "These are the two heads, in another order.", "Head 1 comes first; then W_O."),
        (
            [13, 5],
            "W_O was multiplied from the other side, or transposed.",
            "joined @ W_O: column 1 of W_O makes the first number.",
        ),
        (
            [6.5, 6.5],
            "The heads were averaged.",
            "Heads are joined side by side; W_O decides how they are mixed.",
        ),
        (
            [6, 0],
            "Head 1 has read the values of head 2, and head 2 those of head 1.",
            "Each head has values of its own.",
        ),
        tolerance=1e-3,
    )
    reject(
        not is_close(row, [20, -1], 1e-3),
        "Not these two.",
        "First one number a head: weights times values, added up. Then joined @ W_O.",
    )
    return "right: each number of the output can use both heads."


@exercise("multi_head-2")
def count_parameters(answer: object) -> str:
    """Parameters of 12 and of 24 heads of width 64 at d_model = 768."""
    first, second = as_array(answer, (2,), "First 12 heads, then 24.").tolist()
    with_12 = 4 * 768 * 768
    reject(
        first == 3 * 768 * 768,
        "One matrix is missing.",
        "Three project. Which one mixes the heads afterwards?",
    )
    reject(
        first == 12 * with_12,
        "Each head was counted at full width.",
        "A head projects to 64 numbers, not to 768.",
    )
    reject(first == with_12 + 4 * 768, "Biases are counted.", "The question leaves them out.")
    reject(
        first == 4 * 768 * 64,
        "That is one head.",
        "There are 12 of them, side by side.",
    )
    reject(first != with_12, "Not the first.", "How wide are the queries of all 12 heads together?")
    reject(
        second == with_12,
        "The second would be right if d_k fell to 32.",
        "Here d_k stays 64. How wide are 24 such heads together?",
    )
    reject(
        second == 3 * 768 * 24 * 64 + 768 * 768,
        "W_O is counted as before.",
        "It takes the joined heads back to d_model. How wide are they joined?",
    )
    reject(second != 2 * with_12, "Not the second.", "Each of the four has a side of 24 · 64.")
    return "right: what counts is the width of all heads together."


@exercise("multi_head-3")
def evidence(answer: object) -> str:
    """The observations that refute "one head cannot": A and C."""
    reject_choice(
        as_letters(answer, "ABCDE"),
        "AC",
        "The claim says what one head cannot learn. Which results can then not be seen?",
        (
            "ABC",
            "You took every success for a refutation.",
            "About how many heads is the claim?",
        ),
        (
            "DE",
            "You took how her head works now for what a head can learn.",
            "What has to happen once, so that “cannot” is wrong?",
        ),
    )
    return "right: one success refutes “cannot”. It does not refute “needs longer”."


@exercise("multi_head-4")
def merged_heads(answer: object) -> str:
    """`merge(context)`: (B, H, T, d_v) to (B, T, H · d_v)."""
    function = as_function(answer)
    reject(
        answer is merge_heads,
        "That is the package's function.",
        "Swap two axes and reshape, with NumPy alone.",
    )
    rng = np.random.default_rng(0)
    for B, H, T, d in ((2, 3, 5, 7), (1, 4, 2, 3), (3, 1, 4, 2), (2, 5, 3, 4)):
        for dtype in (np.float32, np.float64):
            context = rng.normal(size=(B, H, T, d)).astype(dtype)
            expected = np.concatenate([context[:, h] for h in range(H)], axis=-1)
            got = np.asarray(function(context))
            reject(
                got.shape != expected.shape,
                f"For (B, H, T, d_v) = {context.shape} the shape is {got.shape}.",
                f"It should be (B, T, H · d_v) = {expected.shape}.",
            )
            given = context.copy()
            np.asarray(answer(given))  # type: ignore[operator]
            reject(
                not np.array_equal(given, context),
                "Your function changes its input.",
                "Swapping axes gives a new view; nothing needs to be written into `context`.",
            )
            if np.array_equal(got, expected):
                continue
            reject(
                np.abs(got - expected).max() < 1,
                "The numbers are at their places, but rounded or changed.",
                "Merging moves numbers and computes none. Which type has your result?",
            )
            reject_each(
                got,
                (
                    context.reshape(expected.shape),
                    "The reshape was direct.",
                    "Which axis must stand beside d_v before the two become one?",
                ),
                (
                    context.transpose(0, 2, 3, 1).reshape(expected.shape),
                    "The heads take turns, one number each.",
                    "Head 1 fills the first d_v columns. Which axis changes fastest, then?",
                ),
                (
                    np.concatenate([context[:, h] for h in reversed(range(H))], axis=-1),
                    "The heads are in reverse order.",
                    "Head 1 comes first.",
                ),
            )
            raise WrongAnswer(
                "Some numbers stand in other places.",
                "Fill each head with its own number, and look at one row of the result.",
            )
    return "right: swap first, then reshape. That undoes the split."


@exercise("multi_head-5")
def switched_off(answer: object) -> str:
    """`dense`, of 1 to 36, with which head 2 of two heads of width 3 writes nothing."""
    w_o = as_array(answer, shape=(6, 6)).astype(float)
    dense = np.arange(1.0, 37).reshape(6, 6)
    reject(
        is_close(w_o, dense), "`dense` is unchanged.", "Which of its numbers does head 2 multiply?"
    )
    reject(not w_o.any(), "Now head 1 is off too.", "Leave the part that head 1 is multiplied by.")
    reject(
        is_close(w_o[:, 3:], np.zeros((6, 3))) and bool(w_o[3:].any()),
        "The last columns are zero, and head 2 still writes into the first.",
        "joined @ W_O: which rows are multiplied by the numbers of head 2?",
    )
    reject(
        is_close(w_o[:3], np.zeros((3, 6))),
        "This switches off head 1.",
        "Head 2 fills the last three columns of what is joined.",
    )
    reject(
        not is_close(w_o[3:], np.zeros((3, 6)), 1e-12),
        "Head 2 still writes.",
        "Which numbers of W_O are multiplied by columns 3 to 5 of what is joined?",
    )
    reject(
        not is_close(w_o, np.vstack([dense[:3], np.zeros((3, 6))])),
        "Head 2 is off, but what head 1 adds has changed.",
        "Copy `dense`, and leave the numbers that head 1 is multiplied by.",
    )
    return "right: rows 3 to 5 of W_O are all that head 2 can write with."


@exercise("multi_head-6")
def cache_bytes(answer: object) -> str:
    """GiB of 32 layers, 8 heads of keys and values, d_k = d_v = 128, 32768 tokens, float16."""
    got = as_number(answer)
    right = 32 * 2 * 8 * 128 * 32768 * 2 / GIB  # 4
    reject(
        is_close(got, right * 4, 1e-2),
        "That is with 32 heads of keys and values.",
        "The 32 are heads of queries. Which heads are kept?",
    )
    reject(
        is_close(got, right / 2, 1e-2),
        "A factor 2 is missing.",
        "Keys and values are kept, and a float16 number takes two bytes.",
    )
    reject(
        is_close(got, right / 4, 1e-2),
        "A factor 4 is missing.",
        "Keys and values are kept, and a float16 number takes two bytes.",
    )
    reject(is_close(got, right / 32, 1e-2), "That is one layer.", "There are 32 layers.")
    reject(is_close(got, right * GIB, 1e-2), "That is in bytes.", "Divide by 2 to the power 30.")
    reject(
        is_close(got, right * GIB / 1e9, 5e-3),
        "That is in units of 10 to the power 9 bytes, GB.",
        "A GiB has 2 to the power 30 bytes.",
    )
    reject(
        not is_close(got, right, 5e-3),
        "Not this number.",
        "Layers · 2 (keys and values) · heads · width · tokens · bytes of a number.",
    )
    return "right. With keys and values for all 32 heads it would be four times as much."
