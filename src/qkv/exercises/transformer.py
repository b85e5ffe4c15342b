"""The exercises of the chapter on the whole Transformer: the check of each answer."""

from __future__ import annotations

from qkv.exercises.checks import (
    as_array,
    as_letters,
    as_number,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.exercises.transformer_further import sizes_without_error, smallest_vocabulary
from qkv.exercises.transformer_shift import shift_right

__all__ = [
    "count_by_hand",
    "evidence",
    "shapes_by_hand",
    "shift_right",
    "sizes_without_error",
    "smallest_vocabulary",
]


@exercise("transformer-1")
def shapes_by_hand(answer: object) -> str:
    """Shapes of memory, cross-attention weights and logits: S 9, T 5, d_model 64, h 4, V 423."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    reject(
        len(parts) != 3 or any(isinstance(part, int) for part in parts),
        "Three shapes were asked for.",
        "Write them as a list of three tuples, such as [(2, 3), (4, 5, 6), (7, 8)].",
    )
    memory, weights, logits = (tuple(as_array(part).ravel().tolist()) for part in parts)
    reject(
        memory[:1] == (1,) and len(memory) == 3,
        "These shapes have an axis for the batch.",
        "Leave out the axis of length 1.",
    )
    reject(memory == (64, 9), "In this book a token is a row.", "Put the tokens on the first axis.")
    reject(memory == (5, 64), "That is the decoder's length.", "How many tokens does it read?")
    reject(memory == (9, 16), "That is one head.", "The heads are joined before the layer ends.")
    reject(memory != (9, 64), "The first shape is wrong.", "What goes in equals what comes out.")
    reject(
        weights == (4, 9, 5),
        "Rows and columns of the second shape are exchanged.",
        "Whose tokens ask, and whose answer? A query is a row.",
    )
    reject(
        weights in ((4, 9, 9), (4, 5, 5)),
        "The second shape is that of a self-attention.",
        "Cross-attention has its queries from one text and its keys from another.",
    )
    reject(weights == (5, 9), "The second shape is that of one head.", "There are four heads.")
    reject(
        weights == (3, 4, 5, 9), "The second shape holds three layers.", "One attention is asked."
    )
    reject(weights != (4, 5, 9), "The second shape is wrong.", "Heads, then queries, then keys.")
    reject(
        logits in ((1, 423), (423,)),
        "The third shape is one row.",
        "How many tokens has the decoder read, and which of them get a prediction?",
    )
    reject(logits == (9, 423), "The source gets no logits.", "Which half predicts?")
    reject(logits == (5, 64), "That is before the last linear layer.", "One logit for each what?")
    reject(logits != (5, 423), "The third shape is wrong.", "A row of logits for each token read.")
    return "right. The number of layers appears in none of the three."


@exercise("transformer-2")
def count_by_hand(answer: object) -> str:
    """Parameters of a decoder layer with d_model 4, d_ff 8, two heads and biases: 260."""
    got = as_number(answer)
    reject_each(
        got,
        (172, "That is an encoder layer.", "How many attentions has a decoder layer?"),
        (236, "The norms are missing.", "γ and β of each norm are learnt too."),
        (252, "One norm is missing.", "Each of the sub-layers has a norm of its own."),
        (244, "Two norms are missing.", "Each of the sub-layers has a norm of its own."),
        (248, "Each norm has more than that.", "γ and β have d_model numbers each."),
        (216, "The biases are missing.", "Each linear layer adds one number for each output."),
        (192, "Only matrices are counted.", "Biases, γ and β are learnt too."),
        (420, "The matrices were counted once for each head.", "What is the width of a head?"),
        (80, "That is one attention.", "Count the other sub-layers and the norms as well."),
        (160, "That is two attentions.", "Count the feed-forward part and the norms as well."),
        (184, "The feed-forward part is missing.", "It has two matrices and two biases."),
    )
    reject(
        not is_close(got, 260.0),
        "Not this number.",
        "Count one attention, the feed-forward part and one norm. Then how many there are of each.",
    )
    return "right: 2 · 80 + 76 + 3 · 8."


@exercise("transformer-3")
def evidence(answer: object) -> str:
    """The observations that refute "the decoder reads the encoder's last layer": B and D."""
    letters = as_letters(answer, "ABCDE")
    reject(
        "A" in letters,
        "A is what the correct model does.",
        "The last layer is computed from the first. Did it stay as it was in A?",
    )
    reject(
        "C" in letters,
        "C holds in every model here.",
        "A softmax gives rows of sum 1, whatever the keys are.",
    )
    reject(
        "E" in letters,
        "E is what the correct model does.",
        "If the last layer stays, may anything move?",
    )
    reject(
        "B" not in letters,
        "One is missing.",
        "The decoder's input from the English side is held fixed. Which result is then impossible?",
    )
    reject(
        "D" not in letters,
        "Another is missing.",
        "What would happen to a decoder that reads the last layer, if that layer says nothing?",
    )
    return "right: hold the last layer and nothing may move; destroy it and something must."
