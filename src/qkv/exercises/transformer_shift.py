"""The exercise of the chapter on the whole Transformer that shifts the target by one."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import WrongAnswer, as_function, exercise, is_close, reject

__all__ = ["shift_right"]

PAD, SOS, EOS = 0, 1, 2


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
