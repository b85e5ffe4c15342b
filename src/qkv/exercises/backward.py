"""The exercises of the chapter on gradients by hand: the check of each answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import qkv.numpy as qn
from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    exercise,
    is_close,
    is_near,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import OneEach
from qkv.language import gettext

Array: TypeAlias = np.ndarray[Any, Any]
Case: TypeAlias = tuple[
    str, Callable[[Array], Array], Callable[[Array, Array], Array], Array, bool, str
]
_rng = np.random.default_rng(18)
_ROWS = _rng.normal(size=(4, 6))
_MATRIX = _rng.normal(size=(6, 3))
_ONES = np.ones(6)
RANDOM_UPSTREAM = "Which upstream gradient do you use? With ones, much that is wrong gives 0."
ALL_ENTRIES = "Which entries of x do you move? One entry, or one row, tells nothing of the others."
RANDOM_DIRECTION = "In which direction do you move x? Along x itself, this error is not seen."
RELATIVE = "Does your tolerance hold a fixed number, such as atol? This gradient is smaller."
NO_SLOPE_FOR_ONES = "With a dY of ones the slope is 0; you see only rounding. Draw dY at random."
NO_SLOPE_ALONG_X = "Along x the slope is 0; you see only rounding. Draw the direction at random."
NOT_A_NUMBER = "A comparison with NaN is False. Write: if not difference <= tolerance."
SHAPE = "A gradient has the shape of its input. A product with u broadcasts: compare the shapes."
SHARP = (
    "How large a difference do you accept? Ask for one in ten thousand, or less; beside the length "
    "of dx, for less still, and in two or three directions."
)
BOTH_SIDES = (
    "Is h small, and is the difference two-sided, f(x + hu) − f(x − hu)? Then a tolerance of one "
    "in ten thousand is enough. (A slope near 0 by chance? Draw again.)"
)
TOO_STRICT = "How large is the error of a right one? Neither h² nor rounding divided by h is 0."


def _norm(x: Array) -> Array:
    return qn.layer_norm(x, _ONES)


def _norm_backward(dY: Array, x: Array) -> Array:
    return qn.layer_norm_backward(dY, x, _ONES)[0]


def _sigma_constant(dY: Array, x: Array) -> Array:
    s = np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    without_last_term: Array = (dY - dY.mean(-1, keepdims=True)) / s
    return without_last_term


def _softmax_backward(dY: Array, x: Array) -> Array:
    return qn.softmax_backward(dY, qn.softmax(x))


def _no_row_sum(dY: Array, x: Array) -> Array:
    return qn.softmax(x) * dY


def _product(x: Array) -> Array:
    return x @ _MATRIX


def _product_backward(dY: Array, x: Array) -> Array:
    return dY @ _MATRIX.T


def _last_row_lost(dY: Array, x: Array) -> Array:
    dx = dY @ _MATRIX.T
    dx[-1] = 0
    return dx


def _first_row_lost(dY: Array, x: Array) -> Array:
    dx = dY @ _MATRIX.T
    dx[0] = 0
    return dx


def _one_entry_doubled(dY: Array, x: Array) -> Array:
    dx = dY @ _MATRIX.T
    dx[1, 2] *= 2
    return dx


def _one_entry_nan(dY: Array, x: Array) -> Array:
    dx = dY @ _MATRIX.T
    dx[1, 2] = np.nan
    return dx


def _one_axis_more(dY: Array, x: Array) -> Array:
    return (dY @ _MATRIX.T)[None]


def _off_across_x(dY: Array, x: Array) -> Array:
    off = np.roll(x, 1, axis=-1)
    off = off - x * (off * x).sum() / (x * x).sum()  # perpendicular to x
    wrong: Array = dY @ _MATRIX.T + off
    return wrong


def _small(x: Array) -> Array:
    return 1e-10 * x


def _small_backward(dY: Array, x: Array) -> Array:
    return 1e-10 * dY


def _small_lost(dY: Array, x: Array) -> Array:
    return np.zeros_like(x)


def _small_slightly_large(dY: Array, x: Array) -> Array:
    return 1.0005e-10 * dY


def _slightly_large(dY: Array, x: Array) -> Array:
    return dY @ _MATRIX.T * 1.0005


def _large(x: Array) -> Array:
    return 1000 * np.sin(x)


def _large_backward(dY: Array, x: Array) -> Array:
    return 1000 * np.cos(x) * dY


def _steep(x: Array) -> Array:
    steep: Array = np.exp(50 * x)
    return steep


def _steep_backward(dY: Array, x: Array) -> Array:
    return 50 * _steep(x) * dY


TRIES = 10  # of each wrong backward: a check that draws at random passes one by luck

# What it is, the function, its backward, where to test it, whether it is right, and a hint.
CASES: tuple[Case, ...] = (
    ("1000 sin x, entry by entry", _large, _large_backward, _ROWS, True, TOO_STRICT),
    ("a matrix product", _product, _product_backward, _ROWS, True, TOO_STRICT),
    ("x / 10¹⁰", _small, _small_backward, _ROWS, True, TOO_STRICT),
    ("softmax", qn.softmax, _softmax_backward, _ROWS, True, NO_SLOPE_FOR_ONES),
    ("LayerNorm", _norm, _norm_backward, _ROWS, True, NO_SLOPE_ALONG_X),
    ("LayerNorm of one token", _norm, _norm_backward, _ROWS[0], True, NO_SLOPE_ALONG_X),
    ("a matrix product, 0.05 % too large", _product, _slightly_large, _ROWS, False, SHARP),
    ("LayerNorm, last term missing", _norm, _sigma_constant, _ROWS, False, RANDOM_UPSTREAM),
    ("softmax, no sum", qn.softmax, _no_row_sum, _ROWS, False, RANDOM_UPSTREAM),
    ("a matrix product, last row 0", _product, _last_row_lost, _ROWS, False, ALL_ENTRIES),
    ("a matrix product, first row 0", _product, _first_row_lost, _ROWS, False, ALL_ENTRIES),
    (
        "a matrix product, one entry doubled",
        _product,
        _one_entry_doubled,
        _ROWS,
        False,
        ALL_ENTRIES,
    ),
    ("a matrix product, off across x", _product, _off_across_x, _ROWS, False, RANDOM_DIRECTION),
    ("a matrix product, one entry NaN", _product, _one_entry_nan, _ROWS, False, NOT_A_NUMBER),
    ("a matrix product, one axis more", _product, _one_axis_more, _ROWS, False, SHAPE),
    ("x / 10¹⁰, all 0", _small, _small_lost, _ROWS, False, RELATIVE),
    ("x / 10¹⁰, 0.05 % too large", _small, _small_slightly_large, _ROWS, False, RELATIVE),
    ("exp 50 x", _steep, _steep_backward, _ROWS / 10, True, BOTH_SIDES),
    ("exp 50 x, rows turned round", _steep, _steep_backward, _ROWS[::-1] / 10, True, BOTH_SIDES),
    ("exp 50 x of one token", _steep, _steep_backward, _ROWS[0] / 10, True, BOTH_SIDES),
)


def rms_gradients(dy: Array, x: Array, gamma: Array) -> tuple[Array, Array]:
    """dx and dγ of RMSNorm with ε = 1e-5."""
    return qn.rms_norm_backward(dy, x, gamma)


def _draw(*shape: int, dtype: type[np.floating[Any]] = np.float64) -> tuple[Array, Array, Array]:
    dy, x = _rng.normal(size=(2, *shape)).astype(dtype)
    return dy, x, (1 + _rng.random(shape[-1])).astype(dtype)


RMS_INPUTS = (_draw(5), _draw(3, 5), _draw(2, 3, 5), _draw(3, 5, dtype=np.float32))
X = np.array([[1.0, 2], [3, 1]])
W = np.array([[1.0, 2], [1, -1]])
DY = np.array([[2.0, 0], [-1, 3]])


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


UNSEEN = np.array([3.0, 4, 5])  # by RMSNorm, at this x
RIGHT_GRADIENT, WRONG_GRADIENT = np.array([1.0, 2, 0]), np.array([1.0, 0, 1])
BROADCASTS = (
    ((2, 3), (3,)),
    ((2, 3), (1, 3)),
    ((2, 3), (2, 1)),
    ((4, 2, 3), (2, 3)),
    ((4, 2, 3), (4, 1, 1)),
    ((4, 2, 3), (2, 1)),
    ((2, 3), ()),
    ((2, 3), (2, 3)),
)


@exercise("backward-1")
def product_by_hand(answer: object) -> str:
    """dX = dY Wᵀ, dW = Xᵀ dY and db = the sum of the rows of dY."""
    reject(
        not isinstance(answer, list | tuple) or len(answer) != 3,
        "Three gradients were asked for.",
        "Write (dX, dW, db): two 2 × 2 lists, then a list of two numbers.",
    )
    parts: Any = answer
    dX, dW, db = (as_array(parts[i], shape) for i, shape in enumerate(((2, 2), (2, 2), (2,))))
    reject_each(
        dX,
        (DY @ W, "That is dY W.", "W_ij carries X_ti to Y_tj. Backward, from j to i."),
        (W @ DY, "That is W dY.", "A row of dX is a token, and so is a row of dY."),
        (W.T @ DY, "That is Wᵀ dY.", "A row of dY is a token: it stands on the left."),
        ((DY @ W.T).T, "dX is transposed.", "Row t of dX belongs to token t."),
        (X.T @ DY, "That is dW.", "Write dX first, then dW, then db."),
    )
    reject(
        not is_close(dX, DY @ W.T),
        "dX is not right.",
        "Entry (t, i): row t of dY times row i of W, added over the columns.",
    )
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


@exercise("backward-2", OneEach(("I", "II", "III"), "ABCDEFG"))
def find_the_faults(answer: object) -> str:
    """The wrong line of each of three backwards, in their order: D, A and C."""
    answer = [answer[i] for i in sorted(answer)] if isinstance(answer, dict) else answer
    parts = answer if isinstance(answer, list | tuple) else [answer]
    words = re.findall(r"[^\W\d_]+", " ".join(map(str, parts)).upper())
    letters = "".join(word for word in words if word not in ("I", "II", "III", "AND"))
    reject(
        len(letters) != 3 or not set(letters) <= set("ABCDEFG"),
        "Three letters from A to G were asked for.",
        'Write those of I, II and III, in this order, as one string: "ABE".',
    )
    reject_choice(
        letters,
        "DAC",
        "Go down the table to the first number that is not 1.00: the fault lies just before it, on "
        "the way back. Then ask: are all that follow wrong by one factor?",
        (
            "ACD",
            "Those could be the lines, but not in this order.",
            "The first letter belongs to I, the second to II, the third to III.",
        ),
    )
    return "right: what is still right says how far the walk back was right."


@exercise("backward-3")
def build_the_check(answer: object) -> str:
    """`f(f, backward, x)` says whether a backward is right; tried on right and wrong ones."""
    agrees = as_function(answer)
    for name, f, backward, x, right, hint in CASES:
        for _ in range(1 if right else TRIES):
            found = agrees(f, backward, x)
            reject(
                np.size(found) != 1,
                gettext("It returned something of shape {shape}.").format(shape=np.shape(found)),
                "Return one truth value, True or False.",
            )
            said = bool(np.all(found))
            reject(
                right and not said,
                gettext("It refuses a right backward: {name}.").format(name=gettext(name)),
                hint,
            )
            reject(
                said and not right,
                gettext("It accepts a wrong backward: {name}.").format(name=gettext(name)),
                hint,
            )
    return "right: it told all of them apart."


Part: TypeAlias = tuple[Callable[[Array], Array], Callable[[Array, Array], Array]]


def _parts(T: int, d: int) -> tuple[Part, Part]:
    """Stand-ins with their backwards: f mixes tokens, g works on each of them alone."""
    mix, first, second = (_rng.normal(size=size) / 2 for size in ((T, T), (d, d + 3), (d + 3, d)))

    def f(z: Array) -> Array:
        out: Array = np.tanh(mix @ z)
        return out

    def f_back(dout: Array, z: Array) -> Array:
        dz: Array = mix.T @ (dout * (1 - np.tanh(mix @ z) ** 2))
        return dz

    def g(z: Array) -> Array:
        out: Array = np.tanh(z @ first) @ second
        return out

    def g_back(dout: Array, z: Array) -> Array:
        dz: Array = (dout @ second.T * (1 - np.tanh(z @ first) ** 2)) @ first.T
        return dz

    return (f, f_back), (g, g_back)


LAYERS = tuple((_rng.normal(size=(2, T, d)), _parts(T, d)) for T, d in ((4, 6), (5, 3), (2, 7)))


def pre_norm_gradients(dy: Array, x: Array, parts: tuple[Part, Part]) -> dict[str, Array]:
    """dx of a pre-norm layer ("right"), and with each likely mistake, by its key."""
    (f, f_back), (g, g_back) = parts
    ones = np.ones(x.shape[-1])
    n_1 = qn.layer_norm(x, ones)
    a = x + f(n_1)
    n_2 = qn.layer_norm(a, ones)

    def norm_back(d: Array, z: Array) -> Array:
        return qn.layer_norm_backward(d, z, ones)[0]

    through_g = norm_back(g_back(dy, n_2), a)

    def first(da: Array) -> Array:
        return norm_back(f_back(da, n_1), x)

    da, da_wrong_place = dy + through_g, dy + norm_back(g_back(dy, n_2), x)
    s_1 = x + f(x)
    s_2 = qn.layer_norm(s_1, ones)
    da_post = norm_back(dy, s_2 + g(s_2))
    da_post = norm_back(da_post + g_back(da_post, s_2), s_1)
    no_norm = dy + g_back(dy, n_2)
    at_n = dy + norm_back(g_back(dy, n_2), n_2)
    at_a, at_x = dy + norm_back(g_back(dy, a), a), norm_back(f_back(da, x), x)
    return {
        "right": da + first(da),
        "no_skip": first(through_g),
        "no_skip_at_a": through_g + first(through_g),
        "no_skip_at_x": first(da),
        "side_by_side": dy + through_g + first(dy),
        "norm_at_x": da_wrong_place + first(da_wrong_place),
        "no_norm": no_norm + f_back(no_norm, n_1),
        "dy_around_x": dy + first(da),
        "norm_at_n": at_n + norm_back(f_back(at_n, n_1), n_1),
        "feed_at_a": at_a + first(at_a),
        "parts_at_a_and_x": at_a + norm_back(f_back(at_a, x), x),
        "parts_at_x": da + at_x,
        "post_norm": da_post + f_back(da_post, x),
    }


USED_TWICE = "a is used twice, and so is x: once in the part, once straight on. Add both gradients."
PRE_NORM_MISTAKES = {
    "no_skip": ("No gradient goes around the two parts.", USED_TWICE),
    "no_skip_at_a": ("In the second half no gradient goes around the part.", USED_TWICE),
    "no_skip_at_x": ("In the first half no gradient goes around the part.", USED_TWICE),
    "side_by_side": (
        "The first half gets dy.",
        "What arrives at a? It has been through the second half, and around it.",
    ),
    "norm_at_x": ("Both norms are taken at x.", "What does the second norm take as its input?"),
    "no_norm": ("The gradient passes the norms unchanged.", "n has a backward too: norm_back."),
    "dy_around_x": (
        "Around the first part you send dy.",
        "What arrives at a goes around it: dy, and what came back through the second half.",
    ),
    "norm_at_n": ("norm_back is given n.", "It takes what the norm took forward: a, then x."),
    "feed_at_a": ("feed_back is given a.", "Its z is what feed took forward."),
    "parts_at_a_and_x": (
        "attend_back and feed_back are given the inputs of the norms.",
        "Their z is what attend and feed took forward.",
    ),
    "parts_at_x": ("attend_back is given x.", "Its z is what attend took forward."),
    "post_norm": (
        "That is the backward of a post-norm layer.",
        "In which order did x meet the norm and the part? The last step comes back first.",
    ),
}


def _counted(
    back: Callable[[Array, Array], Array], used: list[int]
) -> Callable[[Array, Array], Array]:
    """The same backward; each call is noted."""

    def counted(dout: Array, z: Array) -> Array:
        used.append(1)
        return back(dout, z)

    return counted


@exercise("backward-4")
def pre_norm_back_built(answer: object) -> str:
    """`f(dy, x, f, f_back, g, g_back)` returns dx of a pre-norm layer."""
    function = as_function(answer)
    for (dy, x), parts in LAYERS:
        used: list[int] = []
        backs = [_counted(back, used) for _, back in parts]
        got = function(dy, x, parts[0][0], backs[0], parts[1][0], backs[1])
        reject(
            isinstance(got, list | tuple) and len(got) == 3 and np.shape(got[0]) == x.shape,
            "You return three arrays.",
            "Only dx is asked for. Does norm_back(…) need a [0]?",
        )
        dx = as_array(got)
        reject(
            dx.shape != x.shape,
            gettext("For x of shape {expected} the shape of dx is {shape}.").format(
                expected=x.shape, shape=dx.shape
            ),
            "A gradient has the shape of what it is the gradient of.",
        )
        gradients = pre_norm_gradients(dy, x, parts)
        right = gradients.pop("right")
        reject_each(dx, *((gradients[name], *words) for name, words in PRE_NORM_MISTAKES.items()))
        reject(
            is_close(dx, right) and len(used) < 2,
            "dx is right, but it was not made with both given backwards.",
            "Call attend_back and feed_back.",
        )
        reject(
            not is_close(dx, right),
            "dx is not right.",
            "Write the five values of the forward, then go back from y: what uses a, what uses x?",
        )
    return "right: in each half dy goes straight on, and what comes through the part is added."


@exercise("backward-5")
def blind_direction(answer: object) -> str:
    """A direction without a 0 in it, u · (1, 2, 0) = u · (1, 0, 1), and neither of them 0."""
    u = as_array(answer, (3,)).astype(float)
    reject(not np.isfinite(u).all(), "These are no finite numbers.", "Small whole numbers will do.")
    reject(not u.any(), "In this direction nothing moves.", "None of the numbers may be 0.")
    reject(not u.all(), "A number is 0.", "Move all three entries, as a random direction does.")
    right, wrong = float(u @ RIGHT_GRADIENT), float(u @ WRONG_GRADIENT)
    reject(
        not is_near(right, wrong, u[1:], 1e-6),
        gettext(
            "Along u the right slope is {right:.8g}, and the wrong gradient gives {wrong:.8g}."
        ).format(right=right, wrong=wrong),
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
    for big, shape in BROADCASTS:
        d = rng.normal(size=big)
        got = as_array(function(d, shape))
        reject(
            got.shape != shape,
            gettext("From {big} to {shape} yours gives the shape {found}.").format(
                big=big, shape=shape, found=got.shape
            ),
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
                gettext("From {big} to {shape} yours takes a mean.").format(big=big, shape=shape),
                "Each copy brings its gradient. What happens to things that are used twice?",
            ),
            (
                d[tuple(0 if i in lead + ones else slice(None) for i in range(d.ndim))].reshape(
                    shape
                ),
                gettext("From {big} to {shape} yours takes the first copy alone.").format(
                    big=big, shape=shape
                ),
                "All copies count.",
            ),
        )
        reject(
            True,
            gettext("From {big} to {shape} the numbers are off.").format(big=big, shape=shape),
            "Try ones: count the copies.",
        )
    return "right: what was broadcast forward is summed backward."


@exercise("backward-7")
def rms_norm_backward_built(answer: object) -> str:
    """A direction along (3, 4, 5), and `f(dy, x, gamma)`: dx and dγ of RMSNorm, any dtype."""
    reject(
        not isinstance(answer, list | tuple) or len(answer) != 2,
        "Two things were asked for.",
        "Write (direction, rms_backward): three numbers, and the function.",
    )
    pair: Any = answer
    u = as_array(pair[0], (3,)).astype(float)
    reject(not u.any() or not np.isfinite(u).all(), "Nothing moves.", "Not all three may be 0.")
    off = 1 - abs(u @ UNSEEN) / np.linalg.norm(u) / np.linalg.norm(UNSEEN)
    reject(
        np.ptp(u) == 0,
        "Equal numbers are added: that is the direction of LayerNorm.",
        "RMSNorm subtracts no mean. What else of x does a division by r take away?",
    )
    reject(off > 3e-5, "Along this direction y changes.", "x / r: when do x and r grow alike?")
    function = as_function(pair[1])
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
            gettext(
                "For x of shape {expected} the shapes are {dx_shape} and {dgamma_shape}."
            ).format(expected=x.shape, dx_shape=dx.shape, dgamma_shape=dgamma.shape),
            "A gradient has the shape of what it is the gradient of.",
        )
        _compare_rms(dx, dgamma, dy, x, gamma)
    return "right: one direction gets no gradient, so there is one subtraction."
