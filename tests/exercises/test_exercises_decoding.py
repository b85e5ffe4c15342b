"""The exercises of "Decoding": right answers pass; each mistake meets its own hint."""

import math

import numpy as np

import qkv.numpy as qn
from tests.helpers.exercises import ExerciseAnswers


def table(scores, log_probs):
    return scores[:, None] + log_probs


def split(totals, k, eos, ends=None, limit=None):
    """Finished and going on; `ends` of the best continuations may finish, `limit` may go on."""
    finished, going_on = [], []
    for rank, place in enumerate(np.argsort(-totals, axis=None)):
        row, token = divmod(int(place), totals.shape[1])
        if token != eos:
            going_on.append((row, token, totals[row, token]))
        elif rank < (k if ends is None else ends):
            finished.append((row, token, totals[row, token]))
    return finished, going_on[: k if limit is None else limit]


def step(scores, log_probs, k, eos):
    return split(table(scores, log_probs), k, eos)


def changed(change):
    """The right step with each of its triples changed."""

    def wrong(scores, log_probs, k, eos):
        parts = step(scores, log_probs, k, eos)
        shape = scores.shape[0], log_probs.shape[1]
        return [[change(entry, *shape) for entry in part] for part in parts]

    return wrong


def by_a_loop(scores, log_probs, k, eos):
    longer = [[i, j, scores[i] + log_probs[i, j]] for i, j in np.ndindex(*log_probs.shape)]
    longer.sort(key=lambda entry: -entry[2])
    return [e for e in longer[:k] if e[1] == eos], [e for e in longer if e[1] != eos][:k]


def eos_goes_on(scores, log_probs, k, eos):
    return [], split(table(scores, log_probs), k, -1)[1]


def not_replaced(scores, log_probs, k, eos):
    finished, going_on = step(scores, log_probs, k, eos)
    return finished, going_on[: k - len(finished)]


def least_likely(scores, log_probs, k, eos):
    parts = split(-table(scores, log_probs), k, eos)
    return [[(row, token, -total) for row, token, total in part] for part in parts]


def best_of_each(scores, log_probs, k, eos):
    finished, going_on = split(table(scores, log_probs), k, eos, limit=log_probs.size)
    first = {row: (row, token, total) for row, token, total in reversed(going_on)}
    return finished, sorted(first.values(), key=lambda entry: -entry[2]) * k


def overwriting(scores, log_probs, k, eos):
    log_probs += scores[:, None]
    return split(log_probs, k, eos)


def nucleus(p, top_p, late=0, normalise=True, back=True):
    order = np.argsort(-p)
    mass = np.cumsum(p[order])
    keep = order[: np.searchsorted(mass, top_p - 1e-9) + 1 + late]
    out = np.zeros_like(p)
    out[keep] = p[keep]
    out = out / out.sum() if normalise and out.sum() else out
    return out if back else np.sort(out)[::-1]


def above_a_limit(p, top_p):
    limit = np.sort(p)[::-1][np.searchsorted(np.cumsum(np.sort(p)[::-1]), top_p - 1e-9)]
    return np.where(p >= limit, p, 0) / p[p >= limit].sum()


def overwriting_nucleus(p, top_p):
    p[:] = nucleus(p, top_p)
    return p


def other_equals(p, top_p):
    """Of equal words, the last ones stay."""
    return nucleus(p[::-1], top_p)[::-1]


