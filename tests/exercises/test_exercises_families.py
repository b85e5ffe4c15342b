"""The exercises of "BERT, GPT, T5": right answers pass; each typical mistake meets its own hint."""

from typing import ClassVar

import numpy as np

from tests.helpers.exercises import ExerciseAnswers

P = np.array([0.9, 0.1, 0.2, 0.1, 0.3, 0.5, 0.5, 0.25, 0.125, 1.0])


def labels(first=0, skip_padding=True, ignored=-100, shift=1):
    """Answers of a prefix model; `first` moves the first row that is asked."""

    def answer(ids, prefix, pad_id):
        out = np.full_like(ids, -100)
        start = max(prefix - 1 + first, 0)
        out[:, start : ids.shape[1] - shift] = ids[:, start + shift :]
        if skip_padding:
            out[out == pad_id] = -100
        return np.where(out == -100, pad_id if ignored is None else ignored, out)

    return answer


def copied(ids, prefix, pad_id):
    return np.where((np.arange(ids.shape[1]) < prefix) | (ids == pad_id), -100, ids)


def everything(ids, prefix, pad_id):
    return labels()(ids, 1, pad_id)


def too_short(ids, prefix, pad_id):
    return labels()(ids, prefix, pad_id)[:, :-1]


def middle_last(words, start, stop):
    return ["<pre>", *words[:start], "<suf>", *words[stop:], "<mid>", *words[start:stop], "<eos>"]


def middle_in_place(words, start, stop):
    return ["<pre>", *words[:start], "<mid>", *words[start:stop], "<suf>", *words[stop:], "<eos>"]


def too_long(words, start, stop):
    middle = words[start : stop + 1]
    return ["<pre>", *words[:start], "<suf>", *words[stop:], "<mid>", *middle, "<eos>"]


def by_words(words, start, stop):
    before, middle = words[:start], words[start:stop]
    after = [word for word in words if word not in before + middle]
    return ["<pre>", *before, "<suf>", *after, "<mid>", *middle, "<eos>"]


class TestAnswers(ExerciseAnswers):
    right: ClassVar = {
        "families-1": 1.5 * np.log(2),
        "families-2": ([0, 1, 2, 3, 4, 5, 6], [5, 6]),
        "families-3": "BD",
        "families-4": labels(),
        "families-5": middle_last,
        "families-6": 4,
    }
    also_right: ClassVar = {
        "two decimals": ("families-1", 1.04),
        "labels of 32 bits": ("families-4", lambda *a: labels()(*a).astype(np.int32)),
        "a tuple of words": ("families-5", lambda *a: tuple(middle_last(*a))),
    }
    wrong: ClassVar = {
        "families-1": {
            "all rows": -np.log(P).mean(),
            "without the first": -np.log(P[7:]).mean(),
            "one row too many": -np.log(P[5:]).mean(),
            "without the end": -np.log(P[6:9]).mean(),
            "the sum": -np.log(P[6:]).sum(),
            "bits": 1.5,
            "log of the mean": -np.log(P[6:].mean()),
            "negative": np.log(P[6:]).mean(),
            "something else": 2,
        },
        "families-2": {
            "causal": ([2, 3, 4, 5, 6], [5, 6]),
            "the prefix alone": ([0, 1, 2, 3], [5, 6]),
            "some": ([2], [5, 6]),
            "as BERT": (list(range(7)), list(range(7))),
            "later rows alone": (list(range(7)), [6]),
            "all that is not given": (list(range(7)), [4, 5, 6]),
            "itself alone": (list(range(7)), [5]),
            "no lists": (1, 2),
        },
        "families-3": {"A": "AB", "C": "BCD", "E": "BDE", "D alone": "D", "B alone": "B"},
        "families-4": {
            "not shifted": copied,
            "starts too late": labels(first=1),
            "starts too early": labels(first=-1),
            "the prefix too": everything,
            "padding too": labels(skip_padding=False),
            "padding as the mark": labels(ignored=None),
            "a row is missing": too_short,
            "two to the right": labels(shift=2),
            "floats": lambda *a: labels()(*a).astype(float),
        },
        "families-5": {
            "middle in place": middle_in_place,
            "no end": lambda *a: middle_last(*a)[:-1],
            "too long": too_long,
            "no marks": lambda w, i, j: [*w[:i], *w[j:], *w[i:j], "<eos>"],
            "as it was": lambda w, i, j: w,
            "by words": by_words,
            "no empty gap": lambda *a: middle_last(*a) if a[1] < a[2] else a[0],
        },
        "families-6": {
            "one a token": 12,
            "two a run": 6,
            "the small model's": 48,
            "four a run": 3,
            "something else": 5,
        },
    }
