"""The exercises of the chapter on the whole Transformer: the check of each answer."""

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

PAD, SOS, EOS = 0, 1, 2


def _name_shift(
    inputs: np.ndarray, answers: np.ndarray, ids: np.ndarray, right: np.ndarray
) -> None:
    pads = np.full((len(ids), 1), PAD)
    left = np.concatenate([ids[:, 1:], pads], 1)
    reject(
        is_close(inputs, ids) and is_close(answers, right),
        "The two are in the wrong order.",
        "First what the decoder reads, then what it has to predict.",
    )
    reject(
        inputs.shape != ids.shape or answers.shape != ids.shape,
        f"The shapes are {inputs.shape} and {answers.shape}, not {ids.shape}.",
        "One token in front, and how many leave at the end?",
    )
    reject(
        is_close(inputs, ids) and is_close(answers, ids),
        "Nothing is shifted: each row reads its own answer.",
        "What may the first row read, before any word is written?",
    )
    reject(
        is_close(answers, left) and is_close(inputs, right),
        "Shifted twice: each row predicts the word after the next one.",
        "Shift one of the two.",
    )
    reject(
        is_close(inputs, left) or (is_close(inputs, ids) and is_close(answers, left)),
        "The first word is never predicted, or the shift goes the other way.",
        "Row 0 reads <sos> and predicts the first word.",
    )
    reject(
        is_close(inputs, np.roll(ids, 1, axis=1)),
        "The last token came round to the front.",
        "What stands at the front of every decoder input?",
    )
    reject(
        is_close(inputs[:, 1:], right[:, 1:]) and is_close(answers, ids),
        "The first token of the input is not <sos>.",
        "Its id is 1.",
    )
    raise WrongAnswer(
        "Some tokens are in the wrong place.",
        "Write down both rows for the ids 7 5 2: three tokens each.",
    )


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
    reject_choice(
        as_letters(answer, "ABCDE"),
        "BD",
        "What does the claim forbid when the last layer is held, and what when it is destroyed?",
        (
            "AB",
            "You took every move of the logits for a refutation.",
            "Which layers had changed when they moved?",
        ),
    )
    return "right: hold the last layer and nothing may move; destroy it and something must."


@exercise("transformer-4")
def shift_right(answer: object) -> str:
    """`f(ids)` gives what the decoder reads and what it has to predict: both (B, T)."""
    function = as_function(answer)
    for ids in (
        np.array([[7, 5, 9, 6, EOS]]),
        np.array([[4, 8, 6, EOS, PAD, PAD], [9, 5, 7, 4, 8, EOS], [3, 7, EOS, PAD, PAD, PAD]]),
    ):
        got = function(ids.copy())
        reject(
            not isinstance(got, tuple | list) or len(got) != 2,
            "Two arrays were asked for.",
            "End with: return inputs, answers.",
        )
        inputs, answers = (np.asarray(part) for part in got)
        first = np.full((len(ids), 1), SOS)
        right = np.concatenate([first, ids[:, :-1]], 1)
        if is_close(inputs, right) and is_close(answers, ids):
            continue
        _name_shift(inputs, answers, ids, right)
    return "right. Row t reads what stands before token t, and predicts token t."


@exercise("transformer-5")
def sizes_without_error(answer: object) -> str:
    """(S, T) at which scores q @ k raise no error in any attention, with d_k = 8: (8, 8)."""
    sizes = as_array(answer, (2,), "Write S and T as a pair, such as (6, 7).")
    reject_each(
        sizes,
        ([6, 7], "These are the sizes that raise an error.", "Which two axes does q @ k pair up?"),
        ([32, 32], "That is d_model.", "Queries and keys of one head: how wide are they?"),
        ([4, 4], "That is the number of heads.", "How wide is one head?"),
    )
    source, target = sizes.tolist()
    reject(
        source != 8,
        "The encoder's attention still raises an error.",
        "q is (S, d_k) there, and so is k. When can q @ k be computed?",
    )
    reject(
        target != 8,
        "The decoder's self-attention still raises an error.",
        "It has T queries and T keys.",
    )
    return "right: (8, 8). One test with S = T = d_k would have missed this bug."


@exercise("transformer-6")
def smallest_vocabulary(answer: object) -> str:
    """Smallest V at which the base model, without biases, rounds to 65 million: 39,841."""
    got = as_number(answer)
    reject_each(
        got,
        (39_840, "One too few.", "64,500,000 must be reached."),
        (40_818, "That reaches 65.0 million.", "From which number on is a count rounded to 65?"),
        (40_817, "That reaches 65.0 million.", "From which number on is a count rounded to 65?"),
        (19_921, "The table was counted twice.", "Both languages and the output share one table."),
        (13_281, "The table was counted three times.", "It is stored once."),
    )
    reject(0 < abs(got - 39_841) < 20, "Close.", "Divide exactly, then round up.")
    reject(
        not is_close(got, 39_841.0),
        "Not this number.",
        "Take away what does not depend on V. How much does one more word cost?",
    )
    return "right: (64,500,000 − 44,101,632) / 512, rounded up."
