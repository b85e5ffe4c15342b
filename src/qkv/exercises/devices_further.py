"""The exercises of the chapter on devices that stand behind its core: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_array, as_number, exercise, reject

__all__ = ["bfloat16", "lost_in_bfloat16", "scale_the_loss"]


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


def bfloat16(x: float) -> float:
    """x rounded to bfloat16, to the nearest: the upper 16 bits of float32."""
    bits = int(np.float32(x).view(np.uint32))
    bits += 0x7FFF + (bits >> 16 & 1)  # the half, and to even where it is just the half
    return float(np.uint32(bits & 0xFFFF0000).view(np.float32))
