"""The exercises of the chapter on masks: the check of each answer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    TWO_DECIMALS,
    WrongAnswer,
    as_array,
    as_function,
    as_sets,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import Letters
from qkv.language import gettext

Array: TypeAlias = np.ndarray[Any, Any]
Attend: TypeAlias = Callable[[Array], Array]
EACH_KEY = "A row has one weight for each key, the blocked ones included."
FROM_IDS = "Is a length written out as a number? Read it off ids.shape."
FLOAT_TYPES = {np.float64: 1e-6, np.float32: 1e-3}  # the faintest leak that has to be found


def causal(
    hole: tuple[int, int] | None = None,
    late: bool = False,
    faint: float = 0.0,
    norm: bool = False,
    masked: bool = True,
    sentence: int | None = None,
    pads: int = 0,
    ahead: int = 0,
    feature: int | None = None,
    even: bool = False,
    twice: bool = False,
    known: Array | None = None,
) -> Attend:
    """Causal self-attention over any number of tokens, or one that leaks later tokens.

    Args:
        hole: a (query, key) pair that ought to be blocked and is not.
        late: weights are set to zero after the softmax.
        faint: how much of the last token is added to every output.
        norm: a LayerNorm stands before the attention.
        masked: False allows every key.
        sentence: the one sentence of the batch in which the hole is; None is all.
        pads: so many first tokens are blocked as keys; a row with no key is NaN.
        ahead: how many keys too many each query is allowed.
        feature: this number of the last token is added to one number of every output, and
            subtracted from the next one.
        even: the model reads |x|.
        twice: all weights are divided by their sum, the allowed ones by theirs once more.
        known: the first output becomes NaN if the last token is another one than here.
    """

    def attend(x: Array) -> Array:
        T = x.shape[-2]
        allowed = np.tri(T, k=ahead, dtype=bool) | (not masked)  # (T, S)
        allowed = np.tile(allowed & (np.arange(T) >= pads), (len(x), 1, 1))  # (B, T, S)
        if hole and max(hole) < T:
            query, key = hole
            whose = slice(None) if sentence is None else slice(sentence, sentence + 1)
            allowed[whose, query, key] = True
        z = _layer_norm(x) if norm else x
        z = np.abs(z) if even else z
        with np.errstate(over="ignore", invalid="ignore"):
            e = np.exp(z @ z.mT / 5)  # (B, T, S)
            counted = e if late else np.where(allowed, e, 0)
            if twice:  # right, and rounded: the first sum holds the later tokens
                e = e / e.sum(-1, keepdims=True)
                counted = np.where(allowed, e, 0)
            out = np.where(allowed, e, 0) / counted.sum(-1, keepdims=True) @ z
        # As rounding does: a prefix differs from the whole in the last digits, and nothing leaks.
        out *= 1 + T * np.finfo(x.dtype).eps
        leaky: Array = out + faint * x[..., -1:, :]
        if feature is not None:
            moved = x[..., -1:, feature] / 10  # (B, 1): one number up, its neighbour down
            leaky[..., feature] += moved
            leaky[..., feature - 1] -= moved
        if known is not None and (x[:, -1:] != known[:, -1:]).any():
            leaky[:, 0] = np.nan
        return leaky

    return attend


def _layer_norm(x: Array) -> Array:
    """LayerNorm, rounded: what x + 1 and 2x change of it is rounding alone, and that is no find."""
    centred = x - x.mean(-1, keepdims=True)
    normed: Array = (centred / (x.std(-1, keepdims=True) + x.dtype.type(1e-12))).round(4)
    return normed


class Recorder:
    """A reader's leak detector on one input, and what it asks of the models that it is given."""

    def __init__(self, function: Callable[[Attend, Array], object], x: Array) -> None:
        self.function, self.x = function, x
        self.inputs: list[Array] = []

    def __call__(self, attend: Attend) -> bool:
        def recorded(z: Array) -> Array:
            self.inputs.append(np.array(z))
            return attend(z)

        return bool(self.function(recorded, self.x))

    def reads_prefixes(self) -> bool:
        """Whether it gave the model fewer words than there are."""
        return any(z.shape[:2] < self.x.shape[:2] for z in self.inputs)

    def changed_words(self) -> list[Array]:
        """For each changed input of full length, which words differ from x: (B, T)."""
        changed = [(z != self.x).any(-1) for z in self.inputs if z.shape == self.x.shape]
        return [words for words in changed if words.any()]

    def replaces_sentences(self) -> bool:
        """Whether a word was only ever replaced together with all others of its sentence."""
        changed = self.changed_words()
        return bool(changed) and all(
            words.any(-1).tolist() == words.all(-1).tolist() for words in changed
        )

    def changes_pile_up(self) -> bool:
        """Whether the words that differ from x only ever became more, from input to input."""
        changed = [frozenset(map(tuple, np.argwhere(words))) for words in self.changed_words()]
        distinct = [words for i, words in enumerate(changed) if words not in changed[:i]]
        return len(distinct) > 1 and all(a < b for a, b in itertools.pairwise(distinct))


