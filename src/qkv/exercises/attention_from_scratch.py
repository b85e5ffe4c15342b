"""Attention from scratch, of the chapter on queries, keys and values: the check of the answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.attention_helpers import correct, no_softmax, scaled_by, unscaled, wrong_axis
from qkv.exercises.checks import WrongAnswer, as_function, exercise, is_close, reject, reject_each


@exercise("attention-5")
def attention_from_scratch(answer: object) -> str:
    """Attention from scratch, with any number of leading axes."""
    attention = as_function(answer)
    rng = np.random.default_rng(11)
    q, k, v = (rng.normal(size=shape) for shape in ((5, 3), (7, 3), (7, 2)))
    result, right = attention(q, k, v), correct(q, k, v)
    reject(
        isinstance(result, tuple),
        "This returns a pair.",
        "The output alone was asked for, made in NumPy.",
    )
    names = getattr(getattr(answer, "__code__", None), "co_names", ())
    reject(
        "scaled_dot_product_attention" in names,
        "Your function calls the package's.",
        "Write its five lines yourself, with NumPy alone.",
    )
    got = np.asarray(result)
    reject(
        got.shape != right.shape,
        f"For q {q.shape}, k {k.shape} and v {v.shape} the result has shape {got.shape}.",
        f"One mix of values for each query: {right.shape}.",
    )
    given = [x.copy() for x in (q, k, v)]
    if callable(answer):
        answer(*given)  # the reader's own function: `attention` gives it copies
    reject(
        not all(map(np.array_equal, given, (q, k, v))),
        "Your function changes q, k or v, and its caller still needs them.",
        "`x /= 2` and `x -= 1` write into x itself; `x = x / 2` makes a new array.",
    )
    reject(
        is_close(got, scaled_by(q, k, v, len(k))) or is_close(got, scaled_by(q, k, v, len(q))),
        "You divided by the root of the number of words.",
        "It is the width of a key that makes its scores wide.",
    )
    reject_each(
        got,
        (unscaled(q, k, v), "The scale is missing.", "What is d_k here?"),
        (
            wrong_axis(q, k, v),
            "The softmax runs along the queries.",
            "For one query, the weights of all keys share out 1.",
        ),
        (
            scaled_by(q, k, v, k.shape[-1] ** 2),
            "You divided by d_k.",
            "There is a root in the formula.",
        ),
        (
            no_softmax(q, k, v),
            "The scores themselves multiply the values.",
            "What turns scores into shares of 1?",
        ),
    )
    reject(
        not is_close(got, right),
        "The shape is right, the numbers are not.",
        "Compare step by step.",
    )
    with np.errstate(all="ignore"):
        large = np.asarray(attention(1e4 * q, k, v))
    reject(
        not is_close(large, correct(1e4 * q, k, v)),
        "Scores of 10,000 go wrong: e to the 10,000 is infinite, e to the −10,000 is 0.",
        "From each row subtract its own largest score. Why does that change nothing?",
    )
    sentences = [np.stack([x, 2 * x]) for x in (q, k, v)]
    axes = "`.T` turns all axes round; `swapaxes(-1, -2)` only the last two. And sum over axis -1."
    try:
        both = np.asarray(attention(*sentences))
    except WrongAnswer as error:
        raise WrongAnswer(f"With two sentences stacked: {error.mistake}", axes) from error
    reject(
        not is_close(both, correct(*sentences)), "With two sentences stacked it goes wrong.", axes
    )
    singles = [x.astype(np.float32) for x in (q, k, v)]
    reject(
        not is_close(single := np.asarray(attention(*singles)), right, 1e-4),
        "In float32 it goes wrong.",
        "Does your function make integers or half precision on the way?",
    )
    kinds = str(got.dtype), str(single.dtype)
    reject(
        kinds != ("float64", "float32"),
        f"float64 goes in and {kinds[0]} comes out; float32 goes in and {kinds[1]} comes out.",
        "`np.sqrt(3)` is a float64 number and widens float32 arrays; `math.sqrt(3)` does not.",
    )
    return "right, for one sentence and for two, in float64 and in float32."
