"""The exercises of the chapter on Add & Norm: the check of each answer."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    TWO_DECIMALS,
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    exercise,
    is_close,
    is_near,
    reject,
    reject_choice,
    reject_each,
)
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
    """x, γ, β: one token, a sentence, a batch with a faint token, and that in float32."""
    rng = np.random.default_rng(3)
    gamma, beta = rng.normal(size=(2, 5))
    one, sentence = 2 * rng.normal(size=5), rng.normal(size=(3, 5)) + 1
    batch = rng.normal(size=(2, 4, 5)) * 3 - 1
    batch[1, 2] /= 1000  # its variance is below ε
    found: list[tuple[Array, Array, Array]] = []
    for dtype in (np.float64, np.float32):
        g, b = gamma.astype(dtype), beta.astype(dtype)
        found += [(x.astype(dtype), g, b) for x in (one, sentence, batch)]
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
        f"For {x.dtype} numbers the result is {got.dtype}.",
        "np.zeros and np.float64 bring float64 in. A plain number such as 1e-5 does not.",
    )


FOUR = np.array([2.0, 4, 6, 8])
GAMMA, BETA = np.array([1.0, 1, 2, 2]), np.array([0.0, 0, 0, 3])


def step(x: Array, f: Any, gamma: Array, beta: Array, **options: Any) -> Array:
    """Pre-norm, or with options one of its likely mistakes."""
    out: Array = x + f(gamma * normed(x, **options) + beta)
    return out


def _counted(f: Any, calls: list[Array]) -> Any:
    """f, which also keeps what it was called with."""

    def counted(x: Array) -> Any:
        calls.append(x)
        return f(x)

    return counted


def _mixed(x: Array) -> Array:
    """A sub-layer that mixes tokens and bends the numbers."""
    out: Array = np.tanh(x + x[..., ::-1, :] / 2)
    return out


@exercise("add_norm-1")
def four_numbers(answer: object) -> str:
    """LayerNorm of 2, 4, 6, 8 with γ = (1, 1, 2, 2) and β = (0, 0, 0, 3)."""
    got = as_array(answer, (4,), "The norm keeps the shape.").astype(float)
    normal = normed(FOUR)
    reject_each(
        got,
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
            GAMMA * FOUR / np.sqrt(5) + BETA,
            "The mean was not subtracted.",
            "What is done to the numbers before they are divided?",
        ),
        tolerance=TWO_DECIMALS,
    )
    reject(
        not is_close(got, GAMMA * normal + BETA, TWO_DECIMALS),
        "Not these numbers.",
        "In this order: mean, differences, mean of the squares, root, divide, γ, β.",
    )
    return "right. Only the third and the fourth number differ from the plain norm."


@exercise("add_norm-2")
def two_that_become_one(answer: object) -> str:
    """Two vectors of three numbers, no multiples of each other, with one LayerNorm output."""
    pair = as_array(answer, (2, 3)).astype(float)
    first, second = pair
    reject(
        not np.isfinite(pair).all() or bool((np.abs(pair) > 100).any()),
        "Some number is too large.",
        "Use numbers between 1 and 100.",
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


@exercise("add_norm-3")
def evidence(answer: object) -> str:
    """The observations that prove that a norm mixes tokens: A and D."""
    reject_choice(
        as_letters(answer, "ABCDE"),
        "AD",
        "Ask of each: does a norm that treats each token by itself show it too?",
        (
            "AB",
            "You took every output that moves for proof.",
            "If each token is treated by itself, whose output moves when a token is replaced?",
        ),
    )
    return "right: A and D show an output that depends on another token."


@exercise("add_norm-4")
def pre_norm_built(answer: object) -> str:
    """`f(x, sublayer, gamma, beta)` is x + sublayer(LayerNorm(x))."""
    function = as_function(answer)
    for x, gamma, beta in INPUTS:
        f = _mixed if x.ndim > 1 else np.tanh
        calls: list[Array] = []
        counted = _counted(f, calls)
        got = as_array(function(x, counted, gamma, beta))
        reject(
            got.shape != x.shape,
            f"For x of shape {x.shape} the shape is {got.shape}.",
            "Every step keeps the shape. Which axis does keepdims=True keep?",
        )
        if is_close(got, step(x, f, gamma, beta), SAME[x.dtype.char]):
            reject(
                len(calls) != 1,
                f"f was called {len(calls)} times.",
                "f may be costly, or random. Keep its result in a variable.",
            )
            reject_other_dtype(got, x)
            kept = [array.copy() for array in (x, gamma, beta)]
            answer(kept[0], f, *kept[1:])  # type: ignore[operator]
            reject(
                not all(map(np.array_equal, kept, (x, gamma, beta))),
                "Your function has changed an array that it was given.",
                "The caller still needs it. x += … writes into x itself; x = x + … does not.",
            )
            continue
        out = gamma * normed(x) + beta
        reject_each(
            got,
            (
                gamma * normed(x + f(x)) + beta,
                "That is post-norm.",
                "In pre-norm, the norm comes before f, and nothing after the sum.",
            ),
            (
                out + f(out),
                "The residual connection carries the normalised vectors.",
                "What is added to f's output: x, or its norm?",
            ),
            (f(out), "The addition is missing.", "Where does x go around f?"),
            (x + out, "f is missing.", "What is done with the normalised vectors?"),
            (x + f(x), "The norm is missing.", "What does f read in pre-norm?"),
            (x + f(normed(x)), "γ and β are not used.", "The last two steps of the norm."),
            (
                x + gamma * f(normed(x)) + beta,
                "γ and β act after f.",
                "They belong to the norm, and f reads what the norm gives.",
            ),
            (x + f(gamma * normed(x)), "β is not used.", "What is added after the product?"),
            (
                step(x, f, gamma, beta, ddof=1),
                "The variance divides by d − 1.",
                "LayerNorm's variance is the mean of the squares.",
            ),
            (
                step(x, f, gamma, beta, outside=True),
                "ε stands outside the root.",
                "Add it to the variance, and take the root of the sum.",
            ),
            (
                step(x, f, gamma, beta, eps=0.0),
                "ε is missing.",
                "One token of the test holds tiny numbers. What is added to its variance?",
            ),
            tolerance=SAME[x.dtype.char],
        )
        wrong_axes = [axis for axis in range(x.ndim - 1) if x.ndim > 1]
        for axis in [*wrong_axes, None]:
            wrong = x.ndim > 1 and is_close(
                got, step(x, f, gamma, beta, axis=axis), SAME[x.dtype.char]
            )
            reject(
                wrong,
                "The mean is taken over the wrong axis, or over all of them.",
                "Each token has a mean of its own: over which axis do its numbers lie?",
            )
        raise WrongAnswer(
            f"Some numbers are off for x of shape {x.shape}.",
            "Try it on one token, 1, 4, 7, with an f that returns its input.",
        )
    x, gamma, beta = FAR
    read: list[Array] = []
    function(x, _counted(np.tanh, read), gamma, beta)
    reject(
        not is_close(read[0], gamma * normed(x) + beta, 5e-3),
        "In float32, numbers near 1000 that differ by little come out wrong.",
        "Squares near a million lose the small differences. What can be done before squaring?",
    )
    return "right, for one token, a sentence and a batch, in float32 too."


@exercise("add_norm-5")
def rms_norm_built(answer: object) -> str:
    """`f(x, gamma)` is γ x / √(mean x² + ε) over the last axis."""
    function = as_function(answer)
    for x, gamma, _ in INPUTS:
        got = as_array(function(x, gamma))
        reject(
            got.shape != x.shape,
            f"For x of shape {x.shape} the shape is {got.shape}.",
            "Every step keeps the shape. Which axis does keepdims=True keep?",
        )
        square = (x * x).mean(axis=-1, keepdims=True)
        eps = 1e-5
        if is_close(got, gamma * x / np.sqrt(square + eps), SAME[x.dtype.char]):
            reject_other_dtype(got, x)
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
            f"Some numbers are off for x of shape {x.shape}.",
            "Try 3, 4 with γ = 1: the mean square is 12.5.",
        )
    return "right: no mean, no β."


@exercise("add_norm-6")
def lost_gradient(answer: object) -> str:
    """A dout, not all equal, for which LayerNorm of 1, 4, 7 sends nothing back."""
    dout = as_array(answer, (3,), "dout has the shape of the output.").astype(float)
    reject(not np.isfinite(dout).all(), "These are no finite numbers.", "Use small whole numbers.")
    reject(not dout.any(), "All three are 0.", "A dout of zeros sends nothing back, too.")
    reject(
        bool(np.ptp(dout) < 1e-3 * np.abs(dout).max()),
        "All three are equal, or nearly.",
        "That is one of the two directions. The other one is the output itself.",
    )
    x = np.array([1.0, 4, 7])
    dx, _, _ = layer_norm_backward(dout, x, np.ones(3), 1e-12)
    reject(
        not is_near(dx, 0, dout, 5e-3),
        f"dx is {[float(f'{slope:.2g}') for slope in dx]}.",
        "A small step of x in which directions leaves the output as it is? x + 1 is one, 2x is "
        "another. What does 2x do to the normalised vector?",
    )
    return "right: the output, and any sum of it with equal numbers."