CORRECT = "It raises the alarm for a correct model in {dtype}."
ROUNDING = (
    "A prefix and the whole differ by rounding, 1e-7 in float32. Does your changed input keep the "
    "dtype, and does your tolerance know it?"
)


@exercise("masks-1")
def weights_by_hand(answer: object) -> str:
    """The second row of a causal map whose exponentials are 2, 6, 3, 5."""
    row = as_array(answer, (4,), EACH_KEY)
    reject_each(
        row,
        (
            [0.125, 0.375, 0, 0],
            "These four do not sum to 1.",
            "The future was cut after the division. What is still in the denominator?",
        ),
        ([0.125, 0.375, 0.1875, 0.3125], "No mask yet.", "Which keys come later than row two?"),
        (
            [0.2, 0.6, 0.1, 0.1],
            "The future scores were set to 0, and they still get weight.",
            "What is e to the power 0? Which score has exponential 0?",
        ),
        ([2 / 11, 6 / 11, 3 / 11, 0], "That is row three.", "The second row sees one key fewer."),
        ([1, 0, 0, 0], "It does not see itself.", "Does the diagonal belong to the triangle?"),
        ([2, 6, 0, 0], "Crossed out, and not divided.", "What must a row of weights sum to?"),
        (
            [0.018, 0.982, 0, 0],
            "This is softmax of 2 and 6, as if they were scores.",
            "The four numbers are e to the power of the scores: which step is done already?",
        ),
        tolerance=TWO_DECIMALS,
    )
    reject(
        not is_close(row, [0.25, 0.75, 0, 0], TWO_DECIMALS),
        "Not these weights.",
        "Cross out what is blocked first; then divide what is left by its sum.",
    )
    return "right: cross out first, divide afterwards."


