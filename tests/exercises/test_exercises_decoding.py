"""The exercises of "Decoding": right answers pass; each mistake meets its own hint."""

import math

import numpy as np

import qkv.numpy as qn
from qkv.exercises import check
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


def best_k_of_each(scores, log_probs, k, eos):
    totals = table(scores, log_probs)
    finished = step(scores, log_probs, k, eos)[0]
    places = [(i, int(j)) for i, row in enumerate(totals) for j in np.argsort(-row)[:k]]
    others = [(i, j, totals[i, j]) for i, j in places if j != eos]
    return finished, sorted(others, key=lambda entry: -entry[2])[:k]


def overwriting(scores, log_probs, k, eos):
    log_probs += scores[:, None]
    return split(log_probs, k, eos)


def as_handed_over(scores, log_probs, k, eos):
    finished, going_on = split(table(scores, log_probs), k, eos, limit=log_probs.size)
    return finished, going_on[: k - len(finished)]


def best_2k(scores, log_probs, k, eos):
    """Enough where N is at most k, since each hypothesis ends once."""
    totals = table(scores, log_probs)
    limit = np.sort(totals, axis=None)[-min(2 * k, totals.size)]
    finished, going_on = step(scores, log_probs, k, eos)
    return finished, [entry for entry in going_on if entry[2] >= limit]


def first_ones(p, top_p, more=0):
    order = np.argsort(-p)
    return order[: max(np.searchsorted(np.cumsum(p[order]), top_p - 1e-6) + 1 + more, 1)]


def write(
    next_logits, temperature, top_p, rng, soft=lambda x, t: qn.softmax(x / t), keep=first_ones
):
    tokens = [0]
    while tokens[-1] != 1:
        p = soft(next_logits(tokens).astype(float), temperature)
        kept = keep(p, top_p)
        tokens.append(int(rng.choice(kept, p=p[kept] / p[kept].sum())))
    return tokens


def writes(**change):
    return lambda *args: write(*args, **change)


def by_running_sums(next_logits, temperature, top_p, rng):
    """In the dtype of the logits, with the package's filter, and a draw of one's own."""
    tokens = np.array([0])
    while tokens[-1] != 1:
        logits = next_logits(tokens) / temperature
        p = qn.softmax(qn.top_p_filtering(logits, top_p))
        token = np.searchsorted(np.cumsum(p), rng.random() * p.sum(), side="right")
        tokens = np.append(tokens, min(token, len(p) - 1))
    return tokens


def in_float32(next_logits, temperature, top_p, rng):
    tokens = [0]
    while 1 not in tokens:
        p = qn.softmax((next_logits(tokens) / temperature).astype(np.float32))
        order = np.argsort(-p)
        kept = order[np.cumsum(p[order]) - p[order] < top_p - 1e-6]
        tokens += [rng.choice(kept, p=p[kept] / p[kept].sum())]
    return tuple(tokens)


def cut_first(next_logits, temperature, top_p, rng):
    tokens = [0]
    while tokens[-1] != 1:
        logits = next_logits(tokens).astype(float)
        kept = first_ones(qn.softmax(logits), top_p)
        tokens.append(int(rng.choice(kept, p=qn.softmax(logits[kept] / temperature))))
    return tokens


def equally(next_logits, temperature, top_p, rng):
    tokens = [0]
    while tokens[-1] != 1:
        p = qn.softmax(next_logits(tokens).astype(float) / temperature)
        tokens.append(int(rng.choice(first_ones(p, top_p))))
    return tokens


def without_rounding(p, top_p):
    """At top_p = 1 the sum may stay below it: then argmax is 0."""
    order = np.argsort(-p)
    return order[: np.argmax(np.cumsum(p[order]) >= top_p) + 1]


def at_a_limit(p, top_p):
    return np.flatnonzero(p >= p[first_ones(p, top_p)[-1]])


def up_to_and_equal(p, top_p):
    order = np.argsort(-p)
    return order[np.cumsum(p[order]) - p[order] <= top_p]


def without_tolerance(p, top_p):
    order = np.argsort(-p)
    return order[np.cumsum(p[order]) - p[order] < top_p]


def reads_the_last_alone(next_logits, temperature, top_p, rng):
    return write(lambda tokens: next_logits(tokens[-1:]), temperature, top_p, rng)


def never_ends(next_logits, temperature, top_p, rng):
    tokens = [0]
    while True:
        p = qn.softmax(next_logits(tokens))
        tokens.append(int(p.argmax()))