RIGHT = {
    "decoding-1": ["I eat", "we sleep", "they swim"],
    "decoding-2": ["ACEF", "AF"],
    "decoding-3": "BDF",
    "decoding-4": step,
    "decoding-5": nucleus,
    "decoding-6": math.log(1.25) / math.log(5 / 3),
}
ALSO_RIGHT = {
    "in lower case": ("decoding-1", ("i eat", "We  sleep", "they swim ")),
    "by a loop": ("decoding-4", by_a_loop),
    "the package's": (
        "decoding-5",
        lambda p, top_p: qn.softmax(qn.top_p_filtering(np.log(p), top_p)),
    ),
    "the last of equals": ("decoding-5", other_equals),
    "rounded": ("decoding-6", 0.44),
}
WRONG = {
    "decoding-1": {
        "two": ["I eat", "we sleep"],
        "not greedy": ["I sleep", "we sleep", "they swim"],
        "greedy again": ["I eat", "I eat", "they swim"],
        "the beam sees all": ["I eat", "they swim", "they swim"],
        "another of the beam": ["I eat", "I sleep", "they swim"],
        "beam = likeliest": ["I eat", "we sleep", "we sleep"],
        "other": ["I eat", "we sleep", "they eat"],
    },
    "decoding-2": {
        "one string": "ACEF",
        "D": ["ACDEF", "AF"],
        "B": ["ABCEF", "AF"],
        "right ones only": ["AF", "AF"],
        "E missing": ["ACF", "AF"],
        "E by a perfect search": ["ACEF", "AEF"],
        "B by a perfect search": ["ACEF", "ABF"],
    },
    "decoding-3": {
        "A": "ABDF",
        "C": "BCDF",
        "E": "BDEF",
        "B missing": "DF",
        "D missing": "BF",
        "F missing": "BD",
    },
    "decoding-4": {
        "one array": lambda scores, log_probs, k, eos: log_probs,
        "no triples": lambda scores, log_probs, k, eos: ([], [0, 1]),
        "floats": changed(lambda e, N, V: (float(e[0]), e[1], e[2])),
        "overwriting": overwriting,
        "no sums": lambda s, lp, k, eos: split(lp, k, eos),
        "multiplied": lambda s, lp, k, eos: split(s[:, None] * lp, k, eos),
        "worst first": lambda *args: tuple(part[::-1] for part in step(*args)),
        "exchanged": changed(lambda e, N, V: (e[1], e[0], e[2])),
        "divided by N": changed(lambda e, N, V: (*divmod(e[0] * V + e[1], N), e[2])),
        "eos goes on": eos_goes_on,
        "not replaced": not_replaced,
        "all that end": lambda s, lp, k, eos: split(table(s, lp), k, eos, ends=lp.size),
        "none that end": lambda s, lp, k, eos: split(table(s, lp), k, eos, ends=0),
        "rising": least_likely,
        "one of each": best_of_each,
    },
    "decoding-5": {
        "not normalised": lambda p, top_p: nucleus(p, top_p, normalise=False),
        "one too few": lambda p, top_p: nucleus(p, top_p, late=-(len(p) > 3 and top_p > 0.5)),
        "one too many": lambda p, top_p: nucleus(p, top_p, late=1),
        "sorted": lambda p, top_p: nucleus(p, top_p, back=False),
        "none": lambda p, top_p: p * 0,
        "shape": lambda p, top_p: p[p > 0.2],
        "all that are equal": above_a_limit,
        "overwriting": overwriting_nucleus,
    },
    "decoding-6": {
        "ratio": 1.25,
        "reciprocal": math.log(5 / 3) / math.log(1.25),
        "sign": -math.log(1.25) / math.log(5 / 3),
        "without eos": math.log(1.25) / math.log(2),
        "other": 0.6,
    },
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong = RIGHT, ALSO_RIGHT, WRONG


def random_model(V, rng, words):
    """A step function whose log-probabilities depend on the whole prefix; its last id ends."""
    tables = {}

    def log_probs(prefixes):
        rows = [
            tables.setdefault(tuple(row), rng.normal(size=V) * 2 - 2 * (np.arange(V) == V - 1))
            for row in prefixes.tolist()
        ]
        return qn.log_softmax(np.array(rows))

    return log_probs, {"eos_id": V - 1, "max_new_tokens": words, "length_penalty": 0.0}


def test_what_proves_a_bug_and_what_does_not():
    """Exercise 3, with the package's own search: A and E happen; B and F do not."""
    happened = set()
    start = np.array([[0]])
    for seed in range(60):
        model, options = random_model(4, np.random.default_rng(seed), 9)
        greedy = qn.greedy(model, start, eos_id=3, max_new_tokens=9)
        one, two = (qn.beam_search(model, start, beam_size=k, **options) for k in (1, 2))
        np.testing.assert_array_equal(one[0][0], greedy[0])
        happened |= {"A"} if two[1][0, 0] < greedy[1][0] - 1e-9 else set()
    for seed in range(20):
        model, options = random_model(4, np.random.default_rng(seed), 5)
        exact = qn.exhaustive_search(model, start, **options)[1]
        found = qn.beam_search(model, start, beam_size=2, **options)[1]
        happened |= {"E"} if found < exact - 1e-9 else set()
        options["max_new_tokens"] = 2
        wide = qn.beam_search(model, start, beam_size=4, **options)[1]
        np.testing.assert_allclose(wide, qn.exhaustive_search(model, start, **options)[1])
    assert happened == {"A", "E"}


def test_a_wider_beam_may_find_a_less_likely_sentence():
    """Exercise 3, C: two good continuations of the third word push the winner out of the beam."""
    end = [0] * 8 + [1]
    after = {
        (): [0.5, 0.3, 0.2, 0, 0, 0, 0, 0, 0],
        (0,): [0.18, 0.14, 0.14, 0.14, 0.14, 0.14, 0.12, 0, 0],
        (1,): [0.27, 0.2, 0.2, 0.2, 0.13, 0, 0, 0, 0],
        (2,): [0.5, 0.5, 0, 0, 0, 0, 0, 0, 0],
        (1, 0): end,
    }

    def model(prefixes):
        words = [tuple(row[1:]) for row in prefixes.tolist()]
        spread = [[1 / 8] * 8 + [0] if len(row) == 2 else end for row in words]
        with np.errstate(divide="ignore"):
            rows = zip(words, spread, strict=True)
            return np.log([after.get(row, other) for row, other in rows])

    options = {"eos_id": 8, "max_new_tokens": 5, "length_penalty": 0.0}
    two, three = (
        qn.beam_search(model, np.array([[0]]), beam_size=k, **options)[1][0, 0] for k in (2, 3)
    )
    assert np.isclose(np.exp(two), 0.3 * 0.27)
    assert np.isclose(np.exp(three), 0.2 * 0.5 / 8)