@exercise("masks-2")
def both_masks(answer: object) -> str:
    """`f(ids, pad_id)` is the causal mask and the padding mask, joined: (B, 1, S, S)."""
    function = as_function(answer)
    five = np.array([[0, 0, 4, 7, 6], [7, 4, 5, 2, 3], [1, 6, 7, 7, 7]])
    three = np.array([[7, 1, 2], [3, 7, 7]])
    for ids, pad_id in ((five, 0), (five, 7), (three, 7)):
        (B, S), words = ids.shape, (ids != pad_id)[:, None, None, :]
        triangle = np.tri(S, dtype=bool)
        try:
            got = np.asarray(function(ids.copy(), pad_id))
        except ValueError as error:
            if ids is five:
                raise
            raise WrongAnswer(
                gettext("It works for five tokens, and not for three: {error}.").format(
                    error=error
                ),
                FROM_IDS,
            ) from error
        reject(
            ids is three and got.shape != (B, 1, S, S),
            gettext(
                "For five tokens the shape is right, and for ids of shape (2, 3) it is {shape}."
            ).format(shape=got.shape),
            FROM_IDS,
        )
        reject(
            got.shape != (B, 1, S, S),
            gettext("For ids of shape (3, 5) the shape is {shape}.").format(shape=got.shape),
            "Sentences, one axis for the heads, queries, keys. Which axis needs a None?",
        )
        reject(
            got.dtype != np.bool_,
            gettext("The entries are {dtype}, not truth values.").format(dtype=got.dtype),
            "np.tri(n, dtype=bool) and a comparison of ids give truth values.",
        )
        if np.array_equal(got, words & triangle):
            continue
        reject_each(
            got,
            (~(words & triangle), "True and False are swapped.", "True = allowed in this book."),
            (words | triangle, "The masks are joined by `or`.", "How many must allow a key?"),
            (
                words.mT & triangle,
                "The rows of <PAD> are blocked, and words still see <PAD>.",
                "A padding mask blocks keys. On which axis do the keys stand?",
            ),
            (words & triangle.T, "Words see only later words.", "Query i is allowed keys 0 to i."),
            (
                words & np.tri(S, k=-1, dtype=bool),
                "No word sees itself.",
                "A word has been read when its row is computed.",
            ),
            (
                np.broadcast_to(words, got.shape),
                "Words see later words.",
                "One mask is there. Which one brings the triangle?",
            ),
            (
                np.broadcast_to(triangle, got.shape),
                "Words see <PAD>.",
                "One mask is there. Which one is made from the ids?",
            ),
            (
                (ids != 0)[:, None, None, :] & triangle,
                "It works for pad_id = 0 alone.",
                "Does your function use its second argument?",
            ),
        )
        raise WrongAnswer(
            "Some pairs are wrong.",
            "Write down the four rows of [[0, 0, 7, 8]] and compare.",
        )
    return "right. And with <PAD> on the left, its rows are allowed no key."


@exercise("masks-3", Letters("ABCDE"))
def evidence(letters: str) -> str:
    """The observations that prove a leak: A and E."""
    reject_choice(
        letters,
        "AE",
        "Ask of each: can a model without a leak show it too?",
        (
            "AB",
            "You took every output that moves for a leak.",
            "Some outputs have read the replaced word, and rightly. Which ones may not move?",
        ),
    )
    return "right: an earlier output that moves is a proof. B, C and D fit a correct model too."


@exercise("masks-4")
def repaired_attention(answer: object) -> str:
    """`f(x, ids)`: causal attention in which nothing depends on `<PAD>`, whose id is 0."""
    function = as_function(answer)
    rng = np.random.default_rng(13)
    batches = (
        np.array([[3, 1, 4, 2, 5], [6, 2, 1, 0, 0], [0, 0, 7, 8, 9]]),
        np.array([[1, 2, 3, 4], [5, 6, 0, 0], [7, 0, 0, 0], [0, 8, 9, 1]]),  # B = T
    )
    for ids in batches:
        x = rng.normal(size=(*ids.shape, 3))
        words, triangle = ids != 0, np.tri(ids.shape[1], dtype=bool)  # (B, T) and (T, T)
        columns = words[:, None, :]  # (B, 1, T)
        got = np.asarray(function(x, ids))
        reject(
            got.shape != x.shape,
            gettext("For x of shape {x} the shape is {shape}.").format(x=x.shape, shape=got.shape),
            "One output for each word: repair two lines, and leave the others.",
        )
        mistakes = (
            (
                words[:, :, None] & triangle,
                True,
                "As it was handed out.",
                "Replace a later word, then a <PAD>: in each case, which outputs move?",
            ),
            (
                words[:, :, None] & triangle,
                False,
                "One fault is left: words still depend on <PAD>.",
                "On which axis of the scores do the keys stand? And on which one does `is_word`?",
            ),
            (
                columns & triangle,
                True,
                "One fault is left: words still depend on later words.",
                "The blocked weights are 0. By which sum were the others divided?",
            ),
            (
                np.broadcast_to(columns, (*ids.shape, ids.shape[1])),
                False,
                "Words depend on later words: the causal mask is gone.",
                "Is the triangle still in use?",
            ),
            (
                columns | triangle,
                False,
                "The masks are joined by `or`.",
                "How many of the two masks must allow a key?",
            ),
            (
                columns & triangle.T,
                False,
                "Words see only later words.",
                "Query i is allowed keys 0 to i.",
            ),
        )
        for allowed, late, mistake, hint in mistakes:
            reject(is_close(got[words], _attend(x, allowed, late)[words]), mistake, hint)
        reject(
            not is_close(got[words], _attend(x, columns & triangle, late=False)[words], 1e-5),
            "Some words have other outputs than they would have alone.",
            "Compare with the sentence alone, without its <PAD>, one prefix at a time.",
        )
    ids = np.array([[1, 2, 3], [0, 4, 5]])
    x = np.tile(25 * np.arange(1.0, 4)[:, None], (2, 1, 3))  # later words have large scores
    allowed, words = np.tri(3, dtype=bool) & (ids != 0)[:, None, :], ids != 0
    reject(
        not is_close(np.asarray(function(x, ids))[words], _attend(x, allowed, late=False)[words]),
        "It is right for small scores, and wrong beside a blocked score of 1,000.",
        "Softmax rounds the other weights to 0. What is left to divide? Block before the softmax.",
    )
    ids = np.array([[1, 2, 3], [0, 4, 5]])
    x = 1e-3 * rng.normal(size=(2, 3, 3))
    x[:, 2] = x[1, 0] = 1000  # blocked: small scores, large values
    got, right = np.asarray(function(x, ids)), _attend(x, allowed, late=False)
    words[:, 2] = False
    reject(
        not is_close(got[words], right[words], 1e-8),
        "A blocked word still has a little weight: if its numbers are large, outputs move.",
        "Which number did you write over the blocked scores? It must make e^score 0.",
    )
    return "right: padding blocks columns, and no blocked score counts."


