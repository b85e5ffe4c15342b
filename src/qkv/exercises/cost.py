"""The exercises of the chapter on cost: the check of each answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from qkv.counting import count_operations
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

Array = np.ndarray[Any, Any]


def _window(q: Array, k: Array, r: int) -> Array:
    scores = np.full((len(q), r), -np.inf)
    for i, j in np.ndindex(*scores.shape):
        if i - r + 1 + j >= 0:
            scores[i, j] = q[i] @ k[i - r + 1 + j]
    return scores


def _reject_wasted_work(function: Callable[..., Any]) -> None:
    n, d, r = 12, 2, 3
    q, k = np.random.default_rng(1).normal(size=(2, n, d))
    done = count_operations(lambda q, k: function(q, k, r), q, k).multiplications
    reject(
        done == 0,
        "No multiplication could be counted.",
        "Compute with NumPy on the arrays as they come; do not convert them.",
    )
    reject(
        done > n * r * d,
        f"The scores are right, but it took {done} multiplications.",
        f"With n = {n}, d = {d}, r = {r} there are n · r · d = {n * r * d}: compute no score that "
        "you do not return.",
    )


@exercise("cost-1")
def which_layer(answer: object) -> str:
    """The letters of self-attention, recurrent, convolution and restricted attention: CBDA."""
    letters = "".join(map(str, answer)) if isinstance(answer, list | tuple | str) else ""
    letters = "".join(filter(str.isalnum, letters)).upper()
    reject(
        sorted(letters) != list("ABCD"),
        "Four different letters were asked for.",
        'One string such as "ABCD": self-attention, recurrent, convolution, restricted.',
    )
    reject_choice(
        letters,
        "CBDA",
        "Take one row of the table at a time: which layers grow as n, which as d, who waits?",
        (
            "CDBA",
            "You told the layers apart by their products alone.",
            "Which of those that multiply equally often has to wait for its earlier results?",
        ),
        (
            "ABDC",
            "You took layers for each other that agree while n = r.",
            "Which of them becomes fourfold when n doubles?",
        ),
        (
            "ADBC",
            "You read the first row alone, where layers look alike.",
            "Begin with the chains: one layer needs n multiplications one after another.",
        ),
    )
    return "right: what grows, and what has to wait, tell the layers apart."


@exercise("cost-2")
def overtaking_length(answer: object) -> str:
    """Decoder layer with cross-attention, d = 512: 8 n² d = 32 n d² at n = 4 d = 2,048."""
    n = as_number(answer)
    reject_each(
        n,
        (3072, "That is the encoder layer.", "A decoder layer has a second attention."),
        (
            4096,
            "The n² part of one attention is missing.",
            "Cross-attention has scores too: T · S of them, and here S = n.",
        ),
        (
            1536,
            "The projections of cross-attention are missing.",
            "It has W_Q, W_K, W_V and W_O of its own.",
        ),
        (4, "That is n / d.", "With d = 512, which n is it?"),
        (
            1024,
            "All projections are missing.",
            "Each of the two attentions has four matrices.",
        ),
        (
            1365,
            "Some projections of cross-attention were counted twice.",
            "Its queries come from n target tokens, its keys and values from n source tokens.",
        ),
    )
    reject(
        not is_close(n, 2048), "Not this n.", "Add up: n² part of both attentions, then the rest."
    )
    return "right: 8 n² d against 16 n d² + 16 n d²."


@exercise("cost-3")
def refuting_observations(answer: object) -> str:
    """The observations that refute "more than half of the time is scores": B, D and F."""
    reject_choice(
        as_letters(answer, "ABCDEF"),
        "BDF",
        "Write down for each what the claim predicts: between which bounds does the time lie, if "
        "more than half of it is this part?",
        (
            "AB",
            "You took every time below four times for a refutation.",
            "Only the n² part becomes fourfold. What is the least that the claim allows?",
        ),
    )
    return "right: a share above one half leaves at least 3 times for n, and at most 3 for d."


@exercise("cost-4")
def window_scores(answer: object) -> str:
    """`window_scores(q, k, r)`: (n, r) scores with r n d multiplications at most."""
    function = as_function(answer)
    rng = np.random.default_rng(0)
    for n, d, r in ((5, 3, 2), (7, 2, 4), (4, 5, 1), (6, 2, 6), (3, 2, 5)):
        q, k = rng.normal(size=(2, n, d))
        got = as_array(function(q, k, r))
        right, full = _window(q, k, r), q @ k.T
        reject(
            got.shape == (n, n) != (n, r),
            f"The shape is ({n}, {n}), that of all scores.",
            f"One column for each key of the window: ({n}, {r}).",
        )
        reject(got.shape != (n, r), f"The shape is {got.shape}.", f"It should be ({n}, {r}).")
        blocked = np.isneginf(right)
        reject(
            not np.isneginf(got[blocked]).all(),
            "Keys before the first token have scores.",
            "No such key exists: −∞ stands there, as behind a mask.",
        )
        if is_close(got[~blocked], right[~blocked]):
            continue
        rows = slice(r - 1, n - r + 1)  # those with r keys before them and r behind
        ahead = np.array([full[i, i : i + r] for i in range(n)[rows]])
        reject_each(
            got[rows],
            (
                right[rows, ::-1],
                "The columns are in reverse order.",
                "The last column is the query's own key.",
            ),
            (
                right[rows] / np.sqrt(d),
                "The scores are scaled.",
                "Plain dot products are asked for.",
            ),
            (ahead, "The window looks ahead.", "It ends at the query's own position."),
        )
        raise WrongAnswer(
            "Some scores stand in other places.",
            "Row i, column j: q_i · k_(i − r + 1 + j), all counted from 0.",
        )
    _reject_wasted_work(function)
    return "right: the work grows with n · r, and so does the memory."


@exercise("cost-5")
def batch_at_the_ridge(answer: object) -> str:
    """2 B d² FLOPs at 120 · 10⁹ a second take as long as 4 d² bytes at 40 · 10⁹: B = 6."""
    batch = as_number(answer)
    reject_each(
        batch,
        (
            3,
            "That is the intensity of the ridge, in FLOPs a byte.",
            "How many FLOPs does a batch of B do with the four bytes of one weight?",
        ),
        (
            12,
            "One FLOP was counted for each weight and text.",
            "A multiplication and an addition.",
        ),
        (1.5, "The weights have two bytes there.", "A float32 number has four."),
        (24, "The bytes are those of float32 twice.", "Each weight is read once, four bytes."),
        (1 / 6, "That is upside down.", "More texts need more time to compute, not to read."),
    )
    reject(
        not is_close(batch, 6, 1e-3),
        "Not this batch.",
        "Write both times with B and d², and make them equal.",
    )
    return "right: below it the processor waits for the weights."


@exercise("cost-6")
def what_a_faster_chip_helps(answer: object) -> str:
    """Four times the peak, the same bandwidth: only B and E have 600 FLOPs a byte or more."""
    reject_choice(
        as_letters(answer, "ABCDE"),
        "BE",
        "Count for each: how many FLOPs for each byte that is read? Compare with the ridges.",
        (
            "ABDE",
            "You took every product of matrices for one that does many FLOPs a byte.",
            "How often is a number used that was read: a weight by tokens, a key by queries?",
        ),
    )
    return "right: only what does 600 FLOPs a byte, twice the old ridge, becomes twice as fast."
