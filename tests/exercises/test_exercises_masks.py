"""The exercises of "Masks": right answers pass; each typical mistake meets its own hint."""

import numpy as np
import pytest

from qkv.exercises import check


def padding(ids, pad_id):
    return ids == pad_id


def packed(document):
    same = document[:, None] == document[None, :]
    return same & np.tril(np.ones(same.shape, bool))


def detector(attend, x):
    before = attend(x)
    for j in range(1, len(x)):
        changed = x.copy()
        changed[j] += 1
        if not np.allclose(attend(changed)[:j], before[:j]):
            return True
    return False


def by_prefixes(attend, x):
    """A causal model gives each prefix the row that it gives it in the whole."""
    whole = attend(x)
    return not all(np.allclose(attend(x[: i + 1])[-1], whole[i]) for i in range(len(x)))


RIGHT = {
    "masks-1": ([1, 2], [0, 1, 2, 3]),
    "masks-2": [0.25, 0.75, 0, 0],
    "masks-3": [1 / 13, 0, 4 / 13, 8 / 13],
    "masks-4": padding,
    "masks-5": packed,
    "masks-6": detector,
}


def last_token_only(attend, x):
    changed = x.copy()
    changed[-1] += 1
    return not np.allclose(attend(changed)[:-1], attend(x)[:-1])


def own_row_too(attend, x):
    changed = x.copy()
    changed[-1] += 1
    return not np.allclose(attend(changed), attend(x))


def coarse(tolerance):
    def detect(attend, x):
        before, moved = attend(x), 0.0
        for j in range(1, len(x)):
            changed = x.copy()
            changed[j] += 1
            moved = max(moved, np.abs(attend(changed)[:j] - before[:j]).max())
        return moved > tolerance

    return detect


def no_copy(attend, x):
    before = attend(x)
    for j in range(1, len(x)):
        changed = x
        changed[j] += 1
        if not np.allclose(attend(changed)[:j], before[:j]):
            return True
    return False


def exact(attend, x):
    before = attend(x)
    for j in range(1, len(x)):
        changed = x.copy()
        changed[j] += 1
        if (attend(changed)[:j] != before[:j]).any():
            return True
    return False


WRONG = {
    "masks-1": {
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
        "words": (["<sos>", "je"], ["I", "am", "a", "student"]),
    },
    "masks-2": {
        "zero after softmax (pitfall 4)": [0.125, 0.375, 0, 0],
        "no mask": [0.125, 0.375, 0.1875, 0.3125],
        "score 0 instead of −∞": [0.2, 0.6, 0.1, 0.1],
        "wrong row": [2 / 11, 6 / 11, 3 / 11, 0],
        "itself left out": [1, 0, 0, 0],
        "other": [0.75, 0.25, 0, 0],
        "too short": [0.25, 0.75],
    },
    "masks-3": {
        "NaN": [np.nan] * 4,
        "zeros": [0, 0, 0, 0],
        "uniform (pitfall 3, slip 002-S)": [0.25] * 4,
        "float32": [1 / 3, 0, 1 / 3, 1 / 3],
        "unmasked": [1 / 16, 3 / 16, 4 / 16, 8 / 16],
        "other": [0, 0, 0, 1],
    },
    "masks-4": {
        "polarity (slip 003-S)": lambda ids, pad_id: ids != pad_id,
        "our shape": lambda ids, pad_id: (ids == pad_id)[:, None, None, :],
        "an axis too many": lambda ids, pad_id: np.repeat((ids == pad_id)[:, None], 5, 1),
        "1.0 = blocked": lambda ids, pad_id: (ids == pad_id).astype(np.float32),
        "1 = blocked": lambda ids, pad_id: (ids == pad_id).astype(int),
        "pad id fixed": lambda ids, pad_id: ids == 0,
        "everything": lambda ids, pad_id: np.ones(ids.shape, bool),
    },
    "masks-5": {
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
    "masks-6": {
        "the last token only": last_token_only,
        "its own row too": own_row_too,
        "never": lambda attend, x: False,
        "swapped": lambda attend, x: not detector(attend, x),
        "too coarse for a late zero": coarse(0.14),
        "too coarse for a thousandth": coarse(0.1),
        "exact comparison": exact,
        "no copy": no_copy,
        "raises": lambda attend, x: attend(x)[99],
    },
}

CASES = [(name, what) for name, answers in WRONG.items() for what in answers]


@pytest.mark.parametrize("name", RIGHT)
def test_right_answer_is_accepted(name):
    assert check(name, RIGHT[name]).state == "right"


@pytest.mark.parametrize(("name", "what"), CASES, ids=[f"{n}: {w}" for n, w in CASES])
def test_wrong_answer_is_refused_with_a_hint(name, what):
    verdict = check(name, WRONG[name][what])
    assert verdict.state == "wrong"
    assert verdict.hint


@pytest.mark.parametrize("name", WRONG)
def test_each_mistake_has_its_own_hint(name):
    hints = [check(name, answer).hint for answer in WRONG[name].values()]
    assert len(set(hints)) == len(hints) >= 3


ALSO_RIGHT = {
    "sets of positions": ("masks-1", ({1, 2}, {0, 1, 2, 3})),
    "two decimals": ("masks-3", [0.08, 0, 0.31, 0.62]),
    "prefixes": ("masks-6", by_prefixes),
}


@pytest.mark.parametrize("what", ALSO_RIGHT)
def test_other_right_answers_are_accepted(what):
    assert check(*ALSO_RIGHT[what]).state == "right"


@pytest.mark.parametrize("name", RIGHT)
def test_unanswered_says_so(name):
    assert check(name, ...).state == "open"


def test_the_right_detector_is_not_fooled_by_its_own_input():
    x = np.random.default_rng(1).normal(size=(4, 3))
    assert detector(lambda z: z[::-1], x)
    assert not detector(lambda z: np.cumsum(z, axis=0), x)
