"""The leak detector of the chapter on masks: the models on which an answer is tried."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_function, exercise, reject
from qkv.exercises.masks_helpers import FLOAT_TYPES, Recorder, causal

CORRECT = "It raises the alarm for a correct model in {}."
ROUNDING = (
    "A prefix and the whole differ by rounding, 1e-7 in float32. Does your changed input keep the "
    "dtype, and does your tolerance know it?"
)


@exercise("masks-5")
def leak_detector(answer: object) -> str:
    """`f(attend, x)` says whether any output depends on a later token; x is (B, T, d_model)."""
    function = as_function(answer)
    x = np.random.default_rng(11).normal(size=(2, 6, 5))
    alarm = Recorder(function, x)
    false_alarm, hit = alarm(causal()), alarm(causal(hole=(2, 5)))
    reject(false_alarm and not hit, "True and False are swapped.", "True means: there is a leak.")
    reject(
        alarm.replaces_sentences(),
        "It replaces a whole sentence, not one word of it.",
        "x has three axes, (B, T, d_model). On which one do the words stand?",
    )
    reject(
        false_alarm and alarm.changes_pile_up(),
        "Every change stays in the array when the next token is changed.",
        "`other = x` is a second name for the same array. What would make a new one?",
    )
    reject(false_alarm and alarm.reads_prefixes(), CORRECT.format("float64"), ROUNDING)
    reject(
        false_alarm,
        "It raises the alarm for a causal model too.",
        "When token j changes, output j and those after it may move. Which rows may not?",
    )
    reject(
        not hit,
        "It misses a model whose third output reads the last token.",
        "Is the changed input really different? Do you compare outputs from before and after?",
    )
    reject(
        not alarm(causal(hole=(1, 3))),
        "It misses a leak from token 3 to output 1.",
        "The last token is one suspect. Who are the others?",
    )
    reject(
        not alarm(causal(hole=(0, 1))),
        "It misses a leak from token 1 to output 0.",
        "With which token does your loop begin, and with which output does it end?",
    )
    for j in (2, 4, 5):
        reject(
            not alarm(causal(hole=(0, j))) or not alarm(causal(hole=(j - 1, j))),
            f"It misses a leak from token {j}.",
            "Go through all tokens and all outputs before them: which does your loop leave out?",
        )
    reject(
        not all(alarm(causal(hole=(2, 4), sentence=i)) for i in (0, 1)),
        "It misses a leak in one sentence of the batch.",
        "x holds two sentences. Does each go into the model, and do you read both outputs?",
    )
    reject(
        alarm(causal(pads=2)),
        "It raises the alarm for a correct model whose first row is NaN before and after.",
        "Is nan == nan? What does equal_nan=True do in np.isclose?",
    )
    reject(
        not alarm(causal(pads=2, ahead=1)),
        "It misses an off-by-one mask with <PAD> on the left, where a first row is NaN.",
        "What is nan > 0.1? What does .max() give if one number is NaN?",
    )
    reject(
        not alarm(causal(late=True)),
        "It misses the model that sets weights to zero after softmax.",
        "Its weights look right, its outputs do not. How far must an output move to count?",
    )
    reject(
        not alarm(causal(masked=False, norm=True)),
        "It misses attention with no mask at all, behind a LayerNorm.",
        "LayerNorm subtracts a vector's mean and divides by its spread. What is left of x + 1, "
        "and of 2x?",
    )
    reject(
        not alarm(causal(masked=False, even=True)),
        "It misses a model that reads |x| and has no mask at all.",
        "Replace a word by random numbers. What does |x| show of -x?",
    )
    reject(
        not all(alarm(causal(feature=f)) for f in range(x.shape[-1])),
        "It misses a leak that moves one number of an output up and another one down by as much.",
        "What is left of such a move in a sum or an average? Which numbers do you change, and "
        "which do you compare?",
    )
    for dtype, faint in FLOAT_TYPES.items():
        alarm = Recorder(function, x.astype(dtype))
        name = np.dtype(dtype).name
        for norm in (False, True):
            reject(alarm(causal(norm=norm)), CORRECT.format(name), ROUNDING)
        reject(
            alarm(causal(twice=True)),
            f"It raises the alarm for a correct model in {name} that divides twice.",
            "Each division rounds, so an earlier output moves in its last digit. How large must a "
            "move be before you count it?",
        )
        reject(
            not alarm(causal(faint=faint)),
            f"It misses a leak of {faint:g} in {name}.",
            "A small leak is still far above a rounding error: mind the tolerance.",
        )
    return "right: it finds every leak that was planted, and raises no false alarm."
