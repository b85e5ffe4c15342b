"""The exercises of the chapter on positions: the check of each answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    TWO_DECIMALS,
    as_array,
    as_function,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import Letters
from qkv.language import gettext

Array: TypeAlias = np.ndarray[Any, Any]
Encode: TypeAlias = Callable[[Array], Array]


def waves(
    places: int | Array, d_model: int, exponents: Array | None = None, base: float = 10000.0
) -> Array:
    """(n, d_model): sine and cosine side by side, pair i with wavelength 2π · base^(2i / d).

    Args:
        places: the positions (n,), or how many of them, counted from 0.
        d_model: how many numbers a position has, even.
        exponents: those of the base, times d_model: one for each pair. None is 2i.
        base: the longest wavelength is nearly 2π · base.
    """
    pairs = np.arange(0, d_model, 2) if exponents is None else exponents
    position = np.arange(places) if isinstance(places, int) else places
    angle = position[:, None] / base ** (pairs / d_model)  # (n, d_model / 2)
    out: Array = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(len(angle), d_model)
    return out


def encoder(
    add: Array | None = None,
    slope: float = 0.0,
    sentence: int | None = None,
    feature: bool = False,
    circle: Sequence[int] | None = None,
    turn: bool = False,
) -> Encode:
    """Self-attention over (B, T, d) without a mask, with positions or without.

    Args:
        add: (T, d) or (B, 1, d), added to the vectors.
        slope: of a bias that falls with the distance of query and key, as ALiBi's does.
        sentence: the one sentence of the batch that gets `add`; None is all.
        feature: positions move one number of an output up, and its neighbour down by as much.
        circle: the places in the order of a circle; the bias has distances along it.
        turn: each output is rotated by its position, and keeps its length.
    """

    def encode(x: Array) -> Array:
        T = x.shape[1]
        z = x.copy()
        places = np.zeros((T, x.shape[2]), x.dtype) if add is None else np.asarray(add, x.dtype)
        places = places[: len(x)] if places.ndim == 3 else places[:T]
        if not feature:
            whose = slice(None) if sentence is None else slice(sentence, sentence + 1)
            z[whose] += places
        along = np.arange(T) if circle is None else np.argsort(circle)
        distance = abs(along[:, None] - along)
        if circle is not None:
            distance = np.minimum(distance, T - distance)
        scores = z @ z.mT / np.sqrt(x.dtype.type(x.shape[-1])) - x.dtype.type(slope) * distance
        e = np.exp(scores - scores.max(-1, keepdims=True))
        out: Array = e / e.sum(-1, keepdims=True) @ z
        if feature:
            out[..., 0] += places[:, 0]
            out[..., 1] -= places[:, 0]
        if turn:
            c, s = np.cos(np.arange(T)), np.sin(np.arange(T))
            one, two = out[..., 0].copy(), out[..., 1].copy()
            out[..., 0], out[..., 1] = c * one - s * two, s * one + c * two
        return out

    return encode


def _last_column(x: Array) -> Array:
    out = encoder()(x)
    out[..., -1] += np.sin(np.arange(x.shape[1]), dtype=x.dtype)
    return out


def _doubled_at(place: int) -> Encode:
    def encode(x: Array) -> Array:
        out = encoder()(x)
        out[:, place] *= 2
        return out

    return encode


def _of_the_token_before(x: Array) -> Array:
    return np.roll(encoder()(x), 1, axis=1)


def _opposite_signs(x: Array) -> Array:
    out = encoder()(x)
    move = np.sin(np.arange(x.shape[1]), dtype=x.dtype)[:, None]  # (T, 1)
    out[:1] += move
    out[1:2] -= move
    return out


def planted() -> Iterator[tuple[Encode, str, str]]:
    """Models that positional-6 must not call blind, and what to say of a function that does."""
    yield (
        _last_column,
        "It misses positions that move one column of the outputs alone.",
        "How many of the numbers of an output do you compare? Compare all of them.",
    )
    for place in range(6):
        yield (
            _doubled_at(place),
            gettext("It misses a model that doubles the output at place {place}.").format(
                place=place
            ),
            "How many of the outputs of a sentence do you compare? Compare all of them.",
        )
    yield (
        _of_the_token_before,
        "It misses a model that gives each token the output of the one before it.",
        "Which output belongs to which token? Sorting forgets that.",
    )
    yield (
        _opposite_signs,
        "It misses positions that move one sentence up and the next one down.",
        "What does a sum over the sentences show of that? Compare sentence by sentence.",
    )


def _wrong_waves(
    p: Array, d_model: int, base: float, right: Array
) -> tuple[tuple[object, str, str], ...]:
    position = p[:, None]
    column = np.arange(d_model)
    pairs = np.arange(0, d_model, 2)
    by_column = position / base ** (column / d_model)
    halves = np.concatenate([right[:, 0::2], right[:, 1::2]], axis=1)
    swapped = np.stack([right[:, 1::2], right[:, 0::2]], -1).reshape(len(p), d_model)
    return (
        (
            np.where(column % 2 == 0, np.sin(by_column), np.cos(by_column)),
            "Sine and cosine of one pair have different angles.",
            "The exponent is 2i / d_model, and i is the same for both columns of a pair.",
        ),
        (
            waves(p, d_model, pairs * 2, base),
            "The hands turn too slowly.",
            "Columns 0, 2, 4 are already 2i. Is your exponent doubled once more?",
        ),
        (
            waves(p, d_model, pairs / 2, base),
            "The hands turn too fast.",
            "The exponent is 2i / d_model. Is the 2 there?",
        ),
        (
            halves,
            "All sines stand before all cosines.",
            "out[:, 0::2] is every second column. Which slices does the formula name?",
        ),
        (swapped, "The cosines stand in the even columns.", "Row 0 begins with sin 0. What is it?"),
        (
            waves(p + 1, d_model, base=base),
            "The positions count from 1.",
            "The first word is at position 0.",
        ),
        (
            waves(len(p), d_model, base=base),
            "These are the rows of positions 0, 1, 2, …",
            "The function is given the positions. What should stand where np.arange(T) stood?",
        ),
        (
            waves(p, d_model),
            "The base is 10,000, whatever was given.",
            "Which number of the formula is the third argument?",
        ),
    )


def one_order_passes() -> Iterator[Encode]:
    """Encoders that see the order; whoever tries a single order meets one that it cannot tell.

    That order keeps each place within its cycle. With two cycles or more, one row for the places
    of a cycle and one for the others hide from it; with one cycle, distances along that circle do.
    """
    for group in product((0, 1), repeat=5):
        if any(group):
            yield encoder(waves(2, 8)[[0, *group]])
    for others in permutations(range(1, 6)):
        if others[0] < others[-1]:  # each circle once, not backwards too
            yield encoder(slope=0.5, circle=(0, *others))


FAINT = 1e-2  # the size of the faintest positions that have to be found


@exercise("positional-1")
def row_by_hand(answer: object) -> str:
    """PE_23 for d_model = 4: sin 23, cos 23, sin 0.23, cos 0.23."""
    row = as_array(answer, (4,), "d_model = 4 has two hands, and each hand has two numbers.")
    right = waves(24, 4)[23]
    degrees = np.radians(23)
    reject_each(
        row,
        (
            [np.sin(degrees), np.cos(degrees), np.sin(degrees / 100), np.cos(degrees / 100)],
            "The angles were taken in degrees.",
            "The formula has radians: one position turns the first hand by 1 radian, about 57°.",
        ),
        (
            [np.sin(23), np.cos(2.3), np.sin(0.23), np.cos(0.023)],
            "Each column has an angle of its own.",
            "Sine and cosine of a pair share one angle. Which number counts the pairs?",
        ),
        (
            [np.sin(23), np.cos(23), np.sin(23e-4), np.cos(23e-4)],
            "The second hand turns too slowly.",
            "For the second pair, i is 1. What is 2i / d_model then?",
        ),
        (
            right[[0, 2, 1, 3]],
            "The two sines stand before the two cosines.",
            "Sine and cosine of one hand stand side by side here.",
        ),
        (
            right[[1, 0, 3, 2]],
            "The cosines stand in the even columns.",
            "Columns are counted from 0. Look at the row of position 0: which numbers are 0?",
        ),
        (waves(23, 4)[22], "That is position 22.", "Positions count from 0: here p is 23 itself."),
        (waves(25, 4)[24], "That is position 24.", "p is 23. Nothing is added to it."),
        tolerance=TWO_DECIMALS,
    )
    reject(
        not is_close(row, right, TWO_DECIMALS),
        "Not these numbers.",
        "Write down the two angles first. The divisors are 1 and 100.",
    )
    return "right: two angles, 23 and 0.23, and of each the sine and the cosine."


@exercise("positional-2", Letters("ABCDE"))
def evidence(letters: str) -> str:
    """The observations that prove that a model without a mask uses positions: B and C."""
    reject_choice(
        letters,
        "BC",
        "Ask of each: does attention without positions show it too?",
        (
            "ABD",
            "You took every output that moves for proof.",
            "Without positions, which outputs move when words change places, or one is replaced?",
        ),
    )
    return "right: in B and C the words are the same, and only their places differ."


@exercise("positional-3")
def build_waves(answer: object) -> str:
    """`f(positions, d_model, base)` is a row of the encoding for each given position."""
    function = as_function(answer)
    for places, d_model, base in (
        ([0, 1, 2, 3, 4, 5, 6], 6, 10_000),
        ([0, 1, 2], 8, 10_000),
        ([59], 2, 10_000),
        ([7, 0, 7, 300], 4, 10_000),
        ([20_000, 5], 8, 10_000),
        ([3, 1, 2], 6, 50),
        ([0.5, 2.25], 6, 1000),
    ):
        p = np.array(places)
        got = np.asarray(function(p, d_model, base))
        reject(
            got.shape != (len(p), d_model),
            gettext("For {count} positions and d_model = {d_model} the shape is {shape}.").format(
                count=len(p), d_model=d_model, shape=got.shape
            ),
            "One row for each given position, one column for each of d_model numbers.",
        )
        right = waves(p, d_model, base=base)
        if is_close(got, right, 1e-3 if got.dtype == np.float32 else 1e-4):
            continue
        reject_each(got, *_wrong_waves(p, d_model, base, right), tolerance=1e-4)
        reject(
            True,
            gettext(
                "Some numbers are off for positions {places}, d_model = {d_model}, base = {base}."
            ).format(places=places, d_model=d_model, base=base),
            "Position 0 has the row 0, 1, 0, 1, …; the row of position 1 begins with 0.84, 0.54.",
        )
    return "right: one angle for each pair, sine in the even column, cosine in the odd one."


@exercise("positional-4")
def one_step_by_hand(answer: object) -> str:
    """The hand (0.6, 0.8), one step of 1 radian on, and the dot product of old and new."""
    three = "The new sine, the new cosine, and one dot product."
    got = as_array(answer, (3,), three).astype(float)
    s, c = math.sin(1), math.cos(1)
    old = np.array([0.6, 0.8])
    new = np.array([0.6 * c + 0.8 * s, 0.8 * c - 0.6 * s])
    degrees = math.radians(1)
    reject_each(
        got[:2],
        (
            [0.6 * c - 0.8 * s, 0.8 * c + 0.6 * s],
            "The hand was turned back, by one step to the position before.",
            "Compare your signs with those of the addition formulas.",
        ),
        (new[::-1], "Sine and cosine stand the other way round.", "The sine comes first."),
        (
            old + np.array([s, c]),
            "Two hands were added.",
            "The angles are added; their sines are not.",
        ),
        (old * [s, c], "Each number was multiplied alone.", "Each new number has two terms."),
        ([s, c], "That is the hand at position 1.", "The hand begins at (0.6, 0.8) here."),
        (
            [
                0.6 * math.cos(degrees) + 0.8 * math.sin(degrees),
                0.8 * math.cos(degrees) - 0.6 * math.sin(degrees),
            ],
            "The step was taken as 1 degree.",
            "One position turns the first hand by 1 radian.",
        ),
        tolerance=TWO_DECIMALS,
    )
    reject(
        not is_close(got[:2], new, TWO_DECIMALS),
        "The new hand is not right.",
        "α is unknown, but its sine and cosine are given. What is β?",
    )
    reject(
        not is_close(got[2], c, TWO_DECIMALS),
        "The hand is right, its dot product with the old one is not.",
        "0.6 times the new sine, and 0.8 times the new cosine. By what angle do the two differ?",
    )
    return "right: the dot product is cos 1, whatever the position was."


@exercise("positional-5")
def find_the_fault(answer: object) -> str:
    """`f(x)` adds row t to token t of each sentence of x (B, T, d_model)."""
    function = as_function(answer)
    for shape in ((2, 3, 4), (1, 5, 4), (3, 3, 6), (5, 2, 8)):
        x = np.random.default_rng(5).normal(size=shape)
        B, T, d_model = shape
        got = np.asarray(function(x))
        reject(
            got.shape != shape,
            gettext("For x of shape {shape} the result has shape {got}.").format(
                shape=shape, got=got.shape
            ),
            "Positions are added to the vectors, so the shape stays.",
        )
        added = got - x
        wrong = (
            (
                waves(B * T, d_model).reshape(shape),
                "One sentence, put into a batch twice, still gets two outputs.",
                "Which positions are those of the second sentence? Count the rows of `flat`.",
            ),
            (
                np.broadcast_to(waves(B, d_model)[:, None], shape),
                "All tokens of a sentence get one and the same row.",
                "On which axis do the tokens stand?",
            ),
            (
                np.broadcast_to(waves(1, d_model), shape),
                "Every token gets row 0.",
                "Token t gets row t.",
            ),
            (
                np.repeat(waves(T, d_model), B, axis=0).reshape(shape),
                "Each row stands there several times in a row.",
                "`flat` has all tokens of the first sentence, then all of the second.",
            ),
            (np.zeros(shape), "No positions are added.", "Which line adds them?"),
        )
        right = np.broadcast_to(waves(T, d_model), shape)
        if is_close(added, right, 1e-4):
            continue
        reject_each(added, *wrong, tolerance=1e-4)
        reject(
            True,
            gettext("For x of shape {shape} some numbers are off.").format(shape=shape),
            "Try zeros of shape (2, 3, 4): which rows does each of the two sentences get?",
        )
    return "right: each sentence begins at position 0 again."


@exercise("positional-6")
def order_blind(answer: object) -> str:
    """`f(encode, x)` says whether outputs follow their tokens to any place; x is (B, T, d)."""
    function = as_function(answer)
    x = np.random.default_rng(9).normal(size=(3, 6, 8))
    rows = waves(6, 8)
    blind = bool(function(encoder(), x))
    sees = not bool(function(encoder(rows), x))
    reject(not blind and not sees, "True and False are swapped.", "True means: blind to order.")
    reject(
        not blind,
        "It calls attention without positions not blind.",
        "Outputs move with their tokens. Do you put both outputs into the same order before you "
        "compare, and do you allow for rounding?",
    )
    reject(
        not sees,
        "It calls a model with correct positions blind.",
        "x is (B, T, d). On which axis do the tokens stand, and does your test move them?",
    )
    reject(
        not function(encoder(waves(3, 8)[:, None]), x),
        "It calls the model with positions on the batch axis not blind.",
        "Each sentence gets one vector there. Do you compare a sentence with itself alone?",
    )
    reject(
        bool(function(encoder(slope=0.5), x)),
        "It misses a bias by distance.",
        "A reversed sentence keeps every distance. Which change of order does not?",
    )
    reject(
        bool(function(encoder(slope=0.5, circle=range(6)), x)),
        "It misses a model that counts distances around a circle.",
        "Moving all tokens along by one keeps every distance on a circle. Try other orders too.",
    )
    reject(
        bool(function(encoder(rows[np.arange(6) // 2]), x)),
        "It misses a model that gives two neighbours one row.",
        "Which orders leave each token with its row? Try others too.",
    )
    for place in range(6):
        marked = np.zeros((6, 8))
        marked[place] = rows[3]
        reject(
            bool(function(encoder(marked), x)),
            gettext("It misses a model that marks position {place} alone.").format(place=place),
            "Does every token move to another place in your test?",
        )
    for sentence in range(3):
        reject(
            bool(function(encoder(rows, sentence=sentence), x)),
            gettext("It misses a model in which only sentence {sentence} has positions.").format(
                sentence=sentence
            ),
            "The batch has several sentences. Do you compare all of them?",
        )
    reject(
        bool(function(encoder(rows, feature=True), x)),
        "It misses positions that move one number up and another down.",
        "What do a sum or an average show of that? Compare number by number.",
    )
    reject(
        bool(function(encoder(turn=True), x)),
        "It misses positions that rotate each output and keep its length.",
        "What does the length of a vector show of its direction? Compare number by number.",
    )
    for encode, mistake, hint in planted():
        reject(bool(function(encode, x)), mistake, hint)
    reject(
        any(function(encode, x) for encode in one_order_passes()),
        "It misses a model that your orders do not change.",
        "For each single order there is a model that sees the order and passes. Try two or more.",
    )
    for dtype in (np.float64, np.float32):
        name, y = np.dtype(dtype).name, x.astype(dtype)
        reject(
            not function(encoder(), y),
            gettext("In {dtype} it calls attention without positions not blind.").format(
                dtype=name
            ),
            "Sums in another order round differently, by 1e-7 in float32. How much do you allow?",
        )
        reject(
            bool(function(encoder(FAINT * rows), y)),
            gettext("In {dtype} it misses positions of size {size:g}.").format(
                dtype=name, size=FAINT
            ),
            "Small positions still move the outputs by far more than rounding. Mind the tolerance.",
        )
    return "right: it finds every position that was planted, and calls attention alone blind."


@exercise("positional-7")
def rotary_score(answer: object) -> str:
    """(2, 0) at 5 and (0, 3) at 4, 30° a position: 3, and -3 with their places swapped."""
    both = "One score for the places 5 and 4, one for the places 4 and 5."
    scores = as_array(answer, (2,), both)
    small, large = 6 * math.cos(math.radians(60)), 6 * math.sin(math.radians(60))
    reject_each(
        scores,
        ([0, 0], "That is the score without rotation.", "By how much more was the query turned?"),
        (
            [-small, small],
            "Each of the two has the sign of the other.",
            "Both turn counter-clockwise. Which of the two vectors is turned further?",
        ),
        (
            [small, small],
            "Swapped places give another score.",
            "The key is 90° ahead of the query before any rotation. Draw both cases.",
        ),
        (
            [large, -large],
            "That is the sine of the right angle.",
            "The dot product of two vectors has the cosine of the angle between them.",
        ),
        (
            [6 * math.cos(60), 6 * math.cos(120)],
            "The cosine was taken of 60 and 120 radians.",
            "The angles are in degrees; math.cos takes radians.",
        ),
        ([0.5, -0.5], "The lengths are missing.", "A dot product is length · length · cosine."),
        tolerance=TWO_DECIMALS,
    )
    reject(
        not is_close(scores, [3.0, -3.0], TWO_DECIMALS),
        "Not these numbers.",
        "Lengths 2 and 3. Write down the angle of each turned vector; the key begins at 90°.",
    )
    return "right: the angle between them is 60°, and 120° when the places are swapped."


@exercise("positional-8")
def shift_by_k(answer: object) -> str:
    """`f(k, d_model)` is the (d, d) matrix with PE_(p + k) = M PE_p for every p."""
    function = as_function(answer)
    for k, d_model in ((1, 2), (3, 6), (-2, 8), (0, 4), (0.5, 6)):
        got = np.asarray(function(k, d_model))
        reject(
            got.shape != (d_model, d_model),
            gettext("For d_model = {d_model} the shape is {shape}.").format(
                d_model=d_model, shape=got.shape
            ),
            "It takes a vector of d_model numbers to one of d_model numbers.",
        )
        before, after = waves(np.arange(5, 30), d_model), waves(np.arange(5, 30) + k, d_model)
        if is_close(before @ got.T, after, 1e-6):
            continue
        reject(
            is_close(before @ got, after, 1e-6),
            "It turns the wrong way as M · PE_p; it is right as PE_p · M.",
            "PE_p is a column here. What is the transpose of a rotation?",
        )
        reject(
            is_close(got[:2, :2] @ before[0, :2], after[0, :2], 1e-6),
            "The first hand is right, another one is not.",
            "Each pair of columns has its own speed. Which block belongs to pair i?",
        )
        reject(
            True,
            gettext("M · PE_5 is not PE_{position:g} for d_model = {d_model}.").format(
                position=5 + k, d_model=d_model
            ),
            "Begin with d_model = 2 and the block of the core; sine stands before cosine.",
        )
    return "right: one block of two by two for each hand, and p stands nowhere in it."
