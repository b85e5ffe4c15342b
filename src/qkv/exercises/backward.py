"""The exercises of the chapter on gradients by hand: the check of each answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.exercises.backward_further import blind_direction, sum_to_shape
from qkv.exercises.backward_helpers import CASES, RMS_INPUTS, rms_gradients
from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    exercise,
    is_close,
    reject,
    reject_each,
)

__all__ = [
    "blind_direction",
    "build_the_check",
    "evidence",
    "product_by_hand",
    "rms_norm_backward_built",
    "sum_to_shape",
]

X = np.array([[1.0, 2], [3, 1]])
DY = np.array([[2.0, 0], [-1, 3]])


@exercise("backward-1")
def product_by_hand(answer: object) -> str:
    """dW = Xᵀ dY and db = the sum of the rows of dY."""
    reject(
        not isinstance(answer, list | tuple) or len(answer) != 2,
        "Two gradients were asked for.",
        "Write (dW, db): a 2 × 2 list, then a list of two numbers.",
    )
    parts: Any = answer
    dW, db = as_array(parts[0], (2, 2)), as_array(parts[1], (2,))
    reject_each(
        dW,
        (X @ DY, "That is X dY.", "Its rows count tokens. What do the rows of W count?"),
        (X @ DY.T, "That is X dYᵀ.", "It has a row and a column for each token, with T = 3."),
        ((X.T @ DY).T, "dW is transposed.", "Row i of W belongs to number i of x."),
        (X.T @ DY / 2, "That is a mean over the rows.", "W is used in both rows: add."),
        (np.outer(X[0], DY[0]), "The second row of X is missing.", "Add what each row brings."),
        (np.outer(X[1], DY[1]), "The first row of X is missing.", "Add what each row brings."),
        (DY @ X.T, "That is dY Xᵀ.", "Which product has as many rows as X has columns?"),
    )
    reject(
        not is_close(dW, X.T @ DY),
        "dW is not right.",
        "Entry (i, j): column i of X times column j of dY, added over the rows.",
    )
    reject_each(
        db,
        (DY.sum(axis=1), "db is added along the wrong axis.", "b has one number for each column."),
        (DY.mean(axis=0), "db is a mean.", "b is added to both rows, so it is used twice."),
        (DY[-1], "db is the last row alone.", "b is added to both rows."),
        (DY[0], "db is the first row alone.", "b is added to both rows."),
    )
    reject(not is_close(db, DY.sum(axis=0)), "db is not right.", "What was broadcast is summed.")
    return "right. Each column of dY gives one column of dW and one number of db."


@exercise("backward-2")
def evidence(answer: object) -> str:
    """What proves a mistake in the backward: A, C and F."""
    letters = as_letters(answer, "ABCDEF")
    reject(
        "B" in letters,
        "B is what a right backward does.",
        "How many keys may the first row attend to, and which weight do they get?",
    )
    reject(
        "D" in letters,
        "D is what a right backward does.",
        "A tied table is used at the output too. How many tokens have a logit there?",
    )
    reject(
        "E" in letters,
        "E is what a right backward does.",
        "What does LayerNorm do if the same number is added to all of x?",
    )
    reject(
        "A" not in letters,
        "One is missing.",
        "Add the same number to all scores of a row. What changes?",
    )
    reject(
        "C" not in letters,
        "Another is missing.",
        "Does the loss depend on a value that nobody reads?",
    )
    reject("F" not in letters, "A third is missing.", "Where is a table used that is not tied?")
    return "right: each of the three says that the loss depends on something it does not depend on."


@exercise("backward-3")
def build_the_check(answer: object) -> str:
    """`f(f, backward, x)` says whether a backward is right; tried on right and wrong ones."""
    agrees = as_function(answer)
    for name, f, backward, x, right, hint in CASES:
        found = agrees(f, backward, x)
        reject(
            np.size(found) != 1,
            f"It returned something of shape {np.shape(found)}.",
            "Return one truth value, True or False.",
        )
        said = bool(np.all(found))
        reject(right and not said, f"It refuses a right backward: {name}.", hint)
        reject(said and not right, f"It accepts a wrong backward: {name}.", hint)
    return "right: it told all of them apart."


@exercise("backward-4")
def rms_norm_backward_built(answer: object) -> str:
    """`f(dy, x, gamma)` returns dx and dγ of RMSNorm, for one token or a batch, in any dtype."""
    function = as_function(answer)
    for dy, x, gamma in RMS_INPUTS:
        result = function(dy, x, gamma)
        reject(
            not isinstance(result, list | tuple) or len(result) != 2,
            "Two gradients were asked for.",
            "Return dx, dgamma.",
        )
        dx, dgamma = map(as_array, result)
        reject(
            dx.shape != x.shape or dgamma.shape != gamma.shape,
            f"For x of shape {x.shape} the shapes are {dx.shape} and {dgamma.shape}.",
            "A gradient has the shape of what it is the gradient of.",
        )
        _compare_rms(dx, dgamma, dy, x, gamma)
    return "right: one direction gets no gradient, so there is one subtraction."


def _compare_rms(dx: Any, dgamma: Any, dy: Any, x: Any, gamma: Any) -> None:
    right_dx, right_dgamma = rms_gradients(dy, x, gamma)
    same = 1e-4 if x.dtype == np.float32 else 1e-7
    r = np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    g = dy * gamma
    along = (g * x).mean(-1, keepdims=True) * x / r**2
    many = x.size > len(gamma)
    rows = (dy * x / r).reshape(-1, len(gamma))
    reject_each(
        dx,
        (g / r, "r is treated as constant.", "x is used twice: in the numerator and in r."),
        (rms_gradients(dy / gamma, x, gamma)[0], "γ is missing in dx.", "What arrives at x / r?"),
        (
            right_dx - g.mean(-1, keepdims=True) / r,
            "A mean is subtracted.",
            "Does RMSNorm stay the same if a number is added to all of x?",
        ),
        (
            (g - along * x.shape[-1]) / r,
            "The subtraction is too large.",
            "r has a mean in it. Is a sum where a mean should be?",
        ),
        ((g + along) / r, "The sign of one term is wrong.", "If x grows, 1 / r falls."),
        (right_dx * r, "A factor is missing in dx.", "Both paths end in a division by r."),
        tolerance=same,
    )
    reject(
        is_close(dx, right_dx, 1e-3) and not is_close(dx, right_dx, same),
        "dx is nearly right.",
        "Is ε = 1e-5, and added to mean(x²) under the root?",
    )
    reject(
        not is_close(dx, right_dx, same),
        "dx is not right.",
        "Which direction of x changes nothing? dx must be perpendicular to it, but for ε.",
    )
    if many:
        reject_each(
            dgamma,
            (rows.mean(0), "dγ is a mean over the tokens.", "γ is used once for each token."),
            (rows[-1], "dγ is that of the last token.", "γ is used once for each token."),
            tolerance=same,
        )
    if not is_close(dgamma, right_dgamma, same):
        raise WrongAnswer("dγ is not right.", "γ is multiplied by x / r. What was broadcast?")