RIGHT = {
    "decoding-1": ["I eat", "we sleep", "they swim"],
    "decoding-2": ["ACE", "A"],
    "decoding-3": "BCEF",
    "decoding-4": step,
    "decoding-5": write,
    "decoding-6": [math.log(1.25) / math.log(5 / 3), 5],
}
ALSO_RIGHT = {
    "in lower case": ("decoding-1", ("i eat", "We  sleep", "they swim ")),
    "by a loop": ("decoding-4", by_a_loop),
    "with full stops": ("decoding-1", ["I eat.", "we sleep.", "they swim <eos>"]),
    "words of each": ("decoding-1", [["I", "eat"], ["we", "sleep"], ["they", "swim"]]),
    "an array of sentences": ("decoding-1", np.array(["I eat", "we sleep", "they swim"])),
    "an array of letters": ("decoding-2", np.array(["ACE", "A"])),
    "letters in words": ("decoding-3", "b, c, e and f"),
    "the package's filter": ("decoding-5", by_running_sums),
    "in float32": ("decoding-5", in_float32),
    "the last of equals": (
        "decoding-5",
        writes(keep=lambda p, top_p: len(p) - 1 - first_ones(p[::-1], top_p)),
    ),
    "without a tolerance": ("decoding-5", writes(keep=without_tolerance)),
    "rounded": ("decoding-6", (0.44, 5.0)),
    "an array": ("decoding-6", np.array([0.437, 5])),
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
        "one string": "ACE",
        "D": ["ACDE", "A"],
        "B": ["ABCE", "A"],
        "right ones only": ["A", "A"],
        "E missing": ["AC", "A"],
        "all searched ones": ["ACE", "ACE"],
        "E by a perfect search": ["ACE", "AE"],
        "B by a perfect search": ["ACE", "AB"],
    },
    "decoding-3": {
        "A": "ABCEF",
        "D": "BCDEF",
        "B missing": "CEF",
        "C missing": "BEF",
        "E missing": "BCF",
        "F missing": "BCE",
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
        "as handed over": as_handed_over,
        "all that end": lambda s, lp, k, eos: split(table(s, lp), k, eos, ends=lp.size),
        "none that end": lambda s, lp, k, eos: split(table(s, lp), k, eos, ends=0),
        "rising": least_likely,
        "one of each": best_of_each,
        "the best k of each, then without eos": best_k_of_each,
    },
    "decoding-5": {
        "no temperature": writes(soft=lambda x, t: qn.softmax(x)),
        "multiplied": writes(soft=lambda x, t: qn.softmax(x * t)),
        "cut first": cut_first,
        "one too many": writes(keep=lambda p, top_p: first_ones(p, top_p, 1)),
        "one too few": writes(keep=lambda p, top_p: first_ones(p, top_p, -1)),
        "all": writes(keep=lambda p, top_p: np.arange(len(p))),
        "equally": equally,
        "all that are equal": writes(keep=at_a_limit),
        "no rounding": writes(keep=without_rounding),
        "greedy": writes(keep=lambda p, top_p: [p.argmax()]),
        "another distribution": writes(soft=lambda x, t: qn.softmax(x / (1 + t))),
        "without sos": lambda *args: write(*args)[1:],
        "without eos": lambda *args: write(*args)[:-1],
        "text": lambda *args: "0 1",
    },
    "decoding-6": {
        "one number": 0.44,
        "ratio": [1.25, 5],
        "reciprocal": [math.log(5 / 3) / math.log(1.25), 5],
        "sign": [-math.log(1.25) / math.log(5 / 3), 5],
        "without eos": [math.log(1.25) / math.log(2), 5],
        "other": [0.6, 5],
        "the short one": [0.44, 3],
        "the other order": [5, 0.44],
    },
}


ALSO_WRONG = {
    "not replaced": ("decoding-4", not_replaced),
    "the best 2k of N > k": ("decoding-4", best_2k),
    "one more at the sum": ("decoding-5", writes(keep=up_to_and_equal)),
    "the last token alone": ("decoding-5", reads_the_last_alone),
    "no end": ("decoding-5", never_ends),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


def test_a_right_loop_is_accepted_whatever_its_luck():
    for seed in range(5):
        other = np.random.default_rng(seed)
        assert check("decoding-5", lambda n, t, p, rng, other=other: write(n, t, p, other))


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
    """Exercise 3, with the package's own search: A and D happen; B and E do not."""
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
        happened |= {"D"} if found < exact - 1e-9 else set()
        options["max_new_tokens"] = 2
        wide = qn.beam_search(model, start, beam_size=4, **options)[1]
        np.testing.assert_allclose(wide, qn.exhaustive_search(model, start, **options)[1])
    assert happened == {"A", "D"}


def test_a_wider_beam_may_find_a_less_likely_sentence():
    """Two good continuations of the third word push the winner out of the beam."""
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
