"""The exercises of "Masks": right answers pass; each typical mistake meets its own hint."""

import math

import numpy as np
import pytest

import qkv.numpy as qn
from tests.helpers.exercises import ExerciseAnswers


def padding(ids, pad_id):
    return ids == pad_id


def packed(document):
    same = document[:, None] == document[None, :]
    return same & np.tril(np.ones(same.shape, bool))


def both(ids, pad_id):
    return (ids != pad_id)[:, None, None, :] & np.tri(ids.shape[1], dtype=bool)


def detector(attend, x, replace=None, tolerance=None, first=1, step=1, copy=np.copy):
    """Replace each word in turn; an earlier output that moves is a leak."""
    rng = np.random.default_rng(0)
    replace = replace or (lambda word: rng.normal(size=word.shape))
    tolerance = 100 * np.finfo(x.dtype).eps if tolerance is None else tolerance
    before = attend(x)
    for j in range(first, x.shape[-2], step):
        changed = copy(x)
        changed[..., j, :] = replace(changed[..., j, :])
        after = attend(changed)
        same = np.isclose(after, before, rtol=tolerance, atol=tolerance, equal_nan=True)
        if not same[..., :j, :].all():
            return True
    return False


def by_prefixes(attend, x, tolerance=None):
    """A causal model gives each prefix the row that it gives it in the whole."""
    tolerance = 100 * np.finfo(x.dtype).eps if tolerance is None else tolerance
    whole = attend(x)
    pairs = [(attend(x[:, :n])[:, -1], whole[:, n - 1]) for n in range(1, x.shape[1] + 1)]
    return any(not np.isclose(a, b, 0, tolerance, equal_nan=True).all() for a, b in pairs)


