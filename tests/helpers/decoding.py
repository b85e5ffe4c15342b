"""What the tests of decoding share: models of the next token as random tables over prefixes."""

import numpy as np

from tests.helpers.rooms import ROOMS

__all__ = ["ROOMS", "Cached", "lists", "table"]


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def table(seed=0, V=5, to=np.asarray, sharp=2.0, dtype=np.float64, forbidden=()):
    """A step: each prefix has its own distribution, drawn from a seed that its tokens make."""

    def row(prefix):
        rng = np.random.default_rng([seed, *prefix])
        scores = log_softmax(rng.standard_normal(V) * sharp)
        scores[list(forbidden)] = -np.inf
        return scores

    def step(prefixes):
        return to(np.array([row(prefix) for prefix in prefixes.tolist()]).astype(dtype))

    return step


class Cached:
    """The same step with a cache: of each call it reads the last token only, the rest it recalls.

    It fails if what it recalls is not what stands before that token.
    """

    def __init__(self, step, to=np.asarray):
        self.step, self.to = step, to
        self.recalled = None
        self.rows = []  # of each call

    def reorder(self, parents):
        self.recalled = [self.recalled[parent] for parent in parents.tolist()]

    def __call__(self, prefixes):
        rows = prefixes.tolist()
        if self.recalled is None:
            self.recalled = rows
        else:
            assert len(rows) == len(self.recalled)
            new = [[*old, row[-1]] for old, row in zip(self.recalled, rows, strict=True)]
            assert new == rows
            self.recalled = new
        self.rows.append(len(rows))
        return self.step(self.to(np.array(self.recalled)))


def lists(result):
    """Tokens as lists, scores as an array."""
    tokens, scores = result
    return tokens.tolist(), np.array(scores.tolist())
