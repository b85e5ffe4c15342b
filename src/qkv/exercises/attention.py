"""The exercises of the chapter on queries, keys and values: the check of each answer."""

from __future__ import annotations

import dis
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.exercises.checks import (
    TWO_DECIMALS,
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    is_near,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import OneEach
from qkv.language import gettext, gettext_noop

# The chapter's embeddings: a fluffy blue creature roamed the verdant forest.
NONE, NOUN, VERB = [0] * 6, [1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]
FLUFFY, BLUE, VERDANT = [0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1]
EMBEDDINGS = np.array([NONE, FLUFFY, BLUE, NOUN, VERB, NONE, VERDANT, NOUN], float)


def correct(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return qn.scaled_dot_product_attention(q, k, v)[0]


def unscaled(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return scaled_by(q, k, v, 1)


def scaled_by(q: np.ndarray, k: np.ndarray, v: np.ndarray, divisor: float) -> np.ndarray:
    return qn.scaled_dot_product_attention(q, k, v, scale=1 / math.sqrt(divisor))[0]


def wrong_axis(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    return np.asarray(qn.softmax(scores, axis=-2) @ v)


def no_softmax(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) @ v)


# Attentions with other scores than the dot product: each a weighted average of the values.


def additive(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(2)
    kind = np.result_type(q, np.float32)  # float32 for float32, or the package refuses
    sizes = ((q.shape[-1], 4), (k.shape[-1], 4), 4)
    w_q, w_k, w_s = (rng.normal(size=s).astype(kind) for s in sizes)
    return qn.additive_attention(q, k, v, w_q, w_k, w_s)[0]


def nearest(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return weigh(-((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(axis=-1), v)


def plain_average(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return weigh(np.zeros((*q.shape[:-1], k.shape[-2])), v)


def in_float32(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return correct(*(np.asarray(x, dtype=np.float32) for x in (q, k, v)))


def whole_numbers_too(attention: Callable[..., Any]) -> Callable[..., Any]:
    """The function for values such as `np.eye(7, dtype=int)`, which the package refuses."""

    def read(x: Any) -> np.ndarray:
        array = np.asarray(x)
        return array.astype(float) if array.dtype.kind in "biu" else array

    return lambda q, k, v: attention(read(q), read(k), read(v))


# Functions that are no attention, and would pass if only shapes or a few numbers were looked at.


def over_all_pairs(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    share = np.exp(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]))
    return np.asarray(share / share.sum(axis=(-2, -1), keepdims=True) @ v)


def divided_by_sum(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2)
    return np.asarray(scores / scores.sum(axis=-1, keepdims=True) @ v)


def values_in_scores(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    return weigh(scores + np.arange(1, v.shape[-1] + 1) @ v.swapaxes(-1, -2), v)


def value_direction_in_scores(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Doubled values leave these weights alone; other values do not."""
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    length = np.sqrt((v**2).sum(axis=-1, keepdims=True))
    return weigh(scores + (v / np.maximum(length, 1e-12)).sum(axis=-1)[..., None, :], v)


def first_keys_preferred(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    return weigh(scores - np.arange(k.shape[-2]), v)


def first_key_preferred(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Two keys that change places behind the first leave these weights alone."""
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    return weigh(scores + 2 * (np.arange(k.shape[-2]) == 0), v)


def middle_keys_preferred(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """All keys read backwards leave these weights alone."""
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    m = k.shape[-2]
    return weigh(scores - np.abs(np.arange(m) - (m - 1) / 2), v)


def shared_among_queries(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A softmax over the queries, then rows that sum to 1: a query's weights hang on others."""
    share = qn.softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), axis=-2)
    return np.asarray(share / share.sum(axis=-1, keepdims=True) @ v)


def sharper_from_row_to_row(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    place = np.arange(q.shape[-2])[:, None]
    return weigh((1 + place) * (q @ k.swapaxes(-1, -2)) / math.sqrt(q.shape[-1]), v)


def weigh(scores: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(qn.softmax(scores) @ v)


def sigmoid_weights(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Each weight for itself: between 0 and 1, but a row sums to anything."""
    return np.asarray(1 / (1 + np.exp(-(q @ k.swapaxes(-1, -2)) / math.sqrt(q.shape[-1]))) @ v)


ALONE = "Let one query ask alone. Which of its weights may change?"
SHARES = "Give every key the same value. What must each query receive?"
# What to say of a detector that takes for attention what attention-8 must refuse, and the hint.
NO_ATTENTION = {
    "One that is no attention got through: a softmax over the wrong axis.": (wrong_axis, SHARES),
    "One that is no attention got through: a softmax over all pairs at once.": (
        over_all_pairs,
        SHARES,
    ),
    "One that is no attention got through: no softmax at all.": (no_softmax, SHARES),
    "One that is no attention got through: "
    "weights that are each between 0 and 1, whatever their sum.": (sigmoid_weights, SHARES),
    "One that is no attention got through: scores divided by their sum.": (
        divided_by_sum,
        "Its weights sum to 1, but some are negative. With which values is the output the weights?",
    ),
    "One that is no attention got through: weights that depend on the values.": (
        values_in_scores,
        "Double all values. What must happen to the output?",
    ),
    "One that is no attention got through: weights that depend on the directions of the values.": (
        value_direction_in_scores,
        "Doubled values keep their directions. Compare with random other values instead.",
    ),
    "One that is no attention got through: weights that depend on where a key stands.": (
        first_keys_preferred,
        "Shuffle the keys together with their values. What must not change?",
    ),
    "One that is no attention got through: "
    "weights that are larger for the first key, whatever it is.": (
        first_key_preferred,
        "Is there a key that stands where it stood in each order that you try?",
    ),
    "One that is no attention got through: weights that are larger for the keys in the middle.": (
        middle_keys_preferred,
        "Reading the keys backwards is one other order. Try one without a pattern.",
    ),
    "One that is no attention got through: weights that depend on the other queries.": (
        shared_among_queries,
        ALONE,
    ),
    "One that is no attention got through: a score that depends on where a query stands.": (
        sharper_from_row_to_row,
        ALONE,
    ),
}


@exercise("attention-1")
def weights_by_hand(answer: object) -> str:
    """Softmax of the scores (0, ln 3)."""
    weights = as_array(answer, shape=(2,))
    halved = 1 / (1 + 3 ** (1 / math.sqrt(2)))
    reject_each(
        weights,
        (
            [0, math.log(3)],
            "These are the scores themselves.",
            "A weight is e to the score, divided by something.",
        ),
        ([1, 3], "The exponentials are right, but they sum to 4.", "Weights share out exactly 1."),
        (
            [0, 1],
            "You divided the scores by their sum; a softmax takes exponentials first.",
            "What is e to the power of 0?",
        ),
        (
            [0.75, 0.25],
            "The right numbers, the wrong way round.",
            "The larger score gets the larger weight.",
        ),
        (
            [halved, 1 - halved],
            "You scaled by √2.",
            "Here the scores are given, and there is no scale.",
        ),
        tolerance=TWO_DECIMALS,
    )
    reject(not is_close(weights, [0.25, 0.75], TWO_DECIMALS), "Not these.", "e to the ln 3 is 3.")
    return "right. A difference of ln 3 between scores is a factor of 3 between weights."


@exercise("attention-2")
def mix_by_hand(answer: object) -> str:
    """One query, two keys, d_k = 4, values 10 and 0."""
    mix = as_number(answer)

    def given(score: float) -> float:
        return 10 / (1 + math.exp(-score))

    reject(
        is_close(mix, 20) or is_close(mix, 40),
        "The score itself multiplied the value: there was no softmax.",
        "A mix of 10 and 0 lies between 0 and 10.",
    )
    reject_each(
        mix,
        (
            given(4),
            "The scores went into the softmax unscaled.",
            "Between score and softmax stands a division.",
        ),
        (given(1), "You divided the scores by d_k.", "The formula has a root: √4 is not 4."),
        (10 / (1 + math.e**2), "The weights are swapped.", "Which key does the query agree with?"),
        (
            given(2) / 10,
            "This is the first key's weight.",
            "The weight is a share of something: what are the values?",
        ),
        tolerance=0.005,
    )
    reject(not is_close(mix, given(2), 0.005), "Not this.", "Score, scale, softmax, mix: in order.")
    return "right: e²/(e² + 1) of the first value."


def as_parts(answer: Any, count: int, mistake: str, hint: str) -> list[Any]:
    """The parts of a tuple, a list or an array, or `WrongAnswer` if they are not so many."""
    parts = list(answer) if hasattr(answer, "__iter__") and hasattr(answer, "__len__") else []
    reject(len(parts) != count or isinstance(answer, str | dict), mistake, hint)
    return parts


@exercise("attention-3")
def made_matrices(answer: object) -> str:
    """W_Q and W_K with which both nouns look at *verdant*, and no other word looks at any."""
    parts = as_parts(
        answer,
        2,
        "Two matrices were asked for.",
        "Give (W_Q, W_K), each with six rows.",
    )
    w_q, w_k = (as_array(part).astype(float) for part in parts)
    reject(
        not (w_q.ndim == w_k.ndim == 2 and len(w_q) == 6 and w_q.shape == w_k.shape)
        or not w_q.size,
        gettext("W_Q has shape {w_q} and W_K {w_k}.").format(w_q=w_q.shape, w_k=w_k.shape),
        "Both have six rows, one for each column of an embedding, and the same width.",
    )
    reject(
        not (np.isfinite(w_q).all() and np.isfinite(w_k).all()),
        "Some entries are infinite, or no numbers.",
        "Small whole numbers will do.",
    )
    rows = map_of(w_q, w_k)
    nouns, rest = rows[[3, 7]], rows[[0, 1, 2, 4, 5, 6]]
    reject(
        is_looked_up(map_of(w_k, w_q)),
        "Queries and keys are exchanged: here *verdant* looks for nouns.",
        "Which of the two says what a word looks for?",
    )
    reject(
        bool(nouns[:, 6].min() <= 0.9 and nouns.argmax(axis=1).tolist() == [6, 6]),
        gettext("The nouns look at *verdant* most, with the weight {weight:.2f} only.").format(
            weight=nouns[:, 6].min()
        ),
        "What makes a score larger?",
    )
    reject(
        bool(nouns[:, 6].min() <= 0.9),
        "The nouns do not look at *verdant*.",
        "Which column do only the embedding of *verdant* and your key have in common?",
    )
    reject(
        not np.allclose(rest, 1 / 8, atol=0.002),
        "Some other word does not have eight equal weights.",
        "What is the query of a word that looks for nothing? Print E @ W_Q.",
    )
    return "right. What a word looks for and what it is found by are two different rows."


def map_of(w_q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    """The weights of the chapter's eight words."""
    scores = (EMBEDDINGS @ w_q) @ (EMBEDDINGS @ w_k).T / math.sqrt(w_q.shape[1])
    return qn.softmax(scores)


def is_looked_up(rows: np.ndarray) -> bool:
    """Whether these rows are what attention-3 asks for."""
    rest = rows[[0, 1, 2, 4, 5, 6]]
    return bool(rows[[3, 7], 6].min() > 0.9 and np.allclose(rest, 1 / 8, atol=0.002))


@exercise("attention-4")
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
    reject(
        uses_package(answer),
        "Your function calls one that is ready-made.",
        "Write its lines yourself, with NumPy alone.",
    )
    got = np.asarray(result)
    reject(
        got.shape != right.shape,
        gettext("For q {q}, k {k} and v {v} the result has shape {shape}.").format(
            q=q.shape, k=k.shape, v=v.shape, shape=got.shape
        ),
        gettext("One mix of values for each query: {shape}.").format(shape=right.shape),
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
    wider = [rng.normal(size=shape) for shape in ((5, 4), (7, 4), (7, 5))]
    reject(
        not is_close(attention(*wider), correct(*wider)),
        "With d_k = 3 it is right, with d_k = 4 it is not.",
        "The divisor depends on the width of a key: which axis of which array says it?",
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
        mistake = gettext("With two sentences stacked: {mistake}").format(mistake=error.mistake)
        raise WrongAnswer(mistake, axes) from error
    reject(
        not is_close(both, correct(*sentences)), "With two sentences stacked it goes wrong.", axes
    )
    singles = [x.astype(np.float32) for x in (q, k, v)]
    reject(
        not is_close(np.asarray(attention(*singles)), right, 1e-4),
        "In float32 it goes wrong.",
        "Does your function make integers or half precision on the way?",
    )
    reject(
        not is_close(got, right, 1e-5),
        "The numbers are right to a few digits only.",
        "Does your function make integers or half precision on the way?",
    )
    return "right, for one sentence and for two, and for two widths."


READY_MADE = ("qkv", "torch")


def uses_package(thing: Any, seen: tuple[Any, ...] = ()) -> bool:
    """Whether it is of the package or PyTorch, or a function that names or calls what is."""
    module = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", None)
    if str(module).split(".")[0] in READY_MADE:
        return True
    if not inspect.isfunction(thing) or any(thing is other for other in seen):
        return False
    steps = list(dis.get_instructions(thing))
    imported = [str(step.argval) for step in steps if step.opname == "IMPORT_NAME"]
    names = [step.argval for step in steps if step.opname == "LOAD_GLOBAL"]  # no attributes
    used = [thing.__globals__.get(name) for name in names] + closure_of(thing)
    return any(name.split(".")[0] in READY_MADE for name in imported) or any(
        uses_package(value, (*seen, thing)) for value in used
    )


def closure_of(function: Any) -> list[Any]:
    """What an inner function uses of the function around it, as far as it is there yet."""
    try:
        return [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        return []


def without_keepdims(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The chapter's `broken`: the sums of the rows lie along the keys."""
    scores = q @ k.T / math.sqrt(q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(exps / exps.sum(axis=-1) @ v)


def check_repaired(repaired: Callable[..., Any], given: list[np.ndarray]) -> None:
    """Refuse a repaired function that is no attention for these queries, keys and values."""
    sizes = {"n": len(given[0]), "m": len(given[1]), "d_k": given[0].shape[1]}
    try:
        mended = np.asarray(repaired(*given))
    except WrongAnswer as error:
        mistake = gettext("For {n} queries, {m} keys and d_k = {d_k}: {mistake}")
        raise WrongAnswer(
            mistake.format(**sizes, mistake=error.mistake),
            "`exps` has shape (n, m). Which shape has its sum, and which would fit?",
        ) from error
    other = gettext(
        "For {n} queries, {m} keys and d_k = {d_k} your `repaired` returns other numbers than "
        "attention."
    )
    reject(
        not is_close(mended, correct(*given), 1e-4),
        other.format(**sizes),
        "Each row of `exps` is divided by its own sum, for all n, m and d_k.",
    )


@exercise("attention-5")
def silent_mistake(answer: object) -> str:
    """A repaired attention, and arrays for which the faulty one is wrong without an error."""
    parts = as_parts(
        answer,
        4,
        "A function and three arrays were asked for.",
        "Give the repaired function, then queries, keys and values: (repaired, q, k, v).",
    )
    repaired = as_function(parts[0])
    rng = np.random.default_rng(3)
    check_repaired(repaired, [rng.normal(size=shape) for shape in ((4, 2), (3, 2), (3, 5))])
    check_repaired(repaired, [rng.normal(size=shape) for shape in ((3, 4), (3, 4), (3, 2))])
    q, k, v = (as_array(part).astype(float) for part in parts[1:])
    shapes = {"q": q.shape, "k": k.shape, "v": v.shape}
    reject(
        not q.ndim == k.ndim == v.ndim == 2,
        gettext("Here q has shape {q}, k {k} and v {v}: each needs two axes.").format(**shapes),
        "One row a query, one row a key, one row a value: [[1.0], [0.0]] has two rows.",
    )
    reject(
        q.shape[1] != k.shape[1] or len(k) != len(v) or not all(x.size for x in (q, k, v)),
        gettext("No attention fits these: q has shape {q}, k {k} and v {v}.").format(**shapes),
        "A query is as wide as a key, and each key has one value.",
    )
    reject(
        not all(np.isfinite(x).all() for x in (q, k, v)),
        "Some entries are infinite, or no numbers.",
        "Small whole numbers will do.",
    )
    try:
        wrong = without_keepdims(q, k, v)
    except ValueError as error:
        raise WrongAnswer(
            gettext("For these `broken` raises an error: {error}.").format(error=error),
            "Write down the shape of `exps`, and that of its sum. When can one divide the other?",
        ) from error
    right = correct(q, k, v)
    reject(
        len(q) == 1,
        "With a single query `broken` is right.",
        "There is one sum then. Which sum must each of several rows be divided by?",
    )
    reject(
        is_near(wrong.T, right.T, v.T, 1e-3),
        "It raises no error, and its numbers are right for these.",
        "Compare the sums of the rows of `exps`. What if they are equal?",
    )
    check_repaired(repaired, [q, k, v])
    return (
        "right: sums without keepdims lie along the keys, and divide the wrong weights. A test "
        "with several queries and another number of keys raises an error."
    )


@exercise(
    "attention-6",
    OneEach(
        (gettext_noop("keys"), gettext_noop("queries"), gettext_noop("values")),
        ("True", "False"),
        lambda chosen: tuple(value == "True" for value in chosen),
    ),
)
def same_vector_added(answer: object) -> str:
    """Which weights move when one vector is added to every key, query, value?"""
    each = "One for the keys, one for the queries, one for the values: (True, False, True), say."
    given = as_array(answer, (3,), each)
    reject(
        not np.isin(given, (0, 1)).all(),
        "Each is either True or False.",
        "Do not write how much the weights change, but whether they do.",
    )
    reject_choice(
        tuple(bool(x) for x in given),
        (False, True, False),
        "Write down row i's scores with c added. Which of Q, K and V stand inside the softmax, and "
        "do all scores of the row grow by the same number?",
        (
            (True, True, False),
            "You took every change of the scores for a change of the weights.",
            "What does a softmax do with a row in which all scores have grown by the same number?",
        ),
    )
    return (
        "right. A softmax sees differences only. A vector added to all keys adds the same number "
        "to all scores of a row, and no weight changes."
    )


@exercise("attention-7")
def large_weight_without_effect(answer: object) -> str:
    """Values for the weights (0.9, 0.05, 0.05) with which the first key can go unnoticed."""
    values = as_array(answer).astype(float)
    values = values.reshape(3) if values.size == 3 else values
    reject(
        values.ndim not in (1, 2) or len(values) != 3,
        gettext("Three values were asked for; this has shape {shape}.").format(shape=values.shape),
        "One number for each key, or one row of numbers.",
    )
    reject(
        not np.isfinite(values).all(),
        "Some entries are infinite, or no numbers.",
        "Small whole numbers will do.",
    )
    rest = (values[1] + values[2]) / 2  # the weights without the first key: ½ and ½
    reject(
        float(np.ptp(values, axis=0).max()) < 0.1,
        "All three values are equal, or so close that nothing is proved.",
        "Find values that differ, by 0.1 or more.",
    )
    reject(
        not np.any(values[0]) and not is_close(values[0], rest),
        "An empty value still takes nine tenths of the weight away from the others.",
        "Compute the mix with the first key, then without it: weights ½ and ½.",
    )
    mix = np.array([0.9, 0.05, 0.05]) @ values
    reject(
        not is_near(mix, rest, values.T, 1e-3),
        "Without the first key the output is another one.",
        "Which mix do the other two make, with weights ½ and ½?",
    )
    return "right: a weight says how much a value counts, and not what changes without it."


@exercise("attention-8")
def attention_detector(answer: object) -> str:
    """A function that tells an attention with any score from what is no attention."""
    detector = as_function(answer)

    def is_attention(attention: Callable[..., Any]) -> bool:
        try:
            return bool(detector(whole_numbers_too(attention)))
        except WrongAnswer as error:
            if error.__cause__ is None:  # it raised nothing, and has returned None
                raise
            hint = "The function given to you takes q, k and v, and returns the output alone."
            raise WrongAnswer(error.mistake, hint) from error

    reject(
        not is_attention(correct),
        "Your detector refuses scaled dot-product attention.",
        "Print your properties one by one for it. Which of them fails?",
    )
    reject(
        not is_attention(in_float32),
        "Your detector refuses a right attention that computes in float32.",
        "Two results that should agree differ by about 0.0000001: compare with a tolerance.",
    )
    reject(
        not (is_attention(additive) and is_attention(nearest)),
        "Your detector refuses an attention that has another score than the dot product.",
        "Do not compare with one formula. Which properties hold whatever the score is?",
    )
    reject(
        not is_attention(plain_average),
        "Your detector refuses the plain average of all values.",
        "Its weights are equal, positive and sum to 1: here it counts as attention.",
    )
    for mistake, (attention, hint) in NO_ATTENTION.items():
        reject(is_attention(attention), mistake, hint)
    return "right: five attentions accepted, twelve others refused, and no formula to compare with."
