"""The exercises of the chapter on Add & Norm: the check of each answer."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    TWO_DECIMALS,
    WrongAnswer,
    as_array,
    as_function,
    exercise,
    is_close,
    is_near,
    reject,
    reject_each,
)
from qkv.language import gettext
from qkv.numpy import layer_norm_backward

Array: TypeAlias = np.ndarray[Any, Any]
SAME = {"d": 1e-9, "f": 2e-5}  # how near a right answer is, by dtype


def normed(
    x: Array, *, axis: int | None = -1, ddof: int = 0, eps: float = 1e-5, outside: bool = False
) -> Array:
    """The norm without γ and β; ddof, outside and axis are the likely mistakes.

    Args:
        x: (..., d_model).
        axis: over which mean and variance are taken; None is over all numbers.
        ddof: 1 divides the squares by one less.
        eps: ε.
        outside: add it to the root, not under it.
    """
    centred = x - x.mean(axis=axis, keepdims=True)
    variance = x.var(axis=axis, keepdims=True, ddof=ddof)
    with np.errstate(divide="ignore", invalid="ignore"):
        out: Array = centred / (np.sqrt(variance) + eps if outside else np.sqrt(variance + eps))
    return out


def _inputs() -> list[tuple[Array, Array, Array]]:
    """x, γ, β: a token, a sentence, a batch with a faint token, two batches; then in float32."""
    rng = np.random.default_rng(3)
    gamma, beta = rng.normal(size=(2, 5))
    one, sentence = 2 * rng.normal(size=5), rng.normal(size=(3, 5)) + 1
    batch = rng.normal(size=(2, 4, 5)) * 3 - 1
    batch[1, 2] /= 1000  # its variance is below ε
    batches = rng.normal(size=(2, 1, 3, 5))
    found: list[tuple[Array, Array, Array]] = []
    for dtype in (np.float64, np.float32):
        g, b = gamma.astype(dtype), beta.astype(dtype)
        found += [(x.astype(dtype), g, b) for x in (one, sentence, batch, batches)]
    return found


INPUTS = _inputs()
# One float32 token, γ, β: its numbers are near 1000 and differ by little.
FAR: tuple[Array, Array, Array] = (
    np.array([999.71, 1000.23, 999.83, 1000.07, 1000.31], np.float32),
    np.full(5, 0.5, np.float32),
    np.zeros(5, np.float32),
)


def reject_other_dtype(got: Array, x: Array) -> None:
    """Raise `WrongAnswer` unless the answer has the format of x."""
    reject(
        got.dtype != x.dtype,
        gettext("For {x} numbers the result is {got}.").format(x=x.dtype, got=got.dtype),
        "np.zeros and np.float64 bring float64 in. A plain number such as 1e-5 does not.",
    )


FOUR = np.array([2.0, 4, 6, 8])  # x + f(x)
X, FOUND = np.array([1.0, 1, 5, 5]), np.array([1.0, 3, 1, 3])
GAMMA, BETA = np.array([1.0, 1, 2, 2]), np.array([0.0, 0, 0, 3])


@exercise("add_norm-1")
def post_norm_by_hand(answer: object) -> str:
    """LayerNorm of 1, 1, 5, 5 plus 1, 3, 1, 3 with γ = (1, 1, 2, 2) and β = (0, 0, 0, 3)."""
    got = as_array(answer, (4,), "The norm keeps the shape.").astype(float)
    normal = normed(FOUR)
    reject_each(
        got,
        (FOUR, "That is the sum.", "What does post-norm do with the sum?"),
        (GAMMA * normed(X) + BETA, "f(x) is missing.", "What is added to x before the norm?"),
        (GAMMA * normed(FOUND) + BETA, "x is missing.", "What is added to f(x) before the norm?"),
        (
            X + GAMMA * normed(FOUND) + BETA,
            "Only f(x) was normalised.",
            "In post-norm, the norm is the last step.",
        ),
        (normal, "γ and β are missing.", "The norm is done. What are its last two steps?"),
        (GAMMA * normal, "β is missing.", "Which numbers are added after the product with γ?"),
        (normal + BETA, "γ is missing.", "Which numbers of the vector are doubled?"),
        (
            GAMMA * (normal + BETA),
            "β was added before the product with γ.",
            "Read the formula from the fraction outwards.",
        ),
        (GAMMA + BETA * normal, "γ and β have changed places.", "Which of them starts at 1?"),
        (
            GAMMA * normed(FOUR, ddof=1) + BETA,
            "The variance was divided by 3.",
            "LayerNorm's variance is a mean: the squares are four numbers.",
        ),
        (
            GAMMA * (FOUR - 5) / 5 + BETA,
            "The differences were divided by the variance.",
            "What stands around the variance in the formula?",
        ),
        (
            GAMMA * (FOUR - 5) / np.sqrt(20) + BETA,
            "The squares were added up, and no mean was taken.",
            "The variance is the mean of the four squares.",
        ),
        (
            GAMMA * FOUR / np.sqrt(5) + BETA,
            "The mean was not subtracted.",
            "What is done to the numbers before they are divided?",
        ),
        tolerance=TWO_DECIMALS,
    )
    reject(
        not is_close(got, GAMMA * normal + BETA, TWO_DECIMALS),
        "Not these numbers.",
        "In this order: sum, mean, differences, mean of the squares, root, divide, γ, β.",
    )
    return "right. Only the third and the fourth number differ from the plain norm."


# What is left of an own part: post-norm with c = 3/4, pre-norm, post-norm with c² = 1/48.
LEFT = np.array([0.8**4, 1 / 4, (48 / 49) ** 24])


@exercise("add_norm-2")
def own_part_left(answer: object) -> str:
    """(5/4)⁻⁴, 1 / √16 and (49/48)⁻²⁴."""
    got = as_array(answer, (3,), "Give the three numbers in one list.").astype(float)
    reject_each(
        got,
        (
            LEFT**2,
            "The roots are missing.",
            "Two parts at right angles: how long is their sum, by Pythagoras?",
        ),
        (1 / LEFT, "These are upside down.", "Can a part be larger than the whole sum?"),
        tolerance=TWO_DECIMALS,
    )
    hints = (
        (
            "The first is not right.",
            "A part of size 1 and a change of size 3/4 at right angles: how large is their sum? "
            "The norm divides by that, four times.",
        ),
        (
            "The second is not right.",
            "In pre-norm the own part keeps its size. How large is a sum of 16 parts of size 1, "
            "each at right angles to the others?",
        ),
        (
            "The third is not right.",
            "Each sum has the size √(1 + c²), as in the first. Here c² = 1/48, 48 times.",
        ),
    )
    for number, right, (mistake, hint) in zip(got, LEFT, hints, strict=True):
        reject(not is_close(number, right, TWO_DECIMALS), mistake, hint)
    return "right: small changes, or a sum that grows, keep a token's own part."


def reject_careless(got: Array, x: Array, calls: int, expected: int) -> None:
    """Raise `WrongAnswer` if a sub-layer was called too often, or the format is another one."""
    reject(
        calls != expected,
        gettext("The sub-layers were called {calls} times, not {expected}.").format(
            calls=calls, expected=expected
        ),
        "A sub-layer may be costly, or random. Keep its result in a variable.",
    )
    reject_other_dtype(got, x)


def reject_written_into(function: Any, x: Array, f: Any, gamma: Array, beta: Array) -> None:
    """Raise `WrongAnswer` if the function changes x, γ or β."""
    kept = [array.copy() for array in (x, gamma, beta)]
    function(kept[0], f, *kept[1:])
    reject(
        not all(map(np.array_equal, kept, (x, gamma, beta))),
        "Your function has changed an array that it was given.",
        "The caller still needs it. x += … writes into x itself; x = x + … does not.",
    )


def reject_far_off(read: Array, x: Array, gamma: Array, beta: Array) -> None:
    """Raise `WrongAnswer` if the norm of float32 numbers near 1000 is off."""
    reject(
        not is_close(read.reshape(x.shape), gamma * normed(x) + beta, 5e-3),
        "In float32, numbers near 1000 that differ by little come out wrong.",
        "Squares near a million lose the small differences. What can be done before squaring?",
    )


def pre_norm(x: Array, f: Any, gamma: Array, beta: Array) -> Array:
    """One step, x + f(LayerNorm(x))."""
    out: Array = x + f(gamma * normed(x) + beta)
    return out


def _counted(f: Any, calls: list[Array]) -> Any:
    """f, which also keeps what it was called with."""

    def counted(x: Array) -> Any:
        calls.append(x)
        return f(x)

    return counted


@exercise("add_norm-3")
def fault_found(answer: object) -> str:
    """`f(x, sublayer, gamma, beta)` is one pre-norm step; a fault is named by what it shows."""
    function = as_function(answer)
    for x, gamma, beta in (given for given in INPUTS if given[0].ndim == 3):
        calls: list[Array] = []
        got = as_array(function(x, _counted(np.tanh, calls), gamma, beta))
        reject(
            got.shape != x.shape,
            gettext("For x of shape {x} the shape is {shape}.").format(x=x.shape, shape=got.shape),
            "Every step keeps the shape.",
        )
        if is_close(got, pre_norm(x, np.tanh, gamma, beta), SAME[x.dtype.char]):
            reject_careless(got, x, len(calls), 1)
            reject_written_into(answer, x, np.tanh, gamma, beta)
            continue
        other = x.copy()
        other[0, 1] = 3 * other[0, 1, ::-1] + np.arange(5)
        moved = np.abs(function(other, np.tanh, gamma, beta) - got).max(axis=-1) > 1e-4  # (B, n)
        moved[0, 1] = False
        reject(
            bool(moved.any()),
            "A token was replaced, and outputs of other tokens moved. (f treats each by itself.)",
            "Over which axis do the numbers of one token lie? Look at every line that has an axis.",
        )
        kept = as_array(function(x, np.zeros_like, gamma, beta))
        reject(
            not is_close(kept, x, SAME[x.dtype.char]),
            "With an f that returns zeros, the output is not x.",
            "Follow x from the first line to the last: what is it when f's output is added to it?",
        )
        raise WrongAnswer(
            gettext("Some numbers are off for x of shape {x}.").format(x=x.shape),
            "Compare each line with the formula. Only two lines of the given function are wrong.",
        )
    x, gamma, beta = FAR
    read: list[Array] = []
    function(x[None, None], _counted(np.tanh, read), gamma, beta)
    reject_far_off(read[0], x, gamma, beta)
    return "right: no token reads another, and the sum begins with x itself."


def stacked(
    x: Array,
    layers: list[Any],
    gammas: Array,
    betas: Array,
    *,
    final: bool = True,
    around: bool = True,
    carried: bool = False,
    **options: Any,
) -> Array:
    """A pre-norm stack with its final norm, or with options one of its likely mistakes.

    Args:
        final: normalise the last sum.
        around: add x.
        carried: add the normalised x, and not x itself.
        options: as `normed` takes them.
    """
    for f, gamma, beta in zip(layers, gammas, betas, strict=False):
        read = gamma * normed(x, **options) + beta
        x = (read if carried else x if around else 0) + f(read)
    return gammas[-1] * normed(x, **options) + betas[-1] if final else x


def post_stacked(x: Array, layers: list[Any], gammas: Array, betas: Array) -> Array:
    """Post-norm, without a final norm."""
    for f, gamma, beta in zip(layers, gammas, betas, strict=False):
        x = gamma * normed(x + f(x)) + beta
    return x


def _half_next(x: Array) -> Array:
    """A sub-layer that treats each token by itself."""
    out: Array = np.sin(x) + np.roll(x, 1, axis=-1) / 2
    return out


@exercise("add_norm-4")
def pre_norm_stack_built(answer: object) -> str:
    """`f(x, layers, gammas, betas)` is a stack of pre-norm steps and the final norm."""
    function = as_function(answer)
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(2, 5, 5)) + 0.5  # γ, β: of up to four sub-layers and the final norm
    for x, _, _ in INPUTS:
        gammas, betas = rows[:, :3].astype(x.dtype)
        calls: list[Array] = []
        plain = [np.tanh, _half_next]
        layers = [_counted(f, calls) for f in plain]
        given = list(layers)
        got = as_array(function(x, layers, gammas, betas))
        reject(
            layers != given,
            "Your function has changed the list of layers.",
            "The caller still needs it. A loop reads a list; pop takes its entries away.",
        )
        reject(
            got.shape != x.shape,
            gettext("For x of shape {x} the shape is {shape}.").format(x=x.shape, shape=got.shape),
            "Every step keeps the shape. Which axis does keepdims=True keep?",
        )
        near = 5 * SAME[x.dtype.char]
        if is_close(got, stacked(x, plain, gammas, betas), near):
            reject_careless(got, x, len(calls), 2)
            reject_written_into(answer, x, plain, gammas, betas)
            continue
        first_alone = gammas[[0, 0, 0]], betas[[0, 0, 0]]
        reject_each(
            got,
            (
                stacked(x, plain, gammas, betas, final=False),
                "The final norm is missing.",
                "Which row of gammas have you not used?",
            ),
            (
                post_stacked(x, plain, gammas, betas),
                "That is post-norm.",
                "In pre-norm, the norm comes before f, and the sum goes on as it is.",
            ),
            (
                stacked(post_stacked(x, plain, gammas, betas), [], gammas, betas),
                "That is post-norm, with a final norm.",
                "What does each f read in pre-norm: x, or its norm?",
            ),
            (
                stacked(x, plain, gammas, betas, carried=True),
                "The residual connection carries the normalised vectors.",
                "What is added to f's output: x, or its norm?",
            ),
            (
                stacked(x, plain, gammas, betas, around=False),
                "The addition is missing.",
                "Where does x go around f?",
            ),
            (
                stacked(x, plain, *first_alone),
                "All norms use the first γ and β.",
                "Each norm has a row of its own.",
            ),
            (
                stacked(x, plain[::-1], gammas, betas),
                "The sub-layers act in reverse order.",
                "The first of the list reads x.",
            ),
            (
                stacked(x, plain, np.ones_like(gammas), np.zeros_like(betas)),
                "γ and β are not used.",
                "The last two steps of each norm.",
            ),
            (
                stacked(x, plain, gammas, betas, ddof=1),
                "The variance divides by d − 1.",
                "LayerNorm's variance is the mean of the squares.",
            ),
            (
                stacked(x, plain, gammas, betas, outside=True),
                "ε stands outside the root.",
                "Add it to the variance, and take the root of the sum.",
            ),
            (
                stacked(x, plain, gammas, betas, eps=0.0),
                "ε is missing.",
                "One token of the test holds tiny numbers. What is added to its variance?",
            ),
            tolerance=near,
        )
        for axis in [*range(x.ndim - 1), None] if x.ndim > 1 else []:
            reject(
                is_close(got, stacked(x, plain, gammas, betas, axis=axis), near),
                "The mean is taken over the wrong axis, or over all of them.",
                "Each token has a mean of its own: over which axis do its numbers lie?",
            )
        raise WrongAnswer(
            gettext("Some numbers are off for x of shape {x}.").format(x=x.shape),
            "Try it on one token, 1, 4, 7, with no sub-layers: then only the final norm is left.",
        )
    sentence = INPUTS[1][0]
    for depth in (0, 1, 4):
        plain, (gammas, betas) = [np.tanh, _half_next, np.cos, np.sin][:depth], rows[:, : depth + 1]
        mistake = (
            "Two sub-layers are right, and 1 is not."
            if depth == 1
            else gettext("Two sub-layers are right, and {depth} are not.").format(depth=depth)
        )
        reject(
            not is_close(
                as_array(function(sentence, list(plain), gammas, betas)),
                stacked(sentence, plain, gammas, betas),
                1e-8,
            ),
            mistake,
            "Let a loop read the list of layers, however long it is.",
        )
    x, gamma, beta = FAR
    read: list[Array] = []
    function(x, [_counted(np.tanh, read)], np.stack([gamma, gamma]), np.stack([beta, beta]))
    reject_far_off(read[0], x, gamma, beta)
    return "right, for one token, a sentence and a batch, in float32 too."


@exercise("add_norm-5")
def rms_norm_built(answer: object) -> str:
    """`f(x, gamma)` is γ x / √(mean x² + ε) over the last axis."""
    function = as_function(answer)
    for x, gamma, _ in INPUTS:
        got = as_array(function(x, gamma))
        reject(
            got.shape != x.shape,
            gettext("For x of shape {x} the shape is {shape}.").format(x=x.shape, shape=got.shape),
            "Every step keeps the shape. Which axis does keepdims=True keep?",
        )
        square = (x * x).mean(axis=-1, keepdims=True)
        eps = 1e-5
        if is_close(got, gamma * x / np.sqrt(square + eps), SAME[x.dtype.char]):
            reject_other_dtype(got, x)
            kept = x.copy()
            answer(kept, gamma)  # type: ignore[operator]
            reject(
                not np.array_equal(kept, x),
                "Your function has changed x.",
                "The caller still needs it. x /= … writes into x itself; x = x / … does not.",
            )
            continue
        reject_each(
            got,
            (gamma * normed(x), "That is LayerNorm.", "Which of its steps does RMSNorm leave out?"),
            (
                gamma * x / np.sqrt(x.var(axis=-1, keepdims=True) + eps),
                "The variance is taken about the mean.",
                "RMS is the root of the mean of the squares of x itself.",
            ),
            (x / np.sqrt(square + eps), "γ is not used.", "The formula ends in a product."),
            (
                gamma * x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + eps),
                "The squares are added up, and no mean is taken.",
                "What do the letters R, M and S stand for?",
            ),
            (
                gamma * x / (np.sqrt(square) + eps),
                "ε stands outside the root.",
                "Add it to the mean square, and take the root of the sum.",
            ),
            (
                gamma * x / np.sqrt(square),
                "ε is missing.",
                "What does your function give for a vector of zeros?",
            ),
            (
                gamma * x / np.sqrt((x * x).mean() + eps),
                "All tokens share one mean square.",
                "Each token has its own. Over which axis do its numbers lie?",
            )
            if x.ndim > 1
            else (None, "", ""),
            tolerance=SAME[x.dtype.char],
        )
        raise WrongAnswer(
            gettext("Some numbers are off for x of shape {x}.").format(x=x.shape),
            "Try 3, 4 with γ = 1: the mean square is 12.5.",
        )
    return "right: no mean, no β."


SCALES = np.array([1.0, 2, 4])  # γ of exercise 6


@exercise("add_norm-6")
def lost_gradient(answer: object) -> str:
    """A dout for which LayerNorm of 1, 4, 7 with γ = (1, 2, 4) sends nothing back."""
    dout = as_array(answer, (3,), "dout has the shape of the output.").astype(float)
    reject(not np.isfinite(dout).all(), "These are no finite numbers.", "Use small whole numbers.")
    reject(not dout.any(), "All three are 0.", "A dout of zeros sends nothing back, too.")
    x = np.array([1.0, 4, 7])
    dx, _, _ = layer_norm_backward(dout, x, SCALES, 1e-12)
    # What pencil numbers leave: a hundredth of the product, and of large ones no more than 0.15.
    lost = np.abs(dx * np.sqrt(6)).max() <= min(1e-2 * np.abs(SCALES * dout).max(), 0.15)
    reject(
        not lost and is_near(np.diff(dout, 2), 0, dout, 5e-3),
        "That would be right for γ = 1.",
        "dout is first multiplied by γ, place by place. What must come out of that product?",
    )
    reject(
        not lost,
        gettext("dx is {slopes}.").format(slopes=[float(f"{slope:.2g}") for slope in dx]),
        "dout is first multiplied by γ. A small step of x in which directions leaves the output as "
        "it is? x + 1 is one, 2x is another. What does 2x do to the normalised vector?",
    )
    return "right: times γ it is the normalised vector, or equal numbers, or a sum of both."


@exercise("add_norm-7")
def two_that_become_one(answer: object) -> str:
    """Two vectors of three numbers, neither multiples nor shifted, with one LayerNorm output."""
    pair = as_array(answer, (2, 3)).astype(float)
    first, second = pair
    reject(
        not np.isfinite(pair).all() or bool((np.abs(pair) > 100).any()),
        "Some number is too large.",
        "Use numbers between −100 and 100.",
    )
    reject(
        bool((np.ptp(pair, axis=1) < 0.5).any()),
        "The numbers of one vector are equal, or nearly.",
        "Begin with 1, 4, 7, whose norm you know.",
    )
    reject(
        bool(np.abs(first - second).max() < 0.1),
        "The two are the same, or nearly.",
        "Change the second vector by more.",
    )
    factor = (first @ second) / (first @ first)
    reject(
        is_near(second, factor * first, second, 1e-3),
        "One is a multiple of the other, or nearly.",
        "A factor leaves the norm unchanged. So does another change: see the first step.",
    )
    reject(
        bool(np.ptp(second - first) < 0.1),
        "The second is the first plus one number, or nearly.",
        "That leaves the norm unchanged, and so does a factor. Do both.",
    )
    a, b = normed(first, eps=0.0), normed(second, eps=0.0)
    reject(
        is_close(a, -b, 1e-3),
        "The outputs have opposite signs.",
        "A negative factor turns every sign round. Which factors do not?",
    )
    reject(
        is_close(np.sort(a), np.sort(b), 1e-3) and not is_close(a, b, 1e-3),
        "The outputs hold the same numbers in another order.",
        "The norm keeps the order of the numbers. So the second vector has to keep it too.",
    )
    reject(
        not is_close(a, b, 1e-4),
        "The outputs differ.",
        "Compute both by hand. What does subtracting the mean take away?",
    )
    return (
        "right: the norm sees neither a shift of all numbers nor a positive factor. "
        "A token loses its common level and its scale."
    )
