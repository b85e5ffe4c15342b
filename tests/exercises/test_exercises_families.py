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


def where_padding_is_read(ids, prefix, pad_id):
    return np.where(ids == pad_id, -100, labels(skip_padding=False)(ids, prefix, pad_id))


def rolled(ids, prefix, pad_id):
    out = np.roll(ids, -1, axis=1)
    out[:, : prefix - 1] = -100
    return np.where(out == pad_id, -100, out)


def into_own(ids, prefix, pad_id):
    right = batch()(ids.copy(), prefix, pad_id)
    ids[:] = right[1]
    return right[0], ids


def every_mask(ids, gaps, mask_id):
    reads = np.where(gaps, mask_id, ids)
    return reads, np.where(reads == mask_id, ids, -100)


def prefix_mask(T, prefix):
    return np.tri(T, dtype=bool) | (np.arange(T) < prefix)


def batch(answers=labels(), mask=prefix_mask):  # noqa: B008
    return lambda ids, prefix, pad_id: (
        mask(ids.shape[1], prefix),
        answers(ids, prefix, pad_id),
    )


def masked(ids, gaps, mask_id):
    return np.where(gaps, mask_id, ids), np.where(gaps, ids, -100)


def mask_as_answer(ids, gaps, mask_id):
    reads = ids
    reads[gaps] = mask_id
    return reads, np.where(gaps, ids, -100)


def all_rows(ids, gaps, mask_id):
    return np.where(gaps, mask_id, ids), ids.copy()


def into_ids(ids, gaps, mask_id):
    answers = np.where(gaps, ids, -100)
    ids[gaps] = mask_id
    return ids, answers


def by_copy(ids, gaps, mask_id):
    reads = ids.copy()
    reads[gaps] = mask_id
    return reads, np.where(gaps, ids, -100)


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
        "families-4": batch(),
        "families-5": masked,
        "families-6": "ACF",
        "families-7": middle_last,
        "families-8": 9,
    }
    also_right: ClassVar = {
        "two decimals": ("families-1", 1.04),
        "a fraction of log 2": ("families-1", np.float32(1.0397)),
        "ranges": ("families-2", (range(7), [5, 6])),
        "arrays": ("families-2", [np.arange(7), np.array([5, 6])]),
        "with and": ("families-3", "B and D"),
        "a list of letters": ("families-6", ["a", "c", "f"]),
        "answers of 32 bits": ("families-4", batch(lambda *a: labels()(*a).astype(np.int32))),
        "a mask of 0 and 1": ("families-4", batch(mask=lambda *a: prefix_mask(*a).astype(int))),
        "a mask with axes": ("families-4", batch(mask=lambda *a: prefix_mask(*a)[None, None])),
        "a list of two": ("families-4", lambda *a: list(batch()(*a))),
        "a copy": ("families-5", by_copy),
        "letters in another order": ("families-3", "DB"),
        "a tuple of words": ("families-7", lambda *a: tuple(middle_last(*a))),
        "a float": ("families-8", 9.0),
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
            "base 10": -np.log10(P[6:]).mean(),
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
        "families-3": {
            "B alone": "B",
            "D alone": "D",
            "C": "BCD",
            "E": "BDE",
            "every replaced word": "BE",
            "every score": "AD",
            "every number": "ADF",
            "scores and training": "ACDF",
        },
        "families-4": {
            "not shifted": batch(copied),
            "starts too late": batch(labels(first=1)),
            "starts too early": batch(labels(first=-1)),
            "the prefix too": batch(everything),
            "padding too": batch(labels(skip_padding=False)),
            "padding that is read": batch(where_padding_is_read),
            "padding as the mark": batch(labels(ignored=None)),
            "a row is missing": batch(too_short),
            "two to the right": batch(labels(shift=2)),
            "floats": batch(lambda *a: labels()(*a).astype(float)),
            "padding is 0": batch(lambda ids, prefix, _: labels()(ids, prefix, 0)),
            "rolled": batch(rolled),
            "writes into ids": into_own,
            "answers alone": labels(),
            "eight tokens": batch(mask=lambda T, prefix: prefix_mask(8, prefix)),
            "causal": batch(mask=lambda T, prefix: np.tri(T, dtype=bool)),
            "full": batch(mask=lambda T, prefix: np.ones((T, T), dtype=bool)),
            "blocked": batch(mask=lambda *a: ~prefix_mask(*a)),
            "scores": batch(mask=lambda *a: np.where(prefix_mask(*a), 0, -np.inf)),
            "rows for columns": batch(mask=lambda *a: prefix_mask(*a).T),
            "one given more": batch(mask=lambda T, prefix: prefix_mask(T, prefix + 1)),
            "one given less": batch(mask=lambda T, prefix: prefix_mask(T, prefix - 1)),
            "given words alone": batch(
                mask=lambda T, n: np.tri(T, dtype=bool) & (np.arange(T) < n)
            ),
            "something else": batch(mask=lambda T, n: np.eye(T, dtype=bool)),
        },
        "families-5": {
            "as it was": mask_as_answer,
            "all rows": all_rows,
            "writes into ids": into_ids,
            "floats": lambda *a: (masked(*a)[0], masked(*a)[1].astype(float)),
            "every [MASK]": every_mask,
            "nothing masked": lambda ids, gaps, *_: (ids, np.where(gaps, ids, -100)),
            "0 as the mark": lambda ids, gaps, m: (
                np.where(gaps, m, ids),
                np.where(gaps, ids, 0),
            ),
            "exchanged": lambda *a: masked(*a)[::-1],
            "one array": lambda *a: masked(*a)[0],
        },
        "families-6": {
            "without LoRA": "AC",
            "eight bits": "ACDF",
            "blocks alone": "A",
            "positions": "ABCF",
            "shared keys": "ACEF",
            "the norm": "ACFG",
        },
        "families-7": {
            "middle in place": middle_in_place,
            "no end": lambda *a: middle_last(*a)[:-1],
            "too long": too_long,
            "stop included": lambda w, i, j: middle_last(w, i, j + 1),
            "no marks": lambda w, i, j: [*w[:i], *w[j:], *w[i:j], "<eos>"],
            "as it was": lambda w, i, j: w,
            "by words": by_words,
            "no empty gap": lambda *a: middle_last(*a) if a[1] < a[2] else a[0],
        },
        "families-8": {
            "accepted alone": 6,
            "no token behind the last": 8,
            "all guesses": 12,
            "all and one": 15,
            "one a run": 3,
            "something else": 7,
        },
    }