@exercise("masks-5")
def leak_detector(answer: object) -> str:
    """`f(attend, x)` says whether any output depends on a later token; x is (B, T, d_model)."""
    function = as_function(answer)
    x = np.random.default_rng(11).normal(size=(2, 6, 5))
    alarm = Recorder(function, x)
    false_alarm, hit = alarm(causal()), alarm(causal(hole=(2, 5)))
    reject(false_alarm and not hit, "True and False are swapped.", "True means: there is a leak.")
    reject(
        alarm.replaces_sentences(),
        "It replaces a whole sentence, not one word of it.",
        "x has three axes, (B, T, d_model). On which one do the words stand?",
    )
    reject(
        false_alarm and alarm.changes_pile_up(),
        "Every change stays in the array when the next token is changed.",
        "`other = x` is a second name for the same array. What would make a new one?",
    )
    reject(
        false_alarm and alarm.reads_prefixes(), gettext(CORRECT).format(dtype="float64"), ROUNDING
    )
    reject(
        false_alarm,
        "It raises the alarm for a causal model too.",
        "When token j changes, output j and those after it may move. Which rows may not?",
    )
    reject(
        not hit,
        "It misses a model whose third output reads the last token.",
        "Is the changed input really different? Do you compare outputs from before and after?",
    )
    reject(
        not alarm(causal(hole=(1, 3))),
        "It misses a leak from token 3 to output 1.",
        "The last token is one suspect. Who are the others?",
    )
    reject(
        not alarm(causal(hole=(0, 1))),
        "It misses a leak from token 1 to output 0.",
        "With which token does your loop begin, and with which output does it end?",
    )
    for j in (2, 4, 5):
        reject(
            not alarm(causal(hole=(0, j))) or not alarm(causal(hole=(j - 1, j))),
            gettext("It misses a leak from token {token}.").format(token=j),
            "Go through all tokens and all outputs before them: which does your loop leave out?",
        )
    reject(
        not all(alarm(causal(hole=(2, 4), sentence=i)) for i in (0, 1)),
        "It misses a leak in one sentence of the batch.",
        "x holds two sentences. Does each go into the model, and do you read both outputs?",
    )
    reject(
        alarm(causal(pads=2)),
        "It raises the alarm for a correct model whose first row is NaN before and after.",
        "Is nan == nan? What does equal_nan=True do in np.isclose?",
    )
    reject(
        not alarm(causal(pads=2, ahead=1)),
        "It misses an off-by-one mask with <PAD> on the left, where a first row is NaN.",
        "What is nan > 0.1? What does .max() give if one number is NaN?",
    )
    reject(
        not alarm(causal(late=True)),
        "It misses the model that sets weights to zero after softmax.",
        "Its weights look right, its outputs do not. How far must an output move to count?",
    )
    reject(
        not alarm(causal(masked=False, norm=True)),
        "It misses attention with no mask at all, behind a LayerNorm.",
        "LayerNorm subtracts a vector's mean and divides by its spread. What is left of x + 1, "
        "and of 2x?",
    )
    reject(
        not alarm(causal(masked=False, even=True)),
        "It misses a model that reads |x| and has no mask at all.",
        "Replace a word by random numbers. What does |x| show of -x?",
    )
    reject(
        not all(alarm(causal(feature=f)) for f in range(x.shape[-1])),
        "It misses a leak that moves one number of an output up and another one down by as much.",
        "What is left of such a move in a sum or an average? Which numbers do you change, and "
        "which do you compare?",
    )
    reject(
        not alarm(causal(known=x)),
        "It misses an output that becomes NaN when a later word is replaced.",
        "NaN before and after is no leak; NaN only after is one. What does your comparison say "
        "of a number and NaN?",
    )
    filler = x.copy()
    filler[0, 3] = 0
    reject(
        not Recorder(function, filler)(causal(hole=(1, 3), sentence=0)),
        "It misses a leak from a word whose numbers are all 0, as those of <PAD> often are.",
        "What has changed if a zero is replaced by a zero?",
    )
    twins = x.copy()
    twins[:, 3] = twins[:, 2]
    reject(
        not Recorder(function, twins)(causal(hole=(1, 3))),
        "It misses a leak from a word that stands twice in a row.",
        "Where do the numbers of your new word come from? Must they differ from the old ones, in "
        "every sentence?",
    )
    one = Recorder(function, x[:1, :4, :3].copy())
    reject(
        one(causal()),
        "It raises the alarm for a correct model in a batch of one sentence.",
        ROUNDING,
    )
    reject(
        not one(causal(masked=False)),
        "It misses attention with no mask at all, if the batch holds one sentence.",
        "Where do the numbers of your new word come from? Must they differ from the old ones?",
    )
    longer = Recorder(function, np.random.default_rng(12).normal(size=(3, 9, 2)))
    reject(
        longer(causal()), "It raises the alarm for a correct model in a longer sentence.", ROUNDING
    )
    reject(
        not all(longer(causal(hole=(7, 8), sentence=i)) for i in range(3)),
        "It misses a leak in three sentences of nine words.",
        "Are B, T or d written out as numbers? Read them off x.shape.",
    )
    for dtype, faint in FLOAT_TYPES.items():
        alarm = Recorder(function, x.astype(dtype))
        name = np.dtype(dtype).name
        for norm in (False, True):
            reject(alarm(causal(norm=norm)), gettext(CORRECT).format(dtype=name), ROUNDING)
        in_twice = alarm(causal(twice=True))
        reject(
            in_twice and any(np.abs(z).max() > 100 for z in alarm.inputs),
            "It raises the alarm for a correct model, in which your new word becomes NaN.",
            "How large is the score of such a word with itself, and e to that power?",
        )
        reject(
            in_twice,
            gettext(
                "It raises the alarm for a correct model in {dtype} that divides twice."
            ).format(dtype=name),
            "Each division rounds, so an earlier output moves in its last digit. How large must a "
            "move be before you count it?",
        )
        reject(
            not alarm(causal(faint=faint)),
            gettext("It misses a leak of {size:g} in {dtype}.").format(size=faint, dtype=name),
            "A small leak is still far above a rounding error: mind the tolerance.",
        )
    return "right: it finds every leak that was planted, and raises no false alarm."


