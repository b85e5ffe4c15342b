"""The exercises of the chapter on queries, keys and values: the check of each answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from qkv.exercises.attention_from_scratch import attention_from_scratch
from qkv.exercises.attention_further import large_weight_without_effect, uniform_attention
from qkv.exercises.attention_helpers import (
    NO_ATTENTION,
    TOLERANCE,
    additive,
    correct,
    in_float32,
    nearest,
    plain_average,
)
from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_each,
)

__all__ = [
    "attention_detector",
    "attention_from_scratch",
    "large_weight_without_effect",
    "mix_by_hand",
    "same_vector_added",
    "uniform_attention",
    "weights_by_hand",
]


@exercise("attention-1")
def weights_by_hand(answer: object) -> str:
    """Softmax of the scores (0, ln 3)."""
    weights = as_array(answer, shape=(2,))
    halved = 1 / (1 + 3 ** (1 / math.sqrt(2)))
    reject_each(
        weights,
        (
            [0, math.log(3)],
            "These are the scores themselves.",
            "A weight is e to the score, divided by something.",
        ),
        ([1, 3], "The exponentials are right, but they sum to 4.", "Weights share out exactly 1."),
        (
            [0, 1],
            "You divided the scores by their sum; a softmax takes exponentials first.",
            "What is e to the power of 0?",
        ),
        (
            [0.75, 0.25],
            "The right numbers, the wrong way round.",
            "The larger score gets the larger weight.",
        ),
        (
            [halved, 1 - halved],
            "You scaled by √2.",
            "Here the scores are given, and there is no scale.",
        ),
        tolerance=TOLERANCE,
    )
    reject(not is_close(weights, [0.25, 0.75], TOLERANCE), "Not these.", "e to the ln 3 is 3.")
    return "right. A difference of ln 3 between scores is a factor of 3 between weights."


@exercise("attention-2")
def mix_by_hand(answer: object) -> str:
    """One query, two keys, d_k = 4, values 10 and 0."""
    mix = as_number(answer)

    def given(score: float) -> float:
        return 10 / (1 + math.exp(-score))

    reject(
        is_close(mix, 20) or is_close(mix, 40),
        "The score itself multiplied the value: there was no softmax.",
        "A mix of 10 and 0 lies between 0 and 10.",
    )
    reject_each(
        mix,
        (
            given(4),
            "The scores went into the softmax unscaled.",
            "Between score and softmax stands a division.",
        ),
        (given(1), "You divided the scores by d_k.", "The formula has a root: √4 is not 4."),
        (10 / (1 + math.e**2), "The weights are swapped.", "Which key does the query agree with?"),
        (
            given(2) / 10,
            "This is the first key's weight.",
            "The weight is a share of something: what are the values?",
        ),
        tolerance=0.005,
    )
    reject(not is_close(mix, given(2), 0.005), "Not this.", "Score, scale, softmax, mix: in order.")
    return "right: e²/(e² + 1) of the first value."


@exercise("attention-3")
def same_vector_added(answer: object) -> str:
    """Which weights move when one vector is added to every key, query, value?"""
    given = as_array(answer)
    reject(
        given.shape != (3,),
        f"Three truth values were asked for; this has shape {given.shape}.",
        "One for the keys, one for the queries, one for the values: (True, False, True), say.",
    )
    moves = [bool(x) for x in given]
    reject(
        moves[2],
        "The weights never see the values.",
        "Which of Q, K and V stand inside the softmax?",
    )
    reject(
        not moves[1],
        "Adding c to every query does move the weights.",
        "Word j's score grows by c·k_j. Is that the same for each j?",
    )
    reject(
        moves[0],
        "Adding c to every key moves the scores, but not the weights.",
        "Row i's scores all grow by the same number, q_i·c. What does a softmax do with that?",
    )
    return (
        "right. A softmax sees differences only: what all the keys share is invisible "
        "(so a constant vector added to all keys has nothing to learn)."
    )


@exercise("attention-4")
def attention_detector(answer: object) -> str:
    """A function that tells an attention with any score from what is no attention."""
    detector = as_function(answer)

    def is_attention(attention: Callable[..., Any]) -> bool:
        try:
            return bool(detector(attention))
        except WrongAnswer as error:
            if "raised" not in error.mistake:
                raise
            hint = "The function given to you takes q, k and v, and returns the output alone."
            raise WrongAnswer(error.mistake, hint) from error

    reject(
        not is_attention(correct),
        "Your detector refuses scaled dot-product attention.",
        "Print your properties one by one for it. Which of them fails?",
    )
    reject(
        not is_attention(in_float32),
        "Your detector refuses a right attention that computes in float32.",
        "Two results that should agree differ by about 0.0000001: compare with a tolerance.",
    )
    reject(
        not (is_attention(additive) and is_attention(nearest)),
        "Your detector refuses an attention that has another score than the dot product.",
        "Do not compare with one formula. Which properties hold whatever the score is?",
    )
    reject(
        not is_attention(plain_average),
        "Your detector refuses the plain average of all values.",
        "Its weights are equal, positive and sum to 1: here it counts as attention.",
    )
    for slip, (attention, hint) in NO_ATTENTION.items():
        reject(is_attention(attention), f"One that is no attention got through: {slip}.", hint)
    return "right: five attentions accepted, seven others refused, and no formula to compare with."
