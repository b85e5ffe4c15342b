"""The exercises of the first chapter: its self-tests in mathematics, weights, blocked looks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

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
from qkv.pretrained import pretrained
from qkv.translator import AttentionMaps
from qkv.translator.ablation import attention_knockout


@exercise("start-1")
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
        f"The shape is {product.shape}.",
        "2 × 3 times 3 × 2 has the rows of the first and the columns of the second.",
    )
    reject(
        not is_close(product, [[4, 3], [0, 8]]),
        "Not these four numbers.",
        "Entry (i, j) is row i of the left matrix times column j of the right one, added up.",
    )
    return "right: each row is a mix of the three rows, and the second takes one of them whole."


@exercise("start-2")
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


@exercise("start-3")
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
        f"The shape is {slopes.shape}.",
        "Two numbers: the slope along x, the slope along y.",
    )
    reject(
        not is_close(slopes, [8, 3]),
        "Not these two numbers.",
        "Change x by 0.01, hold y, and divide the change of the function by 0.01.",
    )
    return "right: a small step against it, smaller x and smaller y, makes the function smaller."


@exercise("start-4")
def row_of_weights(answer: object) -> str:
    """The weight that 0.12 and 0.36 leave, and what the row shows alone: 0.52, A and D."""
    number, chosen = answer if isinstance(answer, tuple | list) and len(answer) == 2 else ("", "")
    reject(
        isinstance(number, str),
        "A number and letters are asked for.",
        'Write both, such as (0.5, "AB").',
    )
    share, letters = as_number(number), as_letters(chosen, "ABCD")
    reject(is_close(share, 0.48, 0.001), "This is what the others have.", "What is left of 1?")
    reject(is_close(share, 0.64, 0.001), "*The* has a weight too.", "Add all the others first.")
    reject(not is_close(share, 0.52, 0.001), "Not this weight.", "The weights of a row sum to 1.")
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


@exercise("start-5")
def one_word_apart(answer: object) -> str:
    """Two sentences: *it* cannot look at the last word; the noun of the first changes alone."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    reject(
        len(parts) != 2 or not all(isinstance(part, str) for part in parts),
        "Two sentences are asked for.",
        'Write them as a pair: ("The … because it was …", "The … because it was …").',
    )
    texts = [" ".join(part.replace(".", " ").split()) for part in parts]
    for text in texts:
        unknown = pretrained().unknown_words(text)
        reject(unknown, f"The model does not know {', '.join(unknown)}.", "The box offers words.")
        reject(
            "because it " not in text.lower(),
            f"No look of *it* can be blocked in: {text}.",
            "Both need a reason: because it is, because it was.",
        )
    lengths = [text.lower().split() for text in texts]
    apart = [one != other for one, other in zip(*lengths, strict=False)]
    reject(
        len(set(map(len, lengths))) != 1 or sum(apart) != 1,
        "These do not differ in one word alone.",
        "If more than one word differs, the experiment does not say which of them counts.",
    )
    free = [_noun(text) for text in texts]
    blocked = [{_noun(text, rescale) for rescale in (True, False)} for text in texts]
    stays = [nouns == {noun} for nouns, noun in zip(blocked, free, strict=True)]
    reject(
        free[0] != free[1],
        f"Before any block, the nouns differ already: {free[0]} and {free[1]}.",
        "*it* should be the same noun in both, the one that is not the subject.",
    )
    reject(stays == [True, False], "The two are exchanged.", "Write the one that changes first.")
    reject(
        stays[0],
        "The noun of the first sentence stays, in one way at least.",
        "It changed with the dog and the street. What could *it* be there?",
    )
    reject(
        not stays[1],
        f"The second sentence loses its noun too: {' or '.join(sorted(blocked[1]))}.",
        "For which subjects did the table above find that the noun stays?",
    )
    return "right: this one word decides whether the first look counts."


def _noun(text: str, rescale: bool | None = None) -> str:
    """The first Korean word; while *it* cannot look at the last word in layer 0, if asked for."""
    translator, words = pretrained(), text.split()
    with ExitStack() as stack:
        if rescale is not None:
            layer, it = translator.model.encoder.layers[0], text.lower().split().index("it")
            change = attention_knockout(layer, [0, 1], it, len(words) - 1, rescale=rescale)
            stack.enter_context(change)
        return str(translator.translate(text)).partition(" ")[0]


@exercise("start-6")
def largest_looks(answer: object) -> str:
    """(token, English token with the largest average weight) of each row of a map."""
    function = as_function(answer)
    for text in ("She did not drink the cold water", "The cat sat on the mat"):
        maps = pretrained().attention(text)
        found = _pairs(function, maps)
        weights = maps.stack("cross")[0]  # (H, T, S)
        largest = [maps.source[place] for place in weights.mean(0).argmax(-1)]
        right = list(zip(maps.target, largest, strict=True))
        reject(
            found == list(zip(maps.decoder_input, largest, strict=True)),
            f"The fault is still there: {found[1][0]} ← {found[1][1]}.",
            "The first row tells where the model looked to write its first word. With which "
            "label does it stand here?",
        )
        reject(
            len(found) != len(right),
            f"{len(right)} tokens are written, <eos> among them; your result has {len(found)}.",
            "Each row of the table belongs to one of them.",
        )
        reject(
            [token for token, _ in found] != list(maps.target),
            "These are not the tokens that the model wrote, each in its row.",
            "maps has the written tokens in order, as the first table of the chapter used them.",
        )
        reject(
            found != right,
            "A label is right, and the word beside it is not.",
            "Average the heads first; then take the largest entry of each row.",
        )
    return "right: row t tells where the model looked to write token t, not after reading it."


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


@exercise("start-7")
def what_speaks_against(answer: object) -> str:
    """Other ways, other sentences and a control speak against the claim: A, B and E."""
    reject_choice(
        as_letters(answer, "ABCDE"),
        "ABE",
        "Would the claim, about this model, still be likely if you saw this result?",
        (
            "ABCDE",
            "You took every result.",
            "The size of a weight is no experiment, and another model is another model.",
        ),
    )
    return "right: another way, a control, other sentences. Each can take the claim back."