@exercise("masks-6")
def visible_keys(answer: object) -> str:
    """Keys allowed to `je`: in `<PAD> <sos> je suis étudiant`, and in `I am a student <PAD>`."""
    past, source = as_sets(
        answer, "First where `je` looks in its own sentence, then where it looks in the source."
    )
    reject(
        isinstance(answer, list | tuple)
        and [len(list(one)) for one in answer] == [5, 5]
        and past | source <= {0, 1},
        "These look like two masks of 0 and 1.",
        "Give the positions of the ones, counted from 0.",
    )
    reject(
        past == {2, 3},
        "The first list looks like positions counted from 1.",
        "Python counts from 0: <PAD> stands at position 0.",
    )
    reject(3 in past, "Position 3 comes later.", "Go along the row: where does the future start?")
    reject(
        0 in past,
        "Position 0 holds <PAD>.",
        "A key must be allowed by both masks, not by one of them.",
    )
    reject(
        past == {1},
        "`je` does not see itself here.",
        "A word is known where it is read; the word after it is blocked.",
    )
    reject(
        past == {2},
        "<sos> is missing.",
        "<sos> is an ordinary token with a vector of its own; only <PAD> is padding.",
    )
    reject(past != {1, 2}, "Not the first.", "Ask two questions of each position: real? not later?")
    reject(
        source == {0, 1, 2},
        "The second list stops where the future would begin.",
        "When was the source read: while `je` is being written, or before the first word?",
    )
    reject(
        source == {1, 2, 3, 4},
        "That is the target's padding, laid over the source.",
        "A padding mask blocks keys. Whose keys are these, and where is their padding?",
    )
    reject(4 in source, "Position 4 of the source is padding.", "Which token stands there?")
    reject(source != {0, 1, 2, 3}, "Not the second.", "In cross-attention, is any word too late?")
    return "right: its own past, and the whole source. No key is padding."


