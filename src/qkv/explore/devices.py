"""Explorer of the chapter on devices: one number in five formats, and a sum in four orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qkv.explore.framework.panels import Table
from qkv.language import gettext, gettext_noop


@dataclass(frozen=True)
class Format:
    """Bits of the exponent and of the fraction; the largest number, and whether ∞ is beyond it."""

    exponent: int
    fraction: int
    largest: float
    infinity: bool = True


INT8 = "int8"
FORMATS = {
    "float32": Format(8, 23, (2 - 2**-23) * 2.0**127),
    "bfloat16": Format(8, 7, (2 - 2**-7) * 2.0**127),
    "float16": Format(5, 10, 65504.0),
    "float8": Format(4, 3, 448.0, infinity=False),  # E4M3
}
NAMES = (*FORMATS, INT8)
NUMBERS = (1e-8, 2e-5, 0.1, 1, 3.14, 16, 100, 256, 300, 2048, 70000, 16777216)
ONES = (8, 64, 512)
SMALLEST_INT8, LARGEST_INT8 = -128, 127
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def place(x: float, name: str) -> int:
    """The exponent e of x = ±1.fraction · 2^e; below the smallest normal number, that number's."""
    smallest = 2 - (1 << FORMATS[name].exponent - 1)
    return max(math.frexp(x)[1] - 1, smallest) if x else smallest


def gap(x: float, name: str) -> float:
    """Distance of x, at least its format's smallest step, from the next larger number."""
    return 1.0 if name == INT8 else 2.0 ** (place(x, name) - FORMATS[name].fraction)


def stored(x: float, name: str) -> float:
    """x rounded to the nearest number of a format, to the even one of two; int8 has step 1.

    Beyond the largest number stands ∞; float8 and int8 have none and stay at the largest.
    """
    if math.isinf(x):
        return x
    if name == INT8:
        return float(min(max(round(x), SMALLEST_INT8), LARGEST_INT8))
    step, form = gap(x, name), FORMATS[name]
    nearest = round(x / step) * step  # Python rounds a half to the even neighbour
    if abs(nearest) <= form.largest:
        return nearest
    return math.copysign(math.inf if form.infinity else form.largest, x)


def bits(x: float, name: str) -> list[tuple[str, str, str]]:
    """The bits of a number of the format, as (part, bits, what they say)."""
    if name == INT8:
        return [(gettext("whole number"), f"{int(x) % 256:08b}", f"{x:g}")]
    form = FORMATS[name]
    sign = (gettext("sign"), "1" if x < 0 else "0", "−" if x < 0 else "+")
    if math.isinf(x):
        ones, zeros = "1" * form.exponent, "0" * form.fraction
        return [
            sign,
            (gettext("exponent"), ones, gettext("all ones")),
            (gettext("fraction"), zeros, "∞"),
        ]
    power = place(x, name)
    significand = abs(x) / 2.0**power  # from 1 to 2; below 1 if there are no smaller powers
    biased = power + 2 ** (form.exponent - 1) - 1 if significand >= 1 else 0
    fraction = round(significand % 1 * 2**form.fraction)
    return [
        sign,
        (
            gettext("exponent"),
            f"{biased:0{form.exponent}b}",
            f"2{str(power).translate(SUPERSCRIPT)}",
        ),
        (gettext("fraction"), f"{fraction:0{form.fraction}b}", f"{significand:.7g}"),
    ]


def left_to_right(terms: list[float], name: str) -> float:
    total = terms[0]
    for term in terms[1:]:
        total = stored(total + term, name)
    return total


def in_pairs(terms: list[float], name: str) -> float:
    """Neighbours are added, then neighbours of the sums, until one number is left."""
    while len(terms) > 1:
        sums = [stored(sum(terms[i : i + 2]), name) for i in range(0, len(terms), 2)]
        terms = sums
    return terms[0]


def wider(terms: list[float], name: str) -> float:
    """Added in float64, and rounded once."""
    return stored(math.fsum(terms), name)


ORDERS: dict[str, Callable[[float, int, str], float]] = {
    gettext_noop("left to right"): lambda x, n, name: left_to_right([x] + n * [1.0], name),
    gettext_noop("the ones first"): lambda x, n, name: left_to_right(n * [1.0] + [x], name),
    gettext_noop("in pairs"): lambda x, n, name: in_pairs([x] + n * [1.0], name),
    gettext_noop("wider total"): lambda x, n, name: wider([x] + n * [1.0], name),
}


def number_and_sum(x: float, name: str, ones: int) -> dict[str, Any]:
    """One number in one format, and its sum with some ones in four orders.

    Args:
        x: what is stored.
        name: one of NAMES.
        ones: how many ones are added to it.
    Returns:
        Panels: what is stored, the distance to the next number, the bits with what they say, and
        the sum by its order, with its distance from the exact one.
    """
    first = stored(x, name)
    largest = LARGEST_INT8 if name == INT8 else FORMATS[name].largest
    exact = x + ones
    sums = [(order, add(first, ones, name)) for order, add in ORDERS.items()]
    return {
        gettext_noop("stored as"): "∞" if math.isinf(first) else f"{first:.9g}",
        gettext_noop("next number"): (
            gettext("{distance} further").format(distance=f"{gap(first, name):.3g}")
            if first < largest
            else gettext("none")
        ),
        gettext_noop("bits"): Table(
            [gettext("part"), gettext("says"), gettext("bits")],
            [[part, says, b] for part, b, says in bits(first, name)],
        ),
        "sum": Table(
            [gettext("order"), gettext("sum"), gettext("off by")],
            [[gettext(order), _text(total), _text(abs(total - exact))] for order, total in sums],
        ),
    }


def _text(x: float) -> str:
    return "∞" if math.isinf(x) else f"{x:.9g}" if x >= 1e-6 else "0" if x == 0 else f"{x:.1e}"
