"""The sentences that a search has finished, and how it compares lengths."""

import torch
from torch import Tensor

from qkv.shapes import check_count, check_penalty
from qkv.torch.decoding.steps import best_of

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
        self, prefixes: Tensor, size: int, max_new_tokens: int, pad_id: int, scores: Tensor
    ) -> None:
        B, self.start = prefixes.shape
        self.size, self.pad_id = size, pad_id
        self.tokens = prefixes.new_full((B, size, self.start + max_new_tokens), pad_id)
        self.scores = scores.new_full((B, size), -torch.inf)  # −∞ where there is none yet
        self.ends = prefixes.new_zeros((B, size), dtype=torch.long)  # tokens of each, with prefix

    def add(self, rows: Tensor, tokens: Tensor, scores: Tensor) -> None:
        """Let new ones, (A, C, t) with scores (A, C), compete in A rows; −∞ never enters."""
        A, C, t = tokens.shape
        wide = tokens.new_full((A, C, self.tokens.shape[2]), self.pad_id)
        wide[:, :, :t] = tokens
        both = torch.cat([self.scores[rows], scores], 1)  # (A, size + C): of equals the older
        self.scores[rows], at = best_of(both, self.size)  # (A, size)
        both_tokens = torch.cat([self.tokens[rows], wide], 1)
        self.tokens[rows] = both_tokens.take_along_dim(at[:, :, None], 1)
        both_ends = torch.cat([self.ends[rows], self.ends.new_full((A, C), t)], 1)
        self.ends[rows] = both_ends.gather(1, at)

    def best(self, count: int) -> tuple[Tensor, Tensor]:
        """(B, count, T) tokens and (B, count) scores, T the length of the longest."""
        T = max(int(self.ends[:, :count].max()), self.start)
        return self.tokens[:, :count, :T], self.scores[:, :count]