@exercise("masks-7")
def added_twice(answer: object) -> str:
    """Row 0 of `<PAD> <PAD> <sos> je`, two masks added as -1e9; exponentials 1, 3, 4, 8."""
    row = as_array(answer, (4,), EACH_KEY)
    reject(
        bool(np.isnan(row.astype(float)).any()),
        "−∞ would end in NaN, but −1e9 is a finite number.",
        "Softmax subtracts the row's largest score first. What is left after that?",
    )
    zeros = "Zeros are this book's function's answer; here two masks are added as numbers."
    same = "So it would be if every key had been pushed down equally far."
    uniform = "This would be uniform, as if the fill had swallowed the scores."
    reject_each(
        row,
        (np.zeros(4), zeros, "Whatever finite numbers enter softmax, what does a row sum to?"),
        (np.full(4, 0.25), uniform, "How far apart do neighbouring float64 numbers lie near 1e9?"),
        (
            [1 / 3, 0, 1 / 3, 1 / 3],
            "This is float32's answer, where −1e9 swallows the scores.",
            "float64 keeps some sixteen digits. Is a score still seen beside 1e9?",
        ),
        (np.array([1, 3, 4, 8]) / 16, same, "Write down what is added to each of the four scores."),
        tolerance=TWO_DECIMALS,
    )
    reject(
        not is_close(row, np.array([1, 0, 4, 8]) / 13, 0.01),  # two decimals, also if cut
        "Not these weights.",
        "Add the largest fill back to every score: what do the four read then?",
    )
    return "right: every key was blocked, and it looks mostly at later words."


@exercise("masks-8")
def key_padding_mask(answer: object) -> str:
    """`f(ids, pad_id)` gives what `nn.MultiheadAttention` wants as key_padding_mask."""
    function = as_function(answer)
    ids = np.array([[4, 1, 6, 0, 0], [7, 4, 5, 2, 3], [1, 7, 7, 7, 7]])
    for pad_id in (0, 7):
        blocked = ids == pad_id
        got = np.asarray(function(ids, pad_id))
        reject(
            got.shape == (3, 1, 1, 5),
            "The shape is (B, 1, 1, S), our own functions' shape.",
            "`nn.MultiheadAttention` adds the axes for heads and queries by itself.",
        )
        reject(
            got.shape != blocked.shape,
            gettext("For ids of shape (3, 5) the shape is {shape}.").format(shape=got.shape),
            "One answer for each key of each sentence, and no axis for queries.",
        )
        reject(
            got.dtype.kind == "f",
            gettext("The entries are {dtype}, not truth values.").format(dtype=got.dtype),
            "A float mask is added to the scores. What does adding 1 to a score block?",
        )
        reject(
            got.dtype != np.bool_,
            gettext("The entries are {dtype}, not truth values.").format(dtype=got.dtype),
            "A comparison of arrays gives truth values by itself. What turned them into numbers?",
        )
        reject(
            np.array_equal(got, ~blocked),
            "True and False are swapped.",
            "In this class, True marks the keys that must get no weight.",
        )
        reject(
            pad_id == 7 and np.array_equal(got, ids == 0),
            "It works for pad_id = 0 alone.",
            "Does your function use its second argument?",
        )
        reject(
            not np.array_equal(got, blocked),
            "Some keys are wrong.",
            "Compare every id with pad_id; the order of the words plays no part.",
        )
    return "right: (B, S), True = blocked."


