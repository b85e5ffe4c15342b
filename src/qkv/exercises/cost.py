"""The exercises of the chapter on cost: the check of each answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np

from qkv.counting import count_operations
from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import Letters, OneEach
from qkv.language import gettext, gettext_noop

Array = np.ndarray[Any, Any]


def _window(q: Array, k: Array, r: int) -> Array:
    scores = np.full((len(q), r), -np.inf)
    for i, j in np.ndindex(*scores.shape):
        if i - r + 1 + j >= 0:
            scores[i, j] = q[i] @ k[i - r + 1 + j]
    return scores


def _reject_wasted_work(function: Callable[..., Any]) -> None:
    n, d, r = 12, 2, 3
    q, k = np.random.default_rng(1).normal(size=(2, n, d))
    done = count_operations(lambda q, k: function(q, k, r), q, k).multiplications
    reject(
        done < (n * r - r * (r - 1) // 2) * d,
        gettext("Only {done} multiplications could be counted.").format(done=done),
        "Compute with NumPy on the arrays as they come; do not convert them to float or torch.",
    )
    reject(
        done > n * r * d,
        gettext("The scores are right, but it took {done} multiplications.").format(done=done),
        gettext(
            "With n = {n}, d = {d}, r = {r} there are n · r · d = {product}: compute no score that "
            "you do not return."
        ).format(n=n, d=d, r=r, product=n * r * d),
    )


AMOUNTS = (
    gettext_noop("n² part"),
    gettext_noop("rest"),
    gettext_noop("scores"),
    gettext_noop("KV cache"),
)


@exercise("cost-1", OneEach(AMOUNTS, "ABCD"))
def which_grows(answer: object) -> str:
    """The letters of the n² part, the rest, the scores and the KV cache: BDCA."""
    letters = _four_letters(
        answer, 'One string such as "ABCD": the n² part, the rest, the scores, the KV cache.'
    )
    reject_choice(
        letters,
        "BDCA",
        "Write the formula of each amount with n, d and the number of heads. Then put the changes "
        "of one row into it.",
        (
            "CDBA",
            "You took the scores for the n² part.",
            "Which of these two does the number of heads change?",
        ),
        (
            "BACD",
            "You took the KV cache for the rest of the FLOPs.",
            "Which of these two grows with d²?",
        ),
        (
            "CABD",
            "The first row alone does not tell these amounts apart.",
            "Which of them does d change, and which the number of heads?",
        ),
    )
    return "right: n² d, n d², heads · n², n d."


@exercise("cost-2")
def overtaking_length(answer: object) -> str:
    """Decoder layer with cross-attention, d = 512: 8 n² d = 32 n d² at n = 4 d = 2,048."""
    n = as_number(answer)
    reject_each(
        n,
        (3072, "That is the encoder layer.", "A decoder layer has a second attention."),
        (
            4096,
            "The n² part of one attention is missing.",
            "Cross-attention has scores too: T · S of them, and here S = n.",
        ),
        (
            1536,
            "The projections of cross-attention are missing.",
            "It has W_Q, W_K, W_V and W_O of its own.",
        ),
        (4, "That is n / d.", "With d = 512, which n is it?"),
        (
            1024,
            "All projections are missing.",
            "Each of the two attentions has four matrices.",
        ),
        *(
            (
                2048 + extra,
                "Some projections of cross-attention were counted twice.",
                "Its queries come from n target tokens, its keys and values from n source tokens: "
                "four products in all.",
            )
            for extra in (128, 256, 512)
        ),
        *(
            (
                third,
                "Three n² parts were counted.",
                "A decoder layer has two attentions, and each has one.",
            )
            for third in (1365, 4096 / 3, 1366)
        ),
        tolerance=1e-5,
    )
    reject(
        not is_close(n, 2048), "Not this n.", "Add up: n² part of both attentions, then the rest."
    )
    return "right: 8 n² d against 16 n d² + 16 n d²."


@exercise("cost-3", Letters("ABCDEF"))
def refuting_observations(letters: str) -> str:
    """The observations that refute "more than half of the time is scores": B, D and F."""
    reject_choice(
        letters,
        "BDF",
        "Write down for each what the claim predicts: between which bounds does the time lie, if "
        "more than half of it is this part?",
        (
            "AB",
            "You took every time below four times for a refutation.",
            "Only the n² part becomes fourfold. What is the least that the claim allows?",
        ),
    )
    return "right: a share above one half leaves at least 3 times for n, and at most 3 for d."


@exercise("cost-4")
def window_scores(answer: object) -> str:
    """`window_scores(q, k, r)`: (n, r) scores with r n d multiplications at most."""
    function = as_function(answer)
    rng = np.random.default_rng(0)
    for n, d, r in ((5, 3, 2), (7, 2, 4), (4, 5, 1), (6, 2, 6), (3, 2, 5)):
        q, k = rng.normal(size=(2, n, d))
        got = as_array(function(q, k, r))
        right, full = _window(q, k, r), q @ k.T
        reject(
            got.shape == (n, n) != (n, r),
            gettext("The shape is ({n}, {n}), that of all scores.").format(n=n),
            gettext("One column for each key of the window: ({n}, {r}).").format(n=n, r=r),
        )
        reject(
            got.shape != (n, r),
            gettext("The shape is {shape}.").format(shape=got.shape),
            gettext("It should be ({n}, {r}).").format(n=n, r=r),
        )
        blocked = np.isneginf(right)
        reject(
            not np.isneginf(got[blocked]).all(),
            "Keys before the first token have scores.",
            "No such key exists: −∞ stands there, as behind a mask.",
        )
        if is_close(got[~blocked], right[~blocked]):
            continue
        rows = slice(r - 1, n - r + 1)  # those with r keys before them and r behind
        ahead = np.array([full[i, i : i + r] for i in range(n)[rows]])
        reject_each(
            got[rows],
            (
                right[rows, ::-1],
                "The columns are in reverse order.",
                "The last column is the query's own key.",
            ),
            (
                right[rows] / np.sqrt(d),
                "The scores are scaled.",
                "Plain dot products are asked for.",
            ),
            (ahead, "The window looks ahead.", "It ends at the query's own position."),
        )
        raise WrongAnswer(
            "Some scores stand in other places.",
            "Row i, column j: q_i · k_(i − r + 1 + j), all counted from 0.",
        )
    _reject_wasted_work(function)
    return "right: the work grows with n · r, and not with n²."


@exercise("cost-5")
def seconds_of_a_step(answer: object) -> str:
    """`step_seconds(n, d, layers, texts, peak, bandwidth)`: all FLOPs against all bytes."""
    function = as_function(answer)
    got = np.array([as_number(function(*step, *chip)) for step in _STEPS for chip in _CHIPS])
    for wrong, mistake, hint in _WRONG_STEPS:
        reject(_same_seconds(got, wrong), mistake, hint)
    reject(
        not _same_seconds(got, {}),
        "Some of these seconds are not right.",
        "Compute by hand: n = 10, d = 2, one layer, one text. The weight matrices: 96 FLOPs, 192 "
        "bytes. The caches: 80 FLOPs, 160 bytes.",
    )
    return "right: a batch shares the weights, and each text reads its own cache."


_STEPS = ((100, 64, 2, 1), (5000, 64, 3, 7), (100, 512, 6, 40), (20_000, 128, 1, 3))
_CHIPS = ((100e9, 25e9), (989e12, 3e12), (1e9, 50e9))  # FLOPs and bytes a second
_WRONG_STEPS: tuple[tuple[dict[str, Any], str, str], ...] = (
    (
        {"weights": "each"},
        "Each text reads the weights anew.",
        "That is one text at a time. A batch reads them once.",
    ),
    (
        {"cache": "shared"},
        "All texts read one cache.",
        "Each text has keys and values of its own.",
    ),
    (
        {"cache": "none"},
        "Nobody reads the cache.",
        "Scores need all cached keys, the mix all cached values.",
    ),
    (
        {"cache": "keys"},
        "The cache has keys or values, and not both.",
        "Two strips in each layer: n · d keys and n · d values.",
    ),
    ({"number": 2}, "The numbers have two bytes there.", "A float32 number has four."),
    (
        {"flop": 1},
        "One FLOP was counted for each product.",
        "A multiplication and an addition.",
    ),
    (
        {"one_layer": True},
        "That is one layer.",
        "All layers compute, and all are read.",
    ),
    ({"join": "sum"}, "Both times were added.", "The processor can read while it computes."),
    ({"join": "min"}, "That is the shorter of the two times.", "The slower one decides."),
    (
        {"join": "parts"},
        "That is the time if weight matrices and caches take turns.",
        "The least: add up all computing and all reading, then compare.",
    ),
    (
        {"keys": 1},
        "n + 1 keys and values were counted.",
        "The n tokens of the cache include the new one.",
    ),
    (
        {"keys": 1, "keys_moved": 0},
        "n + 1 keys were counted in the FLOPs.",
        "The new token is one of the n, in the scores and in the mix.",
    ),
    (
        {"keys": 0, "keys_moved": 1},
        "n + 1 keys and values were counted in the bytes.",
        "The n tokens of the cache include the new one; what is written is not counted.",
    ),
    ({"unit": 1e3}, "Those are milliseconds.", "Seconds are asked for."),
    ({"each": True}, "That is the time for each text.", "The step is done when all texts are."),
    (
        {"one_text": True},
        "The FLOPs are those of one text.",
        "Each text sends a token of its own through all matrices.",
    ),
    ({"join": "flops"}, "The bytes were left out.", "With one text they decide."),
    ({"join": "bytes"}, "The FLOPs were left out.", "With many texts they decide."),
    (
        {"prompt": True},
        "All n tokens go through the layers there.",
        "One new token of each text: the others are in the cache.",
    ),
)


def _same_seconds(got: Array, mistake: dict[str, Any]) -> bool:
    right = [_seconds(*step, *chip, **mistake) for step in _STEPS for chip in _CHIPS]
    return is_close(got / np.array(right), np.ones(len(right)), 2e-4)


def _seconds(
    n: int,
    d: int,
    layers: int,
    texts: int,
    peak: float,
    bandwidth: float,
    *,
    weights: str = "once",
    cache: str = "own",
    number: int = 4,
    flop: int = 2,
    join: str = "whole",
    prompt: bool = False,
    one_layer: bool = False,
    one_text: bool = False,
    keys: int = 0,
    keys_moved: int | None = None,
    each: bool = False,
    unit: float = 1.0,
) -> float:
    """The right answer, or with an option the answer of one mistake."""
    tokens = (1 if one_text else texts) * (n if prompt else 1)
    read = 12 * d * d * (texts if weights == "each" else 1)
    strips = {"own": 2 * texts, "shared": 2, "none": 0, "keys": texts}[cache]
    in_bytes = n + (keys if keys_moved is None else keys_moved)
    compute = np.array([12 * d * d, 2 * (n + keys) * d]) * flop * tokens / peak
    move = np.array([read, strips * in_bytes * d]) * number / bandwidth
    seconds = {
        "parts": np.maximum(compute, move).sum(),
        "whole": max(compute.sum(), move.sum()),
        "min": np.minimum(compute, move).sum(),
        "sum": (compute + move).sum(),
        "flops": compute.sum(),
        "bytes": move.sum(),
    }[join]
    return float(unit * (1 if one_layer else layers) * seconds / (texts if each else 1))


@exercise("cost-6", Letters("ABCDEF"))
def what_a_faster_chip_helps(letters: str) -> str:
    """Four times the peak, the same bandwidth: only B and F have 600 FLOPs a byte or more."""
    reject_choice(
        letters,
        "BF",
        "Count for each: how many FLOPs for each byte that is moved? Compare with both ridges: "
        "from which intensity on is the new chip twice as fast?",
        (
            "ABDEF",
            "You took every product of matrices for one that does many FLOPs a byte.",
            "How often is a number used that was read: a weight by tokens, a key by queries?",
        ),
    )
    return "right: only what does 600 FLOPs a byte, twice the old ridge, becomes twice as fast."


LAYERS = (
    *(gettext_noop("self-attention"), gettext_noop("recurrent")),
    *(gettext_noop("convolution"), gettext_noop("restricted attention")),
)


@exercise("cost-7", OneEach(LAYERS, "ABCD"))
def which_layer(answer: object) -> str:
    """The letters of self-attention, recurrent, convolution and restricted attention: CBDA."""
    letters = _four_letters(
        answer, 'One string such as "ABCD": self-attention, recurrent, convolution, restricted.'
    )
    reject_choice(
        letters,
        "CBDA",
        "Compare the first row with the second and with the third: who grows with n, who with d? "
        "Then read the chains.",
        (
            "CDBA",
            "You told the layers apart by their products alone.",
            "Which of those that multiply equally often has to wait for its earlier results?",
        ),
        (
            "ABDC",
            "You took layers for each other that agree while n = r.",
            "Which of them becomes fourfold when n doubles?",
        ),
        (
            "ADBC",
            "You read the first row alone, where layers look alike.",
            "Begin with the chains: one layer needs n multiplications one after another.",
        ),
    )
    return "right: what grows, and what has to wait, tell the layers apart."


def _four_letters(answer: object, order: str) -> str:
    in_a_row = isinstance(answer, list | tuple | str | np.ndarray)
    letters = "".join(map(str, cast(Iterable[object], answer))) if in_a_row else ""
    letters = "".join(filter(str.isalnum, letters)).upper()
    reject(sorted(letters) != list("ABCD"), "Four different letters were asked for.", order)
    return letters
