"""The exercises of "From text to vectors": right answers pass; each mistake meets its own hint."""

import numpy as np

from tests.helpers.exercises import ExerciseAnswers


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def likeliest(x, table, vocabulary, k, share=softmax, sign=-1):
    logits = table @ x
    p = share(logits)
    return [(vocabulary[i], p[i]) for i in np.argsort(sign * logits)[:k]]


def with_share(share):
    return lambda *given: likeliest(*given, share=share)


def overflows(z):
    return np.exp(z) / np.exp(z).sum()


def among_k(x, table, vocabulary, k):
    words, logits = zip(*likeliest(x, table, vocabulary, k, share=lambda z: z), strict=True)
    return list(zip(words, softmax(np.array(logits)), strict=True))


def gradient(ids, dout, vocab_size, dtype=float):
    dtable = np.zeros((vocab_size, dout.shape[-1]), dtype)
    for i, row in zip(ids.ravel(), dout.reshape(-1, dout.shape[-1]), strict=True):
        dtable[i] = dtable[i] + row
    return dtable


def assigned(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    dtable[ids] += dout
    return dtable


def first_only(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    dtable[ids.ravel()[::-1]] = dout.reshape(-1, dout.shape[-1])[::-1]
    return dtable


LOGITS = np.array([1, -1, 1, 5, -4])
RIGHT = {
    "embedding-1": LOGITS,
    "embedding-2": [("e", "w"), ("n", "ew")],
    "embedding-3": "CE",
    "embedding-4": likeliest,
    "embedding-5": "BD",
    "embedding-6": gradient,
}
WRONG = {
    "embedding-1": {
        "turned": -LOGITS,
        "large alone": [0, 0, -2, 6, -4],
        "famous alone": [1, -1, 3, -1, 0],
        "plus one": [1, -1, 5, -7, 4],
        "softmax": np.exp(LOGITS) / np.exp(LOGITS).sum(),
        "exponentials": np.exp(LOGITS),
        "one sign": [1, -1, -1, 5, -4],
        "one other": [1, -1, 2, 5, -4],
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
        "more training": "ACE",
        "longer rows": "BCE",
        "another order": "CDE",
        "no C": "E",
        "no E": "c",
        "numbers": 35,
    },
    "embedding-4": {
        "least likely": lambda *given: likeliest(*given, sign=1),
        "most likely last": lambda *given: likeliest(*given)[::-1],
        "first": lambda x, table, vocabulary, k: [(word, 0.5) for word in vocabulary[:k]],
        "logit": with_share(lambda z: z),
        "exponential": with_share(np.exp),
        "no exponential": with_share(lambda z: z / z.sum()),
        "softmax of the k": among_k,
        "overflow": with_share(overflows),
        "one": with_share(np.ones_like),
        "the id": lambda x, table, vocabulary, k: [(i, 0.5) for i in range(k)],
        "the words alone": lambda *given: [word for word, _ in likeliest(*given)],
        "all words": lambda x, table, vocabulary, k: likeliest(x, table, vocabulary, 6),
        "one word": lambda *given: likeliest(*given)[0][0],
        "raises": lambda x, table, vocabulary, k: table @ x @ x,
    },
    "embedding-5": {
        "no unknown word": "ABD",
        "fewer tokens": "BCD",
        "no B": "D",
        "no D": "b",
        "numbers": 24,
    },
    "embedding-6": {
        "assignment": assigned,
        "the first": first_only,
        "mean": lambda i, d, V: (
            gradient(i, d, V) / np.maximum(np.bincount(i.ravel(), minlength=V), 1)[:, None]
        ),
        "nothing": lambda i, d, V: np.zeros((V, d.shape[-1])),
        "whole numbers": lambda i, d, V: gradient(i, d, V, int),
        "the positions": lambda i, d, V: d,
        "other": lambda i, d, V: gradient(i, d, V) + 1,
    },
}


ALSO_RIGHT = {
    "written with a plus": ("embedding-2", ["e + w", "n + ew"]),
    "tuples": ("embedding-2", (("e", "w"), ("n", "ew"))),
    "words in a dictionary": ("embedding-4", lambda *given: dict(likeliest(*given))),
    "words in a zip": ("embedding-4", lambda *given: zip(*zip(*likeliest(*given)))),  # noqa: B905
    "words in lists": ("embedding-4", lambda *given: [[*pair] for pair in likeliest(*given)]),
    "a product": (
        "embedding-6",
        lambda i, d, V: np.eye(V)[i.ravel()].T @ d.reshape(-1, d.shape[-1]),
    ),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong = RIGHT, ALSO_RIGHT, WRONG
