"""The exercises of the chapter on decoding: the check of each answer."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    WrongAnswer,
    as_function,
    as_letters,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import Letters
from qkv.language import gettext, gettext_noop

GREEDY, BEAM, LIKELIEST = "i eat", "we sleep", "they swim"
FLIP = np.log(3.0 / 2.4) / np.log(5 / 3)  # 0.437
Array: TypeAlias = np.ndarray[Any, Any]
Step: TypeAlias = tuple[Array, Array]  # finished, going on: (n, 3) each of row, token, sum
SOS, EOS = 0, 1
CASES = ((3, 5, 2, 1), (1, 7, 3, 6), (2, 11, 4, 0), (4, 3, 4, 2))  # N, V, k, eos


def _steps() -> Iterator[tuple[Array, Array, int, int]]:
    """Sums (N,), log-probabilities (N, V), k and the token that ends."""
    rng = np.random.default_rng(6)
    for N, V, k, eos in CASES:
        sums = -2 * rng.random(N)
        logits = 2 * rng.normal(size=(N, V))
        logits[:, eos] += 2
        yield sums, logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), k, eos
    rows = [[0.7, 0.2, 0.1], [0.8, 0.1, 0.1]]  # the exercise's example: two of a row go on
    yield np.log([0.6, 0.4]), np.log(rows), 2, 0
    ends = [[0.06, 0.04, 0.9], [0.055, 0.045, 0.9], [0.07, 0.03, 0.9]]  # all of N > k
    yield np.log([0.3, 0.29, 0.28]), np.log(ends), 2, 2


def _read(got: object) -> Step:
    parts = list(got) if isinstance(got, tuple | list) else []
    reject(
        len(parts) != 2 or not all(isinstance(part, list | tuple) for part in parts),
        "Two lists of triples were asked for.",
        "Return finished and going_on as lists: in an array, rows and tokens become floats.",
    )
    entries = [entry for part in parts for entry in part]
    reject(
        not all(isinstance(entry, tuple | list) and len(entry) == 3 for entry in entries),
        "An entry is no triple.",
        "Each entry is (row, token, sum).",
    )
    reject(
        not all(isinstance(n, Integral) for entry in entries for n in entry[:2])
        or not all(isinstance(entry[2], Real) for entry in entries),
        "A row or a token is no whole number.",
        "Both are used as indices. Which division gives whole numbers?",
    )
    finished, going_on = (np.array(part, float).reshape(-1, 3) for part in parts)
    return finished, going_on


def _ranked(totals: Array) -> Array:
    """All continuations, best first: (N · V, 3)."""
    places = np.argsort(-totals, axis=None, kind="stable")
    return np.column_stack([*divmod(places, totals.shape[1]), totals.ravel()[places]])


def _split(totals: Array, k: int, eos: int) -> Step:
    ranked = _ranked(totals)
    ends = ranked[:, 1] == eos
    return ranked[:k][ends[:k]], ranked[~ends][:k]


def _equal(got: Step, right: Step) -> bool:
    return all(is_close(a, b) for a, b in zip(got, right, strict=True))


def _name_mistake(
    got: Step, right: Step, scores: Array, log_probs: Array, k: int, eos: int
) -> None:
    finished, going_on = got
    reject(
        _equal(got, _split(log_probs, k, eos)),
        "The sums so far are missing.",
        "A continuation is as likely as its beginning times its new word. Which sum is that?",
    )
    reject(
        _equal(got, _split(scores[:, None] * log_probs, k, eos)),
        "The logarithms were multiplied.",
        "Probabilities are multiplied. What happens to their logarithms?",
    )
    reject(
        _equal((finished[::-1], going_on[::-1]), right),
        "The right continuations, in the wrong order.",
        "Best first was asked for.",
    )
    swapped = [1, 0, 2]
    reject(
        _equal((finished[:, swapped], going_on[:, swapped]), right),
        "Rows and tokens are exchanged.",
        "Which of the two says whose continuation it is?",
    )
    reject(
        _equal((finished[:, 2:], going_on[:, 2:]), (right[0][:, 2:], right[1][:, 2:])),
        "The sums are right; a row or a token is not.",
        "Place n of the flattened table stands in a row of V entries: divide by V.",
    )
    _name_wrong_choice(got, right, scores[:, None] + log_probs, k, eos)


def _name_wrong_choice(got: Step, right: Step, totals: Array, k: int, eos: int) -> None:
    finished, going_on = got
    reject(
        bool((going_on[:, 1] == eos).any()),
        "A hypothesis goes on after <eos>.",
        "What becomes of one that ended, and who takes its place?",
    )
    reject(
        is_close(going_on, right[1][: len(going_on)]) and len(going_on) < k,
        gettext("With k = {k} only {n} go on.").format(k=k, n=len(going_on)),
        "The place of one that ended is given to the next best.",
    )
    reject(
        is_close(going_on, right[1]) and len(finished) > len(right[0]),
        "Too many are finished.",
        "Those that end count only among the best k of all continuations.",
    )
    reject(
        is_close(going_on, right[1]) and len(finished) < len(right[0]),
        "Too few are finished.",
        "One that ends among the best k is kept, whatever goes on beside it.",
    )
    best = np.sort(totals, axis=1)[:, -k:][:, :1]  # the k-th of each row
    of_rows = _split(np.where(totals < best, -np.inf, totals), k, eos)[1]
    reject(
        is_close(going_on, of_rows[np.isfinite(of_rows[:, 2])]),
        "The best k of each row were taken while <eos> was still among them.",
        "How many of one row can go on, and how many of it must you look at?",
    )
    worst = _split(-totals, k, eos)[1]
    reject(
        is_close(np.sort(going_on[:, 2]), np.sort(-worst[:, 2])),
        "These are the least likely continuations.",
        "In which direction does np.argsort sort?",
    )
    raise WrongAnswer(
        "Some continuations are not among the best.",
        "Write down the table of all N · V sums. Two of the best may continue the same row.",
    )


def _parts(answer: object) -> list[Any]:
    return list(answer) if isinstance(answer, list | tuple | np.ndarray) else []


@exercise("decoding-1")
def three_searches(answer: object) -> str:
    """The sentences of greedy decoding, of a beam of 2, and the likeliest of all."""
    parts = [
        " ".join(map(str, part)) if isinstance(part, list | tuple | np.ndarray) else part
        for part in _parts(answer)
    ]
    reject(
        len(parts) != 3 or not all(isinstance(part, str) for part in parts),
        "Three sentences were asked for.",
        'Write them as a list of strings, such as ["I swim", "I swim", "we eat"].',
    )
    plain = [re.sub(r"<\w+>|[^\w\s]", " ", str(part).lower()) for part in parts]
    greedy, beam, likeliest = (" ".join(part.split()) for part in plain)
    reject(
        greedy != GREEDY,
        "The first sentence is not that of greedy decoding.",
        "Take the largest number of the first row, then the largest of the row that it leads to.",
    )
    reject(
        beam == GREEDY,
        "The second sentence is again that of greedy decoding.",
        "With two hypotheses, continue both of the words that were kept, and compare products.",
    )
    reject(
        beam == LIKELIEST,
        "Beam search with k = 2 never sees the second sentence.",
        "Which two words are left after the first step?",
    )
    reject(
        beam != BEAM,
        "The second sentence is not that of k = 2.",
        "Six sentences begin with a word that was kept. Multiply out all six.",
    )
    reject(
        likeliest == BEAM,
        "The third sentence is not the likeliest.",
        "Look at the sentences that begin with the word that the beam dropped.",
    )
    reject(
        likeliest != LIKELIEST,
        "The third sentence is not the likeliest of the seven.",
        "A second word that is certain costs nothing.",
    )
    return "right: 0.19, 0.195 and 0.2. A beam of 3 would find the third."


SEARCH_ERRORS = Letters("ABCDE", gettext_noop("The numbers prove a search error"))
PERFECT_SEARCH = Letters("ABCDE", gettext_noop("A perfect search returns the right translation"))


@exercise("decoding-2", SEARCH_ERRORS, PERFECT_SEARCH)
def kinds_of_error(answer: object) -> str:
    """Proven search errors: A, C, E. A perfect search is right in A."""
    parts = _parts(answer)
    reject(
        len(parts) != 2,
        "Two strings of letters were asked for.",
        'Write first the search errors, then what a perfect search gets right: ["XY", "XYZ"].',
    )
    search = as_letters(parts[0], SEARCH_ERRORS.letters)
    perfect = as_letters(parts[1], PERFECT_SEARCH.letters)
    reject_choice(
        search,
        "ACE",
        "For the first string, compare the first column with the third, row by row.",
        (
            "AE",
            "In the first string, you compared with the right translation.",
            "Which column has what a search should have found?",
        ),
        (
            "BCD",
            "In the first string stand the rows where the model prefers a wrong sentence.",
            "That is what the model does. What proves that the search has missed something?",
        ),
    )
    reject_choice(
        perfect,
        "A",
        "For the second string: which sentence does a perfect search return in each row?",
        (
            "ACE",
            "In the second string, you took every search error for the whole of the fault.",
            "The third column is what a perfect search returns. Is it the right one?",
        ),
        (
            "BD",
            "In the second string stand the rows without a proven search error.",
            "Is what they return the right translation?",
        ),
    )
    return (
        "right. C and E are errors of both kinds. B and D are model errors; whether D is a search "
        "error too, the numbers do not say."
    )


@exercise("decoding-3", Letters("ABCDEF"))
def proofs(letters: str) -> str:
    """The results that prove a bug in a beam search: B, C, E, F."""
    reject_choice(
        letters,
        "BCEF",
        "Ask of each: can a program without a bug do this? At each step it keeps the best k, and "
        "forgets all others.",
        (
            "ABCEF",
            "You took it for a rule that more hypotheses are never worse.",
            "What may push the best beginning out of a wider beam at a later step?",
        ),
        (
            "AB",
            "You compared the search with greedy decoding, and nothing else.",
            "What in a result can be computed in another way?",
        ),
    )
    return "right. A wider beam can be worse without a bug. A wrong number cannot."


@exercise("decoding-4")
def one_step(answer: object) -> str:
    """`f(scores, log_probs, k, eos)` gives what ends among the best k, and the best k others."""
    function = as_function(answer)
    for scores, log_probs, k, eos in _steps():
        got = _read(function(scores, log_probs, k, eos))
        given = scores.copy(), log_probs.copy()
        answer(*given, k, eos)  # type: ignore[operator]
        reject(
            not (np.array_equal(given[0], scores) and np.array_equal(given[1], log_probs)),
            "Your function changes its input.",
            "Write the totals into an array of their own.",
        )
        right = _split(scores[:, None] + log_probs, k, eos)
        if not _equal(got, right):
            _name_mistake(got, right, scores, log_probs, k, eos)
    return "right. A beam search is this step, repeated until it may stop."


@exercise("decoding-5")
def sampling_loop(answer: object) -> str:
    """`f(next_logits, temperature, top_p, rng)` writes a list of tokens, drawn by top-p."""
    function = as_function(answer)
    for temperature, top_p, dtype in SAMPLING:
        rng = np.random.default_rng(5)
        model = _language(dtype)
        drawn = [_sentence(function(model, temperature, top_p, rng)) for _ in range(DRAWS)]
        counts = Counter(drawn)
        if not _fits(counts, _sentences(model, temperature, top_p)):
            _name_sampling_mistake(counts, model, temperature, top_p)
    equal = _language(np.float64, equal=True)
    rng = np.random.default_rng(6)
    first = {_sentence(function(equal, 1.0, 0.5, rng))[1] for _ in range(100)}
    reject(
        len(first) != 2,
        gettext("Four tokens have 0.25 each and top_p is 0.5, and {n} of them were drawn.").format(
            n=len(first)
        ),
        "Two reach the sum. Keep always the same two: a limit keeps all that are equal.",
    )
    return "right. How many tokens stay changes at each step, with the distribution."


DRAWS = 1500
SAMPLING = ((1.0, 0.75, np.float64), (0.5, 1.0, np.float64), (2.0, 0.6, np.float32))
Model: TypeAlias = Callable[[Any], Array]
Sentence: TypeAlias = tuple[int, ...]
Choice: TypeAlias = Callable[[Array, float, float], Array]  # logits, temperature, top_p to p


def _language(dtype: type, equal: bool = False) -> Model:
    """Logits of six tokens by the tokens so far; <eos> comes third at the latest."""
    table: Array = np.log(
        [
            [1e-20, 0.05, 0.45, 0.25, 0.15, 0.1],
            [1e-20, 1.0, 1e-20, 1e-20, 1e-20, 1e-20],
            [1e-20, 0.28, 0.18, 0.41, 0.09, 0.04],
            [1e-20, 0.55, 0.08, 0.12, 0.22, 0.03],
            [1e-20, 0.2, 0.09, 0.13, 0.02, 0.56],
            [1e-20, 0.33, 0.4, 0.13, 0.1, 0.04],
        ]
    ).astype(dtype)
    if equal:
        table[0] = [-40, -40, 0, 0, 0, 0]

    def next_logits(tokens: Any) -> Array:
        read = np.asarray(tokens).ravel().tolist()
        if not read or read[0] != SOS:
            raise RuntimeError(
                gettext("next_logits was given tokens that do not begin with 0, <sos>")
            )
        if len(read) > 20:
            raise RuntimeError(
                gettext("more than 20 tokens were written: does the loop end with <eos>?")
            )
        return np.array(table[EOS if len(read) > 2 else read[-1]])

    return next_logits


def _sentence(got: Any) -> Sentence:
    tokens = np.asarray(got)
    reject(
        tokens.ndim != 1 or tokens.dtype.kind not in "iu",
        "Your function did not return a list of tokens.",
        "Each token is a whole number: end with return tokens.",
    )
    tokens = tokens.tolist()
    reject(
        not tokens or tokens[0] != SOS,
        "The list does not begin with 0.",
        "<sos> was asked for at the beginning: start with [0].",
    )
    reject(
        tokens[-1] != EOS or EOS in tokens[:-1],
        "The list does not end with its first <eos>.",
        "Append the token, and then ask whether it is 1.",
    )
    return tuple(tokens)


def _softmax(logits: Array) -> Array:
    e = np.exp(logits - logits.max())
    return np.asarray(e / e.sum())


def _nucleus(p: Array, top_p: float, more: int = 0) -> Array:
    order = np.argsort(-p, kind="stable")
    n = int(np.searchsorted(np.cumsum(p[order]), top_p - 1e-6)) + 1 + more
    out = np.zeros_like(p)
    out[order[: max(n, 1)]] = p[order[: max(n, 1)]]
    return np.asarray(out / out.sum())


def _right(logits: Array, temperature: float, top_p: float) -> Array:
    return _nucleus(_softmax(logits / temperature), top_p)


def _cut_first(logits: Array, temperature: float, top_p: float) -> Array:
    with np.errstate(divide="ignore"):
        return _softmax(np.log(_nucleus(_softmax(logits), top_p)) / temperature)


def _equally(logits: Array, temperature: float, top_p: float) -> Array:
    kept = _right(logits, temperature, top_p) > 0
    return np.asarray(kept / kept.sum())


# How the next token may be drawn wrongly: what to say, and a hint.
WRONG_DRAWS: tuple[tuple[Choice, str, str], ...] = (
    (
        lambda x, t, p: _nucleus(_softmax(x), p),
        "The temperature changes nothing.",
        "Divide the logits by it, before the softmax.",
    ),
    (
        lambda x, t, p: _nucleus(_softmax(x * t), p),
        "The temperature works in the wrong direction.",
        "Are the logits divided by it?",
    ),
    (
        _cut_first,
        "The tokens were cut before the temperature was applied.",
        "First the temperature, then the softmax, and then the sum of its probabilities.",
    ),
    (
        lambda x, t, p: _nucleus(_softmax(x / t), p, more=1),
        "One token too many is left.",
        "Stop as soon as the sum reaches top_p.",
    ),
    (
        lambda x, t, p: _nucleus(_softmax(x / t), p, more=-1),
        "One token too few is left.",
        "The token that makes the sum reach top_p stays too.",
    ),
    (
        _equally,
        "The tokens that are left are drawn equally often.",
        "Divide their probabilities by their sum, and hand them to rng.choice.",
    ),
    (
        lambda x, t, p: _softmax(x / t),
        "All tokens can be drawn.",
        "Which tokens come before the sum reaches top_p?",
    ),
)


def _sentences(
    model: Model, temperature: float, top_p: float, choose: Choice = _right
) -> dict[Sentence, float]:
    """All sentences that can be drawn, with their probabilities."""
    found: dict[Sentence, float] = {}
    open_ones: dict[Sentence, float] = {(SOS,): 1.0}
    while open_ones:
        sentence, p = open_ones.popitem()
        q = choose(model(sentence).astype(float), temperature, top_p)
        for token in np.flatnonzero(q > 1e-8).tolist():
            longer = (*sentence, token)
            (found if token == EOS else open_ones)[longer] = p * float(q[token])
    return found


def _fits(counts: Counter[Sentence], p: dict[Sentence, float]) -> bool:
    """Whether no sentence is impossible, and each was drawn as often as it should, within 5 σ."""
    n = counts.total()
    return counts.keys() <= p.keys() and all(
        abs(counts[one] - n * q) <= 5 * math.sqrt(n * q * (1 - q)) + 3 for one, q in p.items()
    )


def _name_sampling_mistake(
    counts: Counter[Sentence], model: Model, temperature: float, top_p: float
) -> None:
    reject(
        len(counts) == 1,
        "The same sentence was written each time.",
        "Each token is drawn, with its probability.",
    )
    for choose, mistake, hint in WRONG_DRAWS:
        reject(_fits(counts, _sentences(model, temperature, top_p, choose)), mistake, hint)
    reject(
        top_p == 1.0,
        "With top_p = 1 some sentences are missing, or come too seldom.",
        "The running sum may end at 0.9999999999999999. Compare it with top_p - 1e-6.",
    )
    raise WrongAnswer(
        gettext(
            "With temperature {temperature} and top_p {top_p} the sentences come too often or too "
            "seldom."
        ).format(temperature=temperature, top_p=top_p),
        "Print the tokens that are kept after [0], and their probabilities. Do they belong "
        "together?",
    )


@exercise("decoding-6")
def flip_penalty(answer: object) -> str:
    """Sums of −2.4 over 3 tokens and −3.0 over 5 score the same at 0.437; above it, 5 wins."""
    parts = np.asarray(answer, dtype=object).ravel().tolist()
    reject(
        len(parts) != 2,
        "Two numbers were asked for.",
        "Write the α, then how many tokens the winner above it has: [0.5, 3].",
    )
    got, winner = map(as_number, parts)
    reject(
        is_close(winner, FLIP, 0.01) and got == 5,
        "Both numbers are right, in the other order.",
        "First the α, then the tokens.",
    )
    reject_each(
        got,
        (3.0 / 2.4, "That is the ratio of the sums.", "Which power of 5 / 3 is it?"),
        (1 / FLIP, "That is its reciprocal.", "Take logarithms of 1.25 = (5 / 3)^α."),
        (-FLIP, "The sign is wrong.", "With α = 0 the shorter wins. Must α rise or fall?"),
        (
            np.log(3.0 / 2.4) / np.log(4 / 2),
            "<eos> was left out of the lengths.",
            "The lengths in the question count it already.",
        ),
        tolerance=0.01,
    )
    reject(
        not is_close(got, FLIP, 0.01),
        "Not this number.",
        "Set 2.4 / 3^α = 3.0 / 5^α, and take logarithms.",
    )
    reject(
        winner != 5,
        "The α is right; the winner above it is not.",
        "Compare the means, α = 1: which of them is nearer to 0?",
    )
    return (
        "right: ln 1.25 / ln (5 / 3). Above it the longer sentence wins: −0.60 against −0.80 at 1."
    )
