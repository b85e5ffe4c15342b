"""The exercises of the chapter on devices: the check of each answer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

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
from qkv.exercises.choices import OneEach
from qkv.language import gettext

FloatArray = NDArray[np.float64]

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
        ([4096, 4098], "The step is wrong.", "It doubles at each power of two: at 4096 again."),
        ([4096, 4096], "3 is more than half of the step.", "To which neighbour is 4099 nearer?"),
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
    return "right. Left to right, each 1 is lost; together they are more than half of the step."


CAUSES = tuple(dict.fromkeys(DIFFERENCES.values()))


@exercise(
    "devices-2",
    OneEach("ABCDEF", CAUSES, lambda chosen: dict(zip("ABCDEF", chosen, strict=True))),
)
def rounding_or_fault(answer: object) -> str:
    """What each of six differences suggests: rounding, fewer digits, overflow, something else."""
    if not isinstance(answer, Mapping):
        raise WrongAnswer(
            "A dictionary was asked for.", 'It begins {"A": "rounding", "B": …} and goes on to "F".'
        )
    got = {str(k).strip().upper(): str(v).strip().lower() for k, v in answer.items()}
    unknown = set(got.values()) - set(CAUSES)
    reject(
        got.keys() != DIFFERENCES.keys() or unknown,
        "A to F, each with one of four answers, were asked for.",
        'The answers: "rounding", "fewer digits", "overflow", "another computation".',
    )
    reject_choice(
        got,
        DIFFERENCES,
        "For NaN: which format holds larger numbers? Otherwise: is it a few times size · gap of "
        "the format that is named? If it is larger: does it go away when the shorter one does?",
        (
            dict.fromkeys(DIFFERENCES, "rounding"),
            "You took every difference for rounding.",
            "How large is size · gap of the format that is named?",
        ),
    )
    return "right. B and F have one size: the second look tells them apart."


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
        not np.allclose(got, right, rtol=3e-3),  # bfloat16 has two or three digits
        "Not these factors.",
        "Set the average of factor · mean equal to the sum of all gradients, divided by 10.",
    )
    return "right: R · N_r / N. They average to 1, so equal means stay what they are."


@exercise("devices-4")
def a_scale_for_each_group(answer: object) -> str:
    """quantise(w, group): whole numbers from -127 to 127, and a scale for each group."""
    quantise = as_function(answer)
    rng = np.random.default_rng(17)
    sizes = np.repeat([1.0, 1e-6, 30.0, 0.3, 5.0], 7)
    for group, w in ((7, rng.normal(size=35) * sizes), (5, -abs(rng.normal(size=20)))):
        q, scales = _whole_numbers(quantise(w, group), len(w), group)
        rows = w.reshape(-1, group)
        right = abs(rows).max(axis=1) / 127
        reject(
            np.allclose(scales, scales[0]) or is_close(scales[0], abs(w).max() / 127),
            "All groups have the same scale, or that of the whole vector.",
            "Lay w out as rows of one group each, and take the largest size of each row.",
        )
        reject(
            np.allclose(scales * 128, right * 127, rtol=1e-4),
            "Divided by 128, the largest weight becomes 128.",
            "What is the largest number of int8?",
        )
        reject(
            np.allclose(scales * 127, w.reshape(-1, group).max(axis=1), rtol=1e-3, atol=1e-6),
            "A scale was taken from the largest value.",
            "Size, not value: the largest may be negative.",
        )
        reject(
            abs(q).max() > 127 or not np.allclose(scales, right, rtol=1e-3, atol=0),
            "A scale is not the largest size of its group, divided by 127.",
            "w.reshape(-1, group) has one group a row; the largest becomes 127 or −127.",
        )
        off = abs(q * scales[:, None] - rows) / scales[:, None]
        reject(
            off.max() > 0.51,
            "A weight that is read back is more than half a scale off.",
            "Round to the nearest; a cast to int8 alone cuts off.",
        )
    w = np.array([0.5, -1.27, 0, 0])
    with warnings.catch_warnings(record=True) as said, np.errstate(all="warn"):
        warnings.simplefilter("always")
        q, scales = _whole_numbers(quantise(w, 2), 4, 2)
    cast_nan = any("in cast" in str(warning.message) for warning in said)  # to any number
    reject(
        cast_nan or not np.isfinite(scales).all() or (q[1] * scales[1]).any() or scales[1] <= 0,
        "A group of zeros does not come back as zeros, with a scale above 0.",
        "What is 0 / 0? Choose another scale there.",
    )
    return "right. A large weight makes only the steps of its own group coarse."


def _whole_numbers(found: object, n: int, group: int) -> tuple[FloatArray, FloatArray]:
    """q (groups, group) and scales (groups,), of what an answer returned."""
    reject(
        not isinstance(found, tuple | list) or len(found) != 2,
        "Two arrays were asked for: the whole numbers, and the scales.",
        "End with: return numbers, scales",
    )
    q, scales = (np.asarray(part) for part in found)  # type: ignore[attr-defined]
    reject(
        q.size != n or scales.size != n // group,
        gettext(
            "For {n} weights in groups of {group}, {n} whole numbers and {groups} scales were "
            "asked for, not {found_n} and {found_groups}."
        ).format(n=n, group=group, groups=n // group, found_n=q.size, found_groups=scales.size),
        "w.reshape(-1, group) has one group a row.",
    )
    reject(
        q.dtype != np.int8,
        gettext("The first array is {dtype}, not int8.").format(dtype=q.dtype),
        "Only .astype(np.int8) makes it small, after rounding.",
    )
    return q.astype(float).reshape(-1, group), scales.astype(float).reshape(-1)


@exercise("devices-5")
def norm_in_float16(answer: object) -> str:
    """rms_norm(x), float16 in and out, right for rows of large numbers and of zeros."""
    rms_norm = as_function(answer)
    rng = np.random.default_rng(17)
    sizes = np.array([1, 300, 2e4, 0.01, 0, 1e-3])[:, None]  # 1e-3: so that ε is seen
    x = (rng.normal(size=(6, 24)) * sizes).astype(np.float16)
    with np.errstate(all="ignore"):
        got = np.asarray(rms_norm(x.copy()))
    exact = x.astype(float) / np.sqrt((x.astype(float) ** 2).mean(axis=1, keepdims=True) + 1e-8)
    reject(
        got.shape != x.shape,
        gettext("The shape is {shape}, not that of x.").format(shape=got.shape),
        "Divide each row by one.",
    )
    close = np.isclose(got.astype(float), exact, rtol=1.5e-3, atol=1e-4).all(axis=1)
    reject(
        np.isnan(got[4].astype(float)).any(),
        "A row of zeros still comes back as NaN.",
        "What is 1e-8 in float16?",
    )
    reject(
        not close[1] and not got[1].any(),
        "Rows of large numbers still come back as zeros.",
        "How large is 300²? In which format is it computed?",
    )
    reject(
        close[:5].all() and not close[5],
        "A row of numbers near 0.001 is wrong.",
        "Add 1e-8, no other ε, to the mean square.",
    )
    reject(
        not close.all() and np.allclose(got, exact, rtol=1e-2, atol=1e-2),
        "All rows are nearly right.",
        "Does a part keep fewer digits than float16, or use a larger ε?",
    )
    reject(
        not close[[1, 2]].all(),
        "Rows of large numbers are wrong.",
        "No number need be cut: compute the squares in a format that holds them.",
    )
    reject(
        not close.all(),
        "Ordinary or small rows are wrong.",
        "Keep the formula and its 1e-8; change the format that it is computed in.",
    )
    reject(
        got.dtype != np.float16,
        gettext("The result is {dtype}.").format(dtype=got.dtype),
        "The next layer expects float16: cast the result back.",
    )
    return "right. No square is ∞, and 1e-8 is not 0. Both hold if squares and sums are float32."


@exercise("devices-6")
def safe_words(answer: object) -> str:
    """safe(logits, e): the rows whose largest logit leads by more than 2 e."""
    safe = as_function(answer)
    rng = np.random.default_rng(17)
    for _ in range(5):
        logits = rng.normal(size=(40, 11)) * np.logspace(-1.5, 0.5, 40)[:, None] - 1
        first, second = np.sort(logits, axis=1)[:, [-1, -2]].T
        e, lead = float(np.median(first - second)) * 0.6, first - second
        got = np.asarray(safe(logits.copy(), e))
        reject(
            got.shape != (40,),
            gettext(
                "For logits of shape (40, 11) the shape is {shape}; (40,) is asked for."
            ).format(shape=got.shape),
            "One truth value for each row.",
        )
        spread = first - logits.min(axis=1)
        size = np.sort(abs(logits), axis=1)[:, [-1, -2]]
        reject(
            got.all() or not got.any(),
            "All rows get the same answer.",
            "Here some leads are larger than 2 e, and some smaller.",
        )
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
    large = np.array([[1000.0, 1000.2, 0], [1000.3, 1000.2, 0]])
    got = np.asarray(safe(large.copy(), 0.08)).astype(bool)
    reject(
        not np.array_equal(got, [True, False]),
        "Logits near 1,000 with leads of 0.2 and 0.1 come out wrong, for e = 0.08.",
        "Is there a shorter format on the way? float16 has a step of 0.5 there.",
    )
    return "right. Where it says True, no device within e can choose another word."


@exercise("devices-7")
def scale_the_loss(answer: object) -> str:
    """A factor by which gradients from 1e-9 to 2 are kept in float16: about 600 to 32,750."""
    factor = as_number(answer)
    reject(not np.isfinite(factor), "That is no finite number.", "Choose one above 0.")
    reject(factor == 0, "Then every gradient is 0.", "It has to be above 0.")
    reject(factor < 0, "A factor below 0 turns every step.", "It has to be positive.")
    with np.errstate(over="ignore"):
        small, large = np.float16(1e-9 * factor), np.float16(2 * factor)
    reject(
        factor == 1,
        "So nothing is scaled.",
        "In float16, 1e-9 is 0.",
    )
    reject(small == 0, "The smallest gradient is still 0.", "The smallest number is 6e-8.")
    reject(np.isinf(large), "The largest gradient is infinite.", "float16 ends at 65,504.")
    gradients = np.append(np.logspace(-9, 0, 4000), 2)
    stored = (gradients * factor).astype(np.float16).astype(float) / factor
    reject(
        abs(stored / gradients - 1).max() > 0.05,
        "Some of the small gradients are kept with an error of more than 5 %.",
        "Below 6e-5 float16 loses digits. Raise the factor.",
    )
    return "right. After backward, in float32, the gradients are divided by it again."


@exercise("devices-8")
def lost_in_bfloat16(answer: object) -> str:
    """Two numbers from 8 to 16, at least 0.05 apart, that are one number in bfloat16."""
    got = as_array(answer, shape=(2,)).astype(float)
    low, high = sorted(float(x) for x in got)
    reject(low < 8 or high >= 16, "Not both are from 8 to below 16.", "Choose them near 10.")
    reject(
        high - low < 0.05 - 1e-9,
        "They are less than 0.05 apart.",
        "The step is 0.0625 there. Move them to the two ends of what is rounded to one number.",
    )
    first, second = (bfloat16(x) for x in (low, high))
    reject(
        first != second,
        gettext("They become {first} and {second}.").format(first=first, second=second),
        "All numbers nearer to 10 than to 10 − 0.0625 or 10 + 0.0625 become 10.",
    )
    return gettext(
        "right: both become {number}. Two words with these logits cannot be told apart."
    ).format(number=first)
