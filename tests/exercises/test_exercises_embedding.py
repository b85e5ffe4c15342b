"""The exercises of "From text to vectors": right answers pass; each mistake meets its own hint."""

import numpy as np
import pytest

from qkv.exercises import check


def next_word(x, table, vocabulary):
    e = np.exp(table @ x)
    best = int(np.argmax(e))
    return vocabulary[best], e[best] / e.sum()


def gradient(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[1]))
    for i, row in zip(ids, dout, strict=True):
        dtable[i] += row
    return dtable


def assigned(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[1]))
    dtable[ids] += dout
    return dtable


def first_only(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[1]))
    dtable[ids[::-1]] = dout[::-1]
    return dtable


def shifted(x, table, vocabulary):
    logits = x @ table.T
    p = np.exp(logits - logits.max())
    p /= p.sum()
    return [vocabulary[p.argmax()], p.max()]


def wrong_words(pick, share=lambda z: np.exp(z).max() / np.exp(z).sum()):
    return lambda x, table, vocabulary: (vocabulary[pick(table @ x)], share(table @ x))


LOGITS = np.array([1, -1, 1, 5, -4])
RIGHT = {
    "embedding-1": LOGITS,
    "embedding-2": [("e", "w"), ("n", "ew")],
    "embedding-3": "BD",
    "embedding-4": next_word,
    "embedding-5": gradient,
    "embedding-6": 37_888_000,
}
WRONG = {
    "embedding-1": {
        "turned": -LOGITS,
        "large alone": [0, 0, -2, 6, -4],
        "famous alone": [1, -1, 3, -1, 0],
        "plus one": [1, -1, 5, -7, 4],
        "softmax": np.exp(LOGITS) / np.exp(LOGITS).sum(),
        "exponentials": np.exp(LOGITS),
        "other": [0, 0, 0, 3, 0],
        "the word": "miniature",
        "the id": 3,
    },
    "embedding-2": {
        "tie in reading order": [("n", "e"), ("ne", "w")],
        "tie with the mark of a word": [("▁", "n"), ("▁n", "e")],
        "not the most frequent": [("l", "o"), ("lo", "w")],
        "no count after the merge": [("e", "w"), ("n", "e")],
        "second tie": [("e", "w"), ("▁", "n")],
        "another second": [("e", "w"), ("ew", "er")],
        "another first": [("x", "y"), ("e", "w")],
        "one merge": [("e", "w")],
        "three pieces": [("n", "e", "w"), ("e", "w")],
    },
    "embedding-3": {
        "no unknown word": "ABD",
        "fewer tokens": "BCD",
        "no B": "D",
        "no D": "b",
        "numbers": 24,
    },
    "embedding-4": {
        "least likely": wrong_words(np.argmin),
        "first": lambda x, table, vocabulary: (vocabulary[0], 0.5),
        "logit": wrong_words(np.argmax, np.max),
        "exponential": wrong_words(np.argmax, lambda z: np.exp(z.max())),
        "no exponential": wrong_words(np.argmax, lambda z: z.max() / z.sum()),
        "one": wrong_words(np.argmax, lambda z: 1.0),
        "the id": lambda x, table, vocabulary: (int((table @ x).argmax()), 0.5),
        "the word alone": lambda x, table, vocabulary: vocabulary[int((table @ x).argmax())],
        "raises": lambda x, table, vocabulary: table @ x @ x,
    },
    "embedding-5": {
        "assignment": assigned,
        "the first": first_only,
        "mean": lambda i, d, V: (
            gradient(i, d, V) / np.maximum(np.bincount(i, minlength=V), 1)[:, None]
        ),
        "nothing": lambda i, d, V: np.zeros((V, d.shape[1])),
        "the positions": lambda i, d, V: d,
        "other": lambda i, d, V: gradient(i, d, V) + 1,
    },
    "embedding-6": {
        "one table": 37_000 * 512,
        "three tables": 3 * 37_000 * 512,
        "tokens": 74_000,
        "millions": 37.888,
        "other": 512 * 512,
        "a function": next_word,
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
    "floats": ("embedding-1", [1.0, -1.0, 1.0, 5.0, -4.0]),
    "written with a plus": ("embedding-2", ["e + w", "n + ew"]),
    "tuples": ("embedding-2", (("e", "w"), ("n", "ew"))),
    "letters in a list": ("embedding-3", ["d", "b"]),
    "a shifted softmax, in a list": ("embedding-4", shifted),
    "scatter": ("embedding-5", lambda i, d, V: np.eye(V)[i].T @ d),
    "a float": ("embedding-6", 37_888_000.0),
}


@pytest.mark.parametrize("what", ALSO_RIGHT)
def test_other_right_answers_are_accepted(what):
    assert check(*ALSO_RIGHT[what]).state == "right"


@pytest.mark.parametrize("name", RIGHT)
def test_unanswered_says_so(name):
    assert check(name, ...).state == "open"