def masked(x, allowed, late=False):
    """Attention of (B, T, d) words under a (B, T, T) mask; rows with no key are NaN."""
    scores = x @ x.mT / math.sqrt(x.shape[-1])
    counted = scores if late else np.where(allowed, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(counted - counted.max(-1, keepdims=True))
        return e * allowed / e.sum(-1, keepdims=True) @ x


def divided_again(x, ids):
    """Right for small scores: the weights are set to 0 after the softmax, and divided again."""
    weights = qn.softmax(x @ x.mT / math.sqrt(x.shape[-1])) * joined(x, ids)
    with np.errstate(invalid="ignore"):
        return weights / weights.sum(-1, keepdims=True) @ x


def joined(x, ids):
    return (ids != 0)[:, None, :] & np.tri(x.shape[1], dtype=bool)


def mended(x, ids):
    return masked(x, joined(x, ids))


def filled(x, ids, fill, later=None):
    """Blocked scores get `fill`; those of later words `later`, if it is given."""
    scores = np.where((ids != 0)[:, None, :], x @ x.mT / math.sqrt(x.shape[-1]), fill)
    triangle = np.tri(x.shape[1], dtype=bool)
    return qn.softmax(np.where(triangle, scores, fill if later is None else later)) @ x


def mended_by_hand(x, ids):
    """Each word by itself, among the words up to it."""
    out = np.zeros_like(x)
    for b, t in np.argwhere(ids != 0):
        seen = x[b, : t + 1][ids[b, : t + 1] != 0]
        out[b, t] = masked(seen[None], np.ones((len(seen), len(seen)), bool))[0, -1]
    return out


def leaky_mask(*holes):
    mask = np.tri(6, dtype=bool)
    for hole in holes:
        mask[hole] = True
    return mask


# The last row may see the last word; the row before it may not.
SEES_NO_LAST = np.arange(6)[None, :] < np.where(np.arange(6) == 5, 6, 5)[:, None]

RIGHT = {
    "masks-1": [0.25, 0.75, 0, 0],
    "masks-2": both,
    "masks-3": "AE",
    "masks-4": mended,
    "masks-5": detector,
    "masks-6": ([1, 2], [0, 1, 2, 3]),
    "masks-7": [1 / 13, 0, 4 / 13, 8 / 13],
    "masks-8": padding,
    "masks-9": packed,
    "masks-10": leaky_mask((0, 1)),
}


def changed_with(**options):
    return lambda attend, x: detector(attend, x, **options)


def last_word_only(attend, x):
    return detector(attend, x, first=x.shape[1] - 1)


def own_row_too(attend, x):
    changed = x.copy()
    changed[:, -1] = 0
    return not np.allclose(attend(changed), attend(x))


def whole_sentences(attend, x):
    before = attend(x)
    for j in range(1, len(x)):
        changed = x.copy()
        changed[j] = np.random.default_rng(0).normal(size=x[j].shape)
        if not np.allclose(attend(changed)[:j], before[:j]):
            return True
    return False


def not_all_close(attend, x):
    """As `detector`, but NaN is never equal to NaN."""
    return any(not np.allclose(*pair, 1e-9, 1e-9) for pair in earlier_outputs(attend, x))


def largest(attend, x):
    """As `detector`, but nothing is larger than NaN."""
    return any(np.abs(a - b).max() > 1e-9 for a, b in earlier_outputs(attend, x))


def earlier_outputs(attend, x, new=None, words=None):
    """The outputs before each word, before and after it is replaced."""
    new = new or (lambda j: np.random.default_rng(0).normal(size=x[:, j].shape))
    for j in words or range(1, x.shape[1]):
        changed = x.copy()
        changed[:, j] = new(j)
        yield attend(x)[:, :j], attend(changed)[:, :j]


def exactly_equal(attend, x):
    pairs = earlier_outputs(attend, x)
    return any(not np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def summed(attend):
    return lambda z: attend(z).sum(axis=-1, keepdims=True)


def stops_short(attend, x):
    """Compares the outputs before the last two only with what comes later."""
    before = attend(x)
    for j in range(2, x.shape[1]):
        changed = x.copy()
        changed[:, j] = 0
        if not np.allclose(attend(changed)[:, 1:j], before[:, 1:j]):
            return True
    return False


def in_float64(attend, x):
    before = attend(x)
    for j in range(1, x.shape[1]):
        changed = x.astype(np.float64)
        changed[:, j] = np.random.default_rng(0).normal(size=changed[:, j].shape)
        if (attend(changed)[:, :j] != before[:, :j]).any():
            return True
    return False


def another_sentence(attend, x):
    """Takes the new word from another sentence: in a batch of one it is the old word."""
    return differ(earlier_outputs(attend, x, lambda j: x[::-1, j]))


def the_word_before(attend, x):
    """Changes nothing where the two words are the same."""
    return differ(earlier_outputs(attend, x, lambda j: x[:, j - 1]))


def six_words(attend, x):
    return differ(earlier_outputs(attend, x, words=range(1, min(6, x.shape[1]))))


def differ(pairs):
    return any(not np.isclose(a, b, 1e-9, 1e-9, equal_nan=True).all() for a, b in pairs)


def nan_to_num(attend, x):
    """A difference that is NaN counts as none."""
    return any(
        np.nan_to_num(np.abs(a - b)).max() > 100 * np.finfo(x.dtype).eps
        for a, b in earlier_outputs(attend, x)
    )


def literal(attend, x):
    """The two tolerances of the exercise, and NaN by itself."""
    tolerance = 1e-6 if x.dtype == np.float64 else 1e-3
    return any(
        (np.abs(a - b) > tolerance).any() or (np.isnan(a) != np.isnan(b)).any()
        for a, b in earlier_outputs(attend, x)
    )


def rows_of_padding(x, ids):
    return (ids != 0)[:, :, None] & np.tri(x.shape[1], dtype=bool)


WRONG = {
    "masks-1": {
        "zero after softmax (pitfall 4)": [0.125, 0.375, 0, 0],
        "no mask": [0.125, 0.375, 0.1875, 0.3125],
        "score 0 instead of −∞": [0.2, 0.6, 0.1, 0.1],
        "wrong row": [2 / 11, 6 / 11, 3 / 11, 0],
        "itself left out": [1, 0, 0, 0],
        "other": [0.75, 0.25, 0, 0],
        "too short": [0.25, 0.75],
        "not divided": [2, 6, 0, 0],
        "softmax of what is e^score": [0.018, 0.982, 0, 0],
    },
    "masks-2": {
        "polarity": lambda ids, pad_id: ~both(ids, pad_id),
        "or": lambda i, p: (i != p)[:, None, None, :] | np.tri(i.shape[1], dtype=bool),
        "rows of padding": lambda i, p: (i != p)[:, None, :, None] & np.tri(i.shape[1], dtype=bool),
        "forwards": lambda i, p: (i != p)[:, None, None, :] & np.tri(i.shape[1], dtype=bool).T,
        "too strict": lambda i, p: both(i, p) & ~np.eye(i.shape[1], dtype=bool),
        "padding alone": lambda i, p: np.tile((i != p)[:, None, None, :], (1, 1, i.shape[1], 1)),
        "triangle alone": lambda i, p: np.tile(np.tri(i.shape[1]) > 0, (len(i), 1, 1, 1)),
        "pad id fixed": lambda ids, pad_id: both(ids, 0),
        "no axis of the heads": lambda ids, pad_id: both(ids, pad_id)[:, 0],
        "not boolean": lambda ids, pad_id: both(ids, pad_id).astype(int),
        "five tokens": lambda i, p: (i != p)[:, None, None, :] & np.tri(5, dtype=bool),
        "first key too": lambda i, p: both(i, p) | (np.arange(i.shape[1]) == 0),
    },
    "masks-3": {
        "what a correct model does": "ABE",
        "the colleague's weights": "ACE",
        "a low loss": ["A", "D", "E"],
        "no A": "E",
        "no E": "a",
        "numbers": 15,
    },
    "masks-4": {
        "as handed out": lambda x, ids: masked(x, rows_of_padding(x, ids), late=True),
        "the rows of padding": lambda x, ids: masked(x, rows_of_padding(x, ids)),
        "zero after softmax": lambda x, ids: masked(x, joined(x, ids), late=True),
        "no causal mask": lambda x, ids: masked(x, (ids != 0)[:, None, :]),
        "or": lambda x, ids: masked(x, (ids != 0)[:, None, :] | np.tri(x.shape[1], dtype=bool)),
        "forwards": lambda x, ids: masked(x, (ids != 0)[:, None, :] & (np.tri(x.shape[1]).T > 0)),
        "bare (B, T)": lambda x, ids: masked(x, (ids != 0) & np.tri(x.shape[1], dtype=bool)),
        "no scale": lambda x, ids: masked(x * x.shape[-1] ** 0.25, joined(x, ids)),
        "a head axis": lambda x, ids: mended(x, ids)[:, None],
        "divided again": divided_again,
    },
    "masks-5": {
        "the last word only": last_word_only,
        "its own row too": own_row_too,
        "never": lambda attend, x: False,
        "swapped": lambda attend, x: not detector(attend, x),
        "whole sentences": whole_sentences,
        "the first output left out": stops_short,
        "too coarse for a late zero": changed_with(tolerance=0.14),
        "too coarse for a thousandth": changed_with(tolerance=0.01),
        "adds 1, which LayerNorm takes away": changed_with(replace=lambda word: word + 1),
        "every second word": changed_with(step=2),
        "the first sentence alone": lambda attend, x: detector(attend, x[:1]),
        "NaN is not NaN": not_all_close,
        "the largest of NaN": largest,
        "exact comparison of prefixes": lambda attend, x: by_prefixes(attend, x, 0),
        "exact comparison": changed_with(tolerance=0),
        "minus x": changed_with(replace=np.negative),
        "a sum of the outputs": lambda attend, x: detector(summed(attend), x),
        "no copy": changed_with(copy=lambda x: x),
        "raises": lambda attend, x: attend(x)[99],
        "another sentence's word": another_sentence,
        "six words": six_words,
        "NaN counts as 0": nan_to_num,
        "zeros": changed_with(replace=np.zeros_like),
        "the word before it": the_word_before,
        "a million": changed_with(replace=lambda word: np.full_like(word, 1e6)),
    },
    "masks-6": {
        "counted from 1": ([2, 3], [1, 2, 3, 4]),
        "padding forgotten": ([0, 1, 2], [0, 1, 2, 3]),
        "future allowed": ([1, 2, 3], [0, 1, 2, 3]),
        "itself left out": ([1], [0, 1, 2, 3]),
        "sos left out": ([2], [0, 1, 2, 3]),
        "nothing": ([], [0, 1, 2, 3]),
        "triangle on the source (row 003-8)": ([1, 2], [0, 1, 2]),
        "the target's padding (row 003-8)": ([1, 2], [1, 2, 3, 4]),
        "filler of the source": ([1, 2], [0, 1, 2, 3, 4]),
        "itself in the source": ([1, 2], [2]),
        "one list": [1, 2],
        "masks": ([0, 1, 1, 0, 0], [1, 1, 1, 1, 0]),
        "words": (["<sos>", "je"], ["I", "am", "a", "student"]),
    },
    "masks-7": {
        "NaN": [np.nan] * 4,
        "zeros": [0, 0, 0, 0],
        "uniform (pitfall 3, slip 002-S)": [0.25] * 4,
        "float32": [1 / 3, 0, 1 / 3, 1 / 3],
        "unmasked": [1 / 16, 3 / 16, 4 / 16, 8 / 16],
        "other": [0, 0, 0, 1],
    },
    "masks-8": {
        "polarity (slip 003-S)": lambda ids, pad_id: ids != pad_id,
        "our shape": lambda ids, pad_id: (ids == pad_id)[:, None, None, :],
        "an axis too many": lambda ids, pad_id: np.repeat((ids == pad_id)[:, None], 5, 1),
        "1.0 = blocked": lambda ids, pad_id: (ids == pad_id).astype(np.float32),
        "1 = blocked": lambda ids, pad_id: (ids == pad_id).astype(int),
        "pad id fixed": lambda ids, pad_id: ids == 0,
        "everything": lambda ids, pad_id: np.ones(ids.shape, bool),
    },
    "masks-9": {
        "no triangle": lambda d: d[:, None] == d[None],
        "no documents": lambda d: np.tril(np.ones((len(d), len(d)), bool)),
        "polarity": lambda d: ~packed(d),
        "or": lambda d: (d[:, None] == d[None]) | np.tril(np.ones((len(d), len(d)), bool)),
        "forwards": lambda d: packed(d[::-1])[::-1, ::-1],
        "not boolean": lambda d: packed(d).astype(int),
        "one row": lambda d: d == d[0],
        "too strict": lambda d: packed(d) & ~np.eye(len(d), dtype=bool),
        "two tokens only": lambda d: packed(d) & np.triu(np.ones((len(d), len(d)), bool), -1),
    },
    "masks-10": {
        "correct": leaky_mask(),
        "the last word": leaky_mask((0, 5)),
        "polarity": ~leaky_mask(),
        "not boolean": leaky_mask((0, 1)).astype(int),
        "another size": np.tri(4, k=1, dtype=bool),
    },
}


ALSO_RIGHT = {
    "two decimals": ("masks-7", [0.08, 0, 0.31, 0.62]),
    "two decimals, cut": ("masks-7", [0.07, 0, 0.30, 0.61]),
    "three holes": ("masks-10", leaky_mask((0, 1), (0, 4), (2, 3))),
    "off by one, but for the last column": ("masks-10", np.tri(6, k=1, dtype=bool) & SEES_NO_LAST),
    "prefixes": ("masks-5", by_prefixes),
    "the two tolerances": ("masks-5", literal),
    "each word by itself": ("masks-4", mended_by_hand),
    "the package": (
        "masks-4",
        lambda x, ids: qn.scaled_dot_product_attention(x, x, x, mask=joined(x, ids))[0],
    ),
    "−1e9 before the softmax": ("masks-4", lambda x, ids: filled(x, ids, -1e9)),
    "float32": ("masks-4", lambda x, ids: mended(x.astype(np.float32), ids)),
    "one tolerance": ("masks-5", changed_with(tolerance=5e-7)),
}
FURTHER_DETECTORS = {
    "doubles, which LayerNorm takes away": changed_with(replace=lambda word: 2 * word),
    "a tolerance for float64 alone": lambda attend, x: by_prefixes(attend, x, 1e-9),
    "a tolerance for float32 alone": changed_with(tolerance=1e-5),
    "the first sentence's outputs": lambda attend, x: detector(lambda z: attend(z)[:1], x),
    "another dtype": in_float64,
    "exact comparison, but for NaN": exactly_equal,
    "an average of the outputs": lambda attend, x: detector(
        lambda z: attend(z).mean(axis=-1, keepdims=True), x
    ),
    "the first number of the outputs": lambda attend, x: detector(lambda z: attend(z)[..., :1], x),
    "the last number of the outputs": lambda attend, x: detector(lambda z: attend(z)[..., -1:], x),
    "the first number of the words": changed_with(
        replace=lambda word: word + np.eye(word.shape[-1], dtype=word.dtype)[0]
    ),
}
ALSO_WRONG = {what: ("masks-5", detector) for what, detector in FURTHER_DETECTORS.items()} | {
    "no padding mask": ("masks-4", lambda x, ids: masked(x, np.tri(x.shape[1], dtype=bool))),
    "−12 before the softmax": ("masks-4", lambda x, ids: filled(x, ids, -12)),
    "−20 before the softmax": ("masks-4", lambda x, ids: filled(x, ids, -20)),
    "−12 for padding alone": ("masks-4", lambda x, ids: filled(x, ids, -12, later=-np.inf)),
    "one of two lines": ("masks-4", lambda x, ids: masked(x, joined(x, ids)[:, :1])),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


def test_the_right_detector_is_not_fooled_by_its_own_input():
    x = np.random.default_rng(1).normal(size=(2, 4, 3))
    assert detector(lambda z: z[:, ::-1], x)
    assert not detector(lambda z: np.cumsum(z, axis=1), x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_right_detector_sees_through_the_package(dtype):
    """Behind a LayerNorm, in a batch: with the causal mask, without it, off by one."""
    x = np.random.default_rng(2).normal(size=(3, 7, 5)).astype(dtype)

    def behind_a_layer_norm(mask):
        def attend(z):
            z = qn.layer_norm(z, np.ones(5, dtype))
            return qn.scaled_dot_product_attention(z, z, z, mask=mask)[0]

        return attend

    for mask, expected in ((np.tri(7), False), (np.tri(7, k=1), True), (np.ones((7, 7)), True)):
        assert detector(behind_a_layer_norm(mask.astype(bool)), x) == expected
