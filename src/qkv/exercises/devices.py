"""The exercises of the chapter on devices: the check of each answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)

DIFFERENCES = {
    "A": "rounding",
    "B": "fewer digits",
    "C": "rounding",
    "D": "fewer digits",
    "E": "overflow",
    "F": "another computation",
}


def bfloat16(x: float) -> float:
    """x rounded to bfloat16, to the nearest: the upper 16 bits of float32."""
    bits = int(np.float32(x).view(np.uint32))
    bits += 0x7FFF + (bits >> 16 & 1)  # the half, and to even where it is just the half
    return float(np.uint32(bits & 0xFFFF0000).view(np.float32))


@exercise("devices-1")
def order_of_a_sum(answer: object) -> str:
    """4096 + 1 + 1 + 1 in float16: 4096 from left to right, 4100 if the ones are added first."""
    got = as_array(answer, shape=(2,)).astype(float)
    reject_each(
        got,
        ([4099, 4099], "That is the exact sum, twice.", "4099 is no float16 number."),
        ([4096, 4099], "The second is not rounded.", "Between 4096 and 8192, how far apart?"),
        ([4096, 4098], "The gap is wrong.", "It doubles at each power of two: at 4096 again."),
        ([4096, 4096], "3 is more than half of the gap.", "To which neighbour is 4099 nearer?"),
        ([4100, 4096], "The two are exchanged.", "Left to right begins with the large number."),
        (
            [4100, 4100],
            "One 1 at a time is too small.",
            "Round after each addition, not at the end.",
        ),
    )
    reject(
        not is_close(got, [4096.0, 4100.0]),
        "Not these numbers.",
        "Write down the neighbours of 4096 first, then round after each addition.",
    )
    return "right. Left to right, each 1 is lost; together they are more than half of the gap."


@exercise("devices-2")
def rounding_or_fault(answer: object) -> str:
    """What each of six differences suggests: rounding, fewer digits, overflow, something else."""
    if not isinstance(answer, Mapping):
        raise WrongAnswer(
            "A dictionary was asked for.", 'It begins {"A": "rounding", "B": …} and goes on to "F".'
        )
    got = {str(k).strip().upper(): str(v).strip().lower() for k, v in answer.items()}
    unknown = set(got.values()) - set(DIFFERENCES.values())
    reject(
        got.keys() != DIFFERENCES.keys() or unknown,
        "A to F, each with one of four answers, were asked for.",
        'The answers: "rounding", "fewer digits", "overflow", "another computation".',
    )
    reject_choice(
        got,
        DIFFERENCES,
        "Compare each with 10 times the gap of the format that is named. If it is larger: which "
        "shorter format would leave it, and can finite numbers do it at all?",
        (
            dict.fromkeys(DIFFERENCES, "rounding"),
            "You took every difference for rounding.",
            "How large is the gap of the format that is named, times 10?",
        ),
    )
    return "right. The size of a difference suggests a format; it does not prove it."


@exercise("devices-3")
def share_of_each(answer: object) -> str:
    """Factors on the means of 6, 3 and 1 tokens before three processes average: 1.8, 0.9, 0.3."""
    got = as_array(answer, shape=(3,)).astype(float)
    right = np.array([1.8, 0.9, 0.3])
    reject_each(
        got,
        (
            np.ones(3),
            "So the mean of means stays.",
            "A token of the third process counts too much.",
        ),
        (right / 3, "These are the shares of the batch.", "DDP then divides by 3."),
        (right[::-1], "The order is reversed.", "Whose mean stands for most tokens?"),
        (
            [6, 3, 1],
            "With these the sum is taken, and a third of it.",
            "What is left to divide by?",
        ),
        (1 / right, "These are the reciprocals.", "More tokens need a larger factor."),
        ([2, 1, 1 / 3], "The factors have the right proportions.", "Try three means that are 1."),
    )
    reject(
        not is_close(got, right),
        "Not these factors.",
        "Set the average of factor · mean equal to the sum of all gradients, divided by 10.",
    )
    return "right: R · N_r / N. They average to 1, so equal means stay what they are."


@exercise("devices-4")
def safe_words(answer: object) -> str:
    """safe(logits, e): the rows whose largest logit leads by more than 2 e."""
    safe = as_function(answer)
    rng = np.random.default_rng(17)
    for _ in range(5):
        logits = rng.normal(size=(40, 11)) - 5
        first, second = np.sort(logits, axis=1)[:, [-1, -2]].T
        e, lead = float(np.median(first - second)) * 0.6, first - second
        got = np.asarray(safe(logits.copy(), e))
        reject(
            got.shape != (40,),
            f"For logits of shape (40, 11) the shape is {got.shape}; (40,) is asked for.",
            "One truth value for each row.",
        )
        spread = first - logits.min(axis=1)
        size = np.sort(abs(logits), axis=1)[:, [-1, -2]]
        reject_each(
            got.astype(float),
            (lead > e, "A lead of e is not enough.", "Both logits can move, towards each other."),
            (lead < 2 * e, "True and False are exchanged.", "True = the word cannot change."),
            (spread > 2 * e, "This compares with the smallest logit.", "Who could overtake first?"),
            (first > 2 * e, "The logit itself says nothing.", "A lead is a difference of two."),
            (size[:, 0] - size[:, 1] > 2 * e, "Sizes were sorted.", "Logits may be negative."),
        )
        reject(
            not np.array_equal(got.astype(bool), lead > 2 * e),
            "Some rows are wrong.",
            "Sort each row, and take its last two entries.",
        )
    edge = np.array([[1.0, 0.5, 0], [2, 2, 0], [3, 0, -1]])  # leads of 0.5, 0 and 3
    got = np.asarray(safe(edge.copy(), 0.25)).astype(bool)
    reject(
        got[1], "Two logits that are equal are not safe.", "Count the largest once: its lead is 0."
    )
    reject(
        got[0],
        "A lead of just 2 e is not safe.",
        "Both logits can move by e, and are equal then. Which word is chosen is open.",
    )
    reject(not got[2], "A lead of 3 with e = 0.25 is safe.", "Compare it with 2 e.")
    return "right. Where it says True, no device within e can choose another word."


@exercise("devices-5")
def scale_the_loss(answer: object) -> str:
    """A factor by which gradients from 1e-9 to 0.01 are kept in float16: about 600 to 6.5e6."""
    factor = as_number(answer)
    reject(not np.isfinite(factor), "That is no finite number.", "Choose one above 0.")
    reject(factor <= 0, "A factor below 0 turns every step.", "It has to be positive.")
    with np.errstate(over="ignore"):
        small, large = np.float16(1e-9 * factor), np.float16(0.01 * factor)
    reject(
        factor == 1,
        "So nothing is scaled.",
        "In float16, 1e-9 is 0.",
    )
    reject(small == 0, "The smallest gradient is still 0.", "The smallest number is 6e-8.")
    reject(np.isinf(large), "The largest gradient is infinite.", "float16 ends at 65,504.")
    gradients = np.logspace(-9, -2, 4000)
    stored = (gradients * factor).astype(np.float16).astype(float) / factor
    reject(
        abs(stored / gradients - 1).max() > 0.05,
        "Some of the small gradients are kept with an error of more than 5 %.",
        "Below 6e-5 float16 loses digits. Raise the factor.",
    )
    return "right. After backward, in float32, the gradients are divided by it again."


@exercise("devices-6")
def lost_in_bfloat16(answer: object) -> str:
    """Two numbers from 8 to 16, at least 0.05 apart, that are one number in bfloat16."""
    got = as_array(answer, shape=(2,)).astype(float)
    low, high = sorted(float(x) for x in got)
    reject(low < 8 or high >= 16, "Not both are from 8 to below 16.", "Choose them near 10.")
    reject(
        high - low < 0.05 - 1e-9,
        "They are less than 0.05 apart.",
        "The gap is 0.0625 there. Move them to the two ends of what is rounded to one number.",
    )
    first, second = (bfloat16(x) for x in (low, high))
    reject(
        first != second,
        f"They become {first} and {second}.",
        "All numbers nearer to 10 than to 10 − 0.0625 or 10 + 0.0625 become 10.",
    )
    return f"right: both become {first}. Two words with these logits cannot be told apart."
