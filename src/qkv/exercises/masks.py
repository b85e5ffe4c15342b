"""The exercises of the chapter on masks: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_array, as_function, exercise, is_close, reject
from qkv.exercises.masks_further import (
    added_twice,
    key_padding_mask,
    packed_documents_mask,
    visible_keys,
)
from qkv.exercises.masks_helpers import (
    FLOAT_TYPES,
    TOLERANCE,
    Recorder,
    as_letters,
    as_row,
    as_sets,
    causal,
    reject_each,
)

__all__ = [
    "added_twice",
    "blind_spot",
    "evidence",
    "key_padding_mask",
    "leak_detector",
    "packed_documents_mask",
    "two_masks",
    "visible_keys",
    "weights_by_hand",
]


@exercise("masks-1")
def weights_by_hand(answer: object) -> str:
    """The second row of a causal map whose exponentials are 2, 6, 3, 5."""
    row = as_row(answer)
    reject_each(
        row,
        (
            [0.125, 0.375, 0, 0],
            "These four do not sum to 1.",
            "The future was cut after the division. What is still in the denominator?",
        ),
        ([0.125, 0.375, 0.1875, 0.3125], "No mask yet.", "Which keys come later than row two?"),
        (
            [0.2, 0.6, 0.1, 0.1],
            "The future scores were set to 0, and they still get weight.",
            "What is e to the power 0? Which score has exponential 0?",
        ),
        ([2 / 11, 6 / 11, 3 / 11, 0], "That is row three.", "The second row sees one key fewer."),
        ([1, 0, 0, 0], "It does not see itself.", "Does the diagonal belong to the triangle?"),
    )
    reject(
        not is_close(row, [0.25, 0.75, 0, 0], TOLERANCE),
        "Not these weights.",
        "Cross out what is blocked first; then divide what is left by its sum.",
    )
    return "right: cross out first, divide afterwards."


@exercise("masks-2")
def two_masks(answer: object) -> str:
    """Keys allowed to `AI`, and to the first `<PAD>`, in `<PAD> <PAD> I study AI hard`."""
    word, filler = as_sets(answer, "First the keys of `AI`, then those of the first <PAD>.")
    reject(
        word == {3, 4, 5},
        "The first list looks like positions counted from 1.",
        "Python counts from 0: the first <PAD> stands at position 0.",
    )
    reject(5 in word, "Position 5 comes later than `AI`.", "Which words has `AI` read?")
    reject(
        bool(word & {0, 1}),
        "Positions 0 and 1 hold <PAD>.",
        "A key must be allowed by both masks, not by one of them.",
    )
    reject(
        word == {2, 3},
        "`AI` does not see itself here.",
        "Does the diagonal belong to the causal mask?",
    )
    reject(word != {2, 3, 4}, "Not the first.", "Ask two questions of each key: real? not later?")
    reject(
        filler == {0},
        "The first <PAD> may not even see itself.",
        "It is not later than itself. But what does the padding mask block?",
    )
    reject(
        bool(filler),
        "Not the second.",
        "Write down what the causal mask allows in row 0, then what the padding mask leaves of it.",
    )
    return "right. And the second list is empty: a row in which every key is blocked."


@exercise("masks-3")
def evidence(answer: object) -> str:
    """The observations that prove a leak: A and E."""
    letters = as_letters(answer, "ABCDE")
    reject(
        "B" in letters,
        "B is what a sound model does.",
        "Output 4 and those after it have read word 4. Which outputs may not move?",
    )
    reject(
        "C" in letters,
        "C does not prove a leak, and it does not exclude one.",
        "Remember the colleague: what else can carry the later word into a row?",
    )
    reject(
        "D" in letters,
        "D is a reason to test, and no proof.",
        "Do you know how low the loss of a sound model can be on that text?",
    )
    reject(
        "A" not in letters,
        "One is missing.",
        "How far does an earlier output move in a sound model: a little, or not at all?",
    )
    reject(
        "E" not in letters,
        "Another is missing.",
        "Three words alone have never met the fourth. What should their outputs be?",
    )
    return "right: an earlier output that moves is a proof. All else is a reason to look."


@exercise("masks-4")
def blind_spot(answer: object) -> str:
    """A (6, 6) mask that leaks, and that replacing the last word does not find."""
    mask = as_array(answer, shape=(6, 6))
    reject(
        mask.dtype != np.bool_,
        f"The entries are {mask.dtype}.",
        "Masks in this book are boolean: np.tri(6, dtype=bool).",
    )
    later = ~np.tri(6, dtype=bool)
    reject(
        bool((mask.sum(axis=1) == 0).any()),
        "In some row every key is blocked.",
        "Begin with the sound mask, and change one entry of it.",
    )
    reject(
        not mask[later].any(),
        "This mask does not leak.",
        "Allow one key that comes later than its query.",
    )
    reject(
        bool((mask & later)[:, 5].any()),
        "The test finds it: an earlier output moves with the last word.",
        "The test looks at one column only. Which?",
    )
    return "right: a test of one word is blind to all the others. Replace each word in turn."


SOUND = "It raises the alarm for a sound model in {}."
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
    reject(false_alarm and alarm.reads_prefixes(), SOUND.format("float64"), ROUNDING)
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
    for dtype, faint in FLOAT_TYPES.items():
        alarm = Recorder(function, x.astype(dtype))
        name = np.dtype(dtype).name
        for norm in (False, True):
            reject(alarm(causal(norm=norm)), SOUND.format(name), ROUNDING)
        reject(
            not alarm(causal(faint=faint)),
            f"It misses a leak of {faint:g} in {name}.",
            "A small leak is still far above a rounding error: mind the tolerance.",
        )
    return "right: it finds every leak that was planted, and raises no false alarm."
