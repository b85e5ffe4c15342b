"""The exercises on gradients by hand that stand behind its core: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_array, as_function, exercise, is_close, reject, reject_each

RIGHT, WRONG = np.array([1.0, 2, 0]), np.array([1.0, 0, 1])
SHAPES = (
    ((2, 3), (3,)),
    ((2, 3), (1, 3)),
    ((2, 3), (2, 1)),
    ((4, 2, 3), (2, 3)),
    ((4, 2, 3), (4, 1, 1)),
    ((4, 2, 3), (2, 1)),
    ((2, 3), ()),
    ((2, 3), (2, 3)),
)


@exercise("backward-5")
def blind_direction(answer: object) -> str:
    """A direction without a 0 in it, u · (1, 2, 0) = u · (1, 0, 1), and neither of them 0."""
    u = as_array(answer, (3,)).astype(float)
    reject(not np.isfinite(u).all(), "These are no finite numbers.", "Small whole numbers will do.")
    reject(not u.any(), "In this direction nothing moves.", "None of the numbers may be 0.")
    reject(not u.all(), "A number is 0.", "Move all three entries, as a random direction does.")
    right, wrong = float(u @ RIGHT), float(u @ WRONG)
    reject(
        abs(right - wrong) > 1e-9 * np.abs(u[1:]).max(),
        f"Along u the right slope is {right:.3g}, and the wrong gradient gives {wrong:.3g}.",
        "The two gradients differ by (0, 2, −1). Which u does not see that difference?",
    )
    reject(
        abs(right) < 1e-6,
        "Both slopes are 0 there.",
        "Such a u exists, but a slope of 0 would make you suspicious. Change the first number.",
    )
    return "right. Random numbers seldom come near such a u; a second direction settles it."


@exercise("backward-6")
def sum_to_shape(answer: object) -> str:
    """`f(d, shape)` sums a gradient to the shape from which the forward has broadcast."""
    function = as_function(answer)
    rng = np.random.default_rng(6)
    for big, shape in SHAPES:
        d = rng.normal(size=big)
        got = as_array(function(d, shape))
        reject(
            got.shape != shape,
            f"From {big} to {shape} yours gives the shape {got.shape}.",
            "Two kinds of axes were broadcast: new ones in front, and those of length 1.",
        )
        lead = tuple(range(d.ndim - len(shape)))
        ones = tuple(len(lead) + i for i, n in enumerate(shape) if n == 1)
        expected = d.sum(lead + ones, keepdims=True).reshape(shape)
        if is_close(got, expected):
            continue
        reject_each(
            got,
            (
                d.mean(lead + ones, keepdims=True).reshape(shape),
                f"From {big} to {shape} yours takes a mean.",
                "Each copy brings its gradient. What happens to things that are used twice?",
            ),
            (
                d[tuple(0 if i in lead + ones else slice(None) for i in range(d.ndim))].reshape(
                    shape
                ),
                f"From {big} to {shape} yours takes the first copy alone.",
                "All copies count.",
            ),
        )
        reject(True, f"From {big} to {shape} the numbers are off.", "Try ones: count the copies.")
    return "right: what was broadcast forward is summed backward."
