"""The sentences that a search has finished, and how it compares lengths."""

import numpy as np

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.decoding.steps import Ints, best_of
from qkv.shapes import check_count, check_penalty

__all__ = ["Finished", "length_divisor"]


def length_divisor(length: int, length_penalty: str = "power", alpha: float = 1.0) -> float:
    """What a sum of log-probabilities is divided by, so that short and long compare.

    "power" is length^α; "gnmt" is ((5 + length) / 6)^α. With α = 0 sums compare as they are; the
    larger α, the better for long ones.

    Args:
        length: tokens after the prefix, the end among them.
        length_penalty: "power" or "gnmt".
        alpha: α, any finite number.
    Raises:
        ValueError: the length is no count, the kind unknown, or α no number.
    Source: Wu et al. 2016, eq. 14, for "gnmt".
    """
    check_count("length_divisor", length=length)
    check_penalty("length_divisor", length_penalty, alpha)
    return float((length if length_penalty == "power" else (5 + length) / 6) ** float(alpha))


class Finished:
    """The best sentences of each of B, kept in falling order as a search finds them.

    Args:
        prefixes: (B, t) that all begin with.
        size: how many to keep of each.
        max_new_tokens: tokens that may follow a prefix.
        pad_id: fills what is short.
        scores: any of the search, for the dtype.
    """

    def __init__(
        self, prefixes: Ints, size: int, max_new_tokens: int, pad_id: int, scores: Floats
    ) -> None:
        B, self.start = prefixes.shape
        self.size, self.pad_id = size, pad_id
        self.tokens = np.full((B, size, self.start + max_new_tokens), pad_id, prefixes.dtype)
        self.scores = np.full((B, size), -np.inf, scores.dtype)  # −∞ where there is none yet
        self.ends = np.zeros((B, size), np.intp)  # tokens of each, its prefix among them

    def add(self, rows: Ints, tokens: Ints, scores: Floats) -> None:
        """Let new ones, (A, C, t) with scores (A, C), compete in A rows; −∞ never enters."""
        A, C, t = tokens.shape
        wide = np.full((A, C, self.tokens.shape[2]), self.pad_id, tokens.dtype)
        wide[:, :, :t] = tokens
        both = np.concatenate([self.scores[rows], scores], 1)  # (A, size + C): of equals the older
        self.scores[rows], at = best_of(both, self.size)  # (A, size)
        both_tokens = np.concatenate([self.tokens[rows], wide], 1)
        self.tokens[rows] = np.take_along_axis(both_tokens, at[:, :, None], 1)
        both_ends = np.concatenate([self.ends[rows], np.full((A, C), t)], 1)
        self.ends[rows] = np.take_along_axis(both_ends, at, 1)

    def best(self, count: int) -> tuple[Ints, Floats]:
        """(B, count, T) tokens and (B, count) scores, T the length of the longest."""
        T = max(int(self.ends[:, :count].max()), self.start)
        return self.tokens[:, :count, :T], self.scores[:, :count]
