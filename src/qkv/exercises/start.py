"""The exercises of the first chapter: weights, blocked looks, self-tests in mathematics."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from qkv.exercises.checks import (
    as_array,
    as_function,
    as_letters,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import Letters, Number
from qkv.language import gettext, gettext_noop
from qkv.pretrained import pretrained
from qkv.translator import AttentionMaps

CLAIMS = Letters("ABCD", gettext_noop("Claims that the weights show"))


@exercise("start-1", Number(2, 2, gettext_noop("Average weight of rabbit")), CLAIMS)
def row_of_weights(answer: object) -> str:
    """The average of what 0.93 leaves and 0.99, and what weights show alone: 0.53, A and D."""
    number, chosen = answer if isinstance(answer, tuple | list) and len(answer) == 2 else ("", "")
    if isinstance(number, str) and number.replace(".", "", 1).strip().isdigit():
        number = float(number)
    reject(
        isinstance(number, str),
        "A number and letters are asked for.",
        'Write both, such as (0.5, "AB").',
    )
    share, letters = as_number(number), as_letters(chosen, CLAIMS.letters)
    reject(is_close(share, 0.07, 0.001), "This is head 1 alone.", "Add head 2, and take half.")
    reject(is_close(share, 1.06, 0.001), "This is the sum of the heads.", "Take half of it.")
    reject(is_close(share, 0.99, 0.001), "This is head 2 alone.", "What has head 1 on *rabbit*?")
    reject(not is_close(share, 0.53, 0.001), "Not this weight.", "A row of one head sums to 1.")
    reject_choice(
        letters,
        "AD",
        "Which claims only repeat what the row says?",
        (
            "ABCD",
            "You took where the model looks for what the output needs.",
            "Was a look blocked, or a word changed, to see what comes of it?",
        ),
    )
    return "right: a row says where the model looked. B and C need an experiment."


# What *it* is in the four sentences of start-2 while nothing is blocked.
FREE = ("carrot", "carrot", "cat", "student")


@exercise("start-2")
def predicted_nouns(answer: object) -> str:
    """The nouns of four sentences while round 1 is blocked: those with the last word deleted."""
    if isinstance(answer, str):
        parts = [word for word in re.findall(r"\w+", answer) if word.lower() not in ("the", "a")]
    else:
        parts = list(answer) if isinstance(answer, list | tuple | np.ndarray) else []
    reject(
        len(parts) != 4 or not all(isinstance(part, str) for part in parts),
        "Four nouns are asked for.",
        'Write them in the order of the sentences, such as ["carrot", "we", "room", "cat"].',
    )
    nouns = tuple(re.sub(r"^(the|a)\s", "", part.strip().lower()).strip() for part in parts)
    names = ("rabbit", "carrot", "we", "cat", "student", "room")
    unknown = [noun for noun in nouns if noun not in names]
    reject(
        unknown,
        gettext("No noun of these sentences: {nouns}.").format(nouns=", ".join(unknown)),
        gettext("Each is one of these: {nouns}.").format(nouns=", ".join(names)),
    )
    reject(
        nouns == FREE,
        "These are the nouns without a block.",
        "A block in round 1 does what the deleted last word does.",
    )
    reject(
        nouns == ("rabbit", "we", "cat", "student"),
        "The subject is not always the default.",
        "What became of the farmer when the last word was deleted?",
    )
    reject(
        nouns == ("rabbit", "carrot", "cat", "student"),
        "You let both sentences about persons stay as they are.",
        "The last word of one of them asks for another noun than the model writes without it.",
    )
    reject(
        nouns != ("rabbit", "carrot", "cat", "room"),
        "Not these four.",
        "Without the last word, what does this model take an animal for, and what a person?",
    )
    return "right: the first look matters where the last word asks for another noun."


@exercise("start-3")
def largest_looks(answer: object) -> str:
    """(token, English token with the largest average weight) of each row of a map."""
    function = as_function(answer)
    texts = ("She did not drink the cold water", "The cat sat on the mat")
    real = [pretrained().attention(text) for text in texts]
    for maps in (*real, _uneven(real[0])):
        found = _pairs(function, maps)
        weights = maps.stack("cross")[0]  # (H, T, S)
        largest = [maps.source[place] for place in weights.mean(0).argmax(-1)]
        right = list(zip(maps.target, largest, strict=True))
        reject(
            len(found) != len(right),
            gettext("{right} tokens are written, <eos> among them; your result has {got}.").format(
                right=len(right), got=len(found)
            ),
            "Each row of the table belongs to one of them.",
        )
        reject(
            found == list(zip(maps.decoder_input, largest, strict=True)),
            gettext("The fault is still there: {label} ← {word}.").format(
                label=found[1][0], word=found[1][1]
            ),
            "The first row tells where the model looked to write its first word. With which "
            "label does it stand here?",
        )
        reject(
            [token for token, _ in found] != list(maps.target),
            "These are not the tokens that the model wrote, each in its row.",
            "maps has the written tokens in order, as the first table of the chapter used them.",
        )
        reject(
            found != right,
            "The labels are right, and a word beside them is not.",
            "The average of the heads is asked for: no maximum, no product, no head alone.",
        )
    return "right: row t tells where the model looked to write token t, not after reading it."


def _uneven(maps: AttentionMaps) -> AttentionMaps:
    """The same sentence with weights whose average, maximum and product differ in their largest."""
    name = "decoder.layers.0.cross_attention"
    weights = np.zeros_like(maps.weights[name])  # (2, T, S)
    weights[:, ::2, 0], weights[:, ::2, 1] = ([[0.6], [0]], [[0.4], [0.5]])
    weights[:, ::2, 2] = [[0], [0.5]]
    weights[:, 1::2, 3], weights[:, 1::2, 4] = ([[0.8], [0]], [[0.2], [0.3]])
    weights[:, 1::2, 5] = [[0], [0.7]]
    return replace(maps, weights={**maps.weights, name: weights})


def _pairs(function: Callable[..., Any], maps: AttentionMaps) -> list[tuple[str, ...]]:
    """What a function gives for the maps, as a list of pairs of strings, or `WrongAnswer`."""
    result = function(maps)
    rows = list(result.items() if isinstance(result, dict) else result)
    reject(
        any(isinstance(row, str) or len(row) != 2 for row in rows),
        "Pairs were asked for.",
        "For each row: the Korean token, then the English token.",
    )
    return [tuple(map(str, row)) for row in rows]


@exercise("start-4", Letters("ABCDE"))
def what_speaks_against(letters: str) -> str:
    """Another way, a control and other sentences weaken one block as evidence: A, B and E."""
    reject_choice(
        letters,
        "ABE",
        "Is one block in one sentence still evidence for this model if you see this result?",
        (
            "ABCDE",
            "You took every result.",
            "The size of a weight is no experiment, and another model is another model.",
        ),
    )
    return "right: another way, a control, other sentences. Each weakens what one block showed."


@exercise("start-5")
def matrix_product(answer: object) -> str:
    """((½, ¼, ¼), (0, 1, 0)) times ((4, 0), (0, 8), (8, 4))."""
    product = as_array(answer)
    reject_each(
        product,
        (
            [4, 3],
            "This is the first row. The product has two.",
            "How many rows has the left matrix?",
        ),
        (
            [[4, 0], [3, 8]],
            "Rows and columns are exchanged.",
            "Row i of the left matrix gives row i of the product.",
        ),
        (
            [[4, 4], [4, 4]],
            "Every row of the right matrix counts the same here.",
            "Multiply each of them by its number in the row of the left matrix, then add.",
        ),
        (
            [[12, 12], [0, 8]],
            "The first row only adds up the right matrix.",
            "Its numbers are taken by halves and quarters.",
        ),
    )
    reject(
        product.shape != (2, 2),
        gettext("The shape is {shape}.").format(shape=product.shape),
        "2 × 3 times 3 × 2 has the rows of the first and the columns of the second.",
    )
    reject(
        not is_close(product, [[4, 3], [0, 8]]),
        "Not these four numbers.",
        "Entry (i, j) is row i of the left matrix times column j of the right one, added up.",
    )
    return "right: each row is a mix of the three rows, and the second takes one of them whole."


@exercise("start-6")
def softmax_by_hand(answer: object) -> str:
    """Softmax of (ln 2, 0, 0)."""
    weights = as_array(answer, shape=(3,))
    reject_each(
        weights,
        (
            [2, 1, 1],
            "These are the exponentials. They sum to 4.",
            "Softmax has one step more: its numbers sum to 1.",
        ),
        (
            [1, 0, 0],
            "You divided the scores by their sum.",
            "First take e to the power of each. What is e to the power of 0?",
        ),
        (
            [1 / 3, 1 / 3, 1 / 3],
            "These are equal, and the scores are not.",
            "The larger score gets the larger share.",
        ),
        (
            [0.2, 0.4, 0.4],
            "The larger score has the smaller share here.",
            "Take e to the power of the score, not of its negative.",
        ),
    )
    reject(
        not is_close(weights.sum(), 1, 0.01),
        "These do not sum to 1.",
        "Divide each exponential by the sum of all three.",
    )
    reject(
        not is_close(weights, [0.5, 0.25, 0.25], 0.001),
        "Not these three numbers.",
        "e to the power of ln 2 is 2.",
    )
    return "right: the shares are 2 : 1 : 1."


@exercise("start-7")
def gradient(answer: object) -> str:
    """The gradient of x² + 3xy at (1, 2)."""
    slopes = as_array(answer)
    slopes = slopes.reshape(2) if slopes.size == 2 else slopes
    reject_each(
        slopes,
        (7, "This is the function's value.", "How fast does it change, first with x, then with y?"),
        (8, "This is the slope along x alone.", "A gradient has one number for each variable."),
        ([2, 3], "The product 3xy has a slope along x too.", "Hold y at 2: then 3xy is 6x."),
        ([2, 6], "Each slope has one term here.", "Along x, both x² and 3xy change."),
        ([3, 8], "The two are exchanged.", "First the slope along x, then the one along y."),
        ([-8, -3], "This is the way down.", "The gradient points to where the function grows."),
    )
    reject(
        slopes.shape != (2,),
        gettext("The shape is {shape}.").format(shape=slopes.shape),
        "Two numbers: the slope along x, the slope along y.",
    )
    reject(
        not is_close(slopes, [8, 3]),
        "Not these two numbers.",
        "Change x by 0.01, hold y, and divide the change of the function by 0.01.",
    )
    return "right: a small step against it, smaller x and smaller y, makes the function smaller."