@exercise("masks-9")
def packed_documents_mask(answer: object) -> str:
    """`f(document)` is the (T, T) mask of several documents packed into one row."""
    function = as_function(answer)
    for numbers in ([0, 0, 0, 1, 1, 2], [5, 5, 2, 2, 2, 9, 9]):
        document = np.array(numbers)
        same = document[:, None] == document[None, :]
        earlier = np.tril(np.ones(same.shape, bool))
        got = np.asarray(function(document))
        reject(
            got.shape != same.shape,
            gettext("For {tokens} tokens the shape is {shape}.").format(
                tokens=len(document), shape=got.shape
            ),
            "Rows are queries and columns are keys: (T, T).",
        )
        mistake = gettext("The entries are {dtype}.").format(dtype=got.dtype)
        reject(got.dtype != np.bool_, mistake, "Masks in this book are boolean.")
        reject_each(
            got,
            (~(same & earlier), "True and False are swapped.", "Here True = may attend."),
            (
                same,
                "Inside a document, words see the words after them.",
                "One condition is there. Which property did the triangle bring?",
            ),
            (
                earlier,
                "The second document still reads the first.",
                "Compare the document number of the query with that of the key.",
            ),
            (
                same | earlier,
                "Too much is allowed: the two conditions were joined with `or`.",
                "A pair of words has to pass every condition.",
            ),
            (
                same & earlier.T,
                "The triangle looks forwards.",
                "Which of the two indices, query or key, must be the larger one?",
            ),
            (
                same & np.tril(earlier, -1),
                "No token sees itself: too strict.",
                "A token has been read by the time it asks. Which comparison leaves out equality?",
            ),
        )
        reject(
            not np.array_equal(got, same & earlier),
            "Some pairs are wrong.",
            "Draw the six tokens 0 0 0 1 1 2 on paper and mark what each row is allowed.",
        )
    return "right: small triangles along the diagonal."


@exercise("masks-10")
def blind_spot(answer: object) -> str:
    """A (6, 6) mask that leaks, and that replacing the last word does not find."""
    mask = as_array(answer, shape=(6, 6))
    reject(
        mask.dtype != np.bool_,
        gettext("The entries are {dtype}.").format(dtype=mask.dtype),
        "Masks in this book are boolean: np.tri(6, dtype=bool).",
    )
    later = ~np.tri(6, dtype=bool)
    reject(
        bool((mask.sum(axis=1) == 0).any()),
        "In some row every key is blocked.",
        "Begin with the causal mask, and change one entry of it.",
    )
    reject(
        not mask[later].any(),
        "This mask does not leak.",
        "Allow one key that comes later than its query.",
    )
    reject(
        bool((mask & later)[:, 5].any()),
        "The test finds it: an earlier output moves with the last word.",
        "The test looks at one column only. Which?",
    )
    return "right: a test of one word is blind to all the others. Replace each word in turn."


def _attend(x: Array, allowed: Array, late: bool) -> Array:
    """Attention under a mask (B, T, T); `late`: weights become 0 after the softmax."""
    scores = x @ x.mT / math.sqrt(x.shape[-1])
    counted = scores if late else np.where(allowed, scores, -np.inf)
    e = np.exp(counted - counted.max(-1, keepdims=True, initial=-1e30))
    out: Array = e * allowed / np.maximum(e.sum(-1, keepdims=True), 1) @ x
    return out
