"""Length normalization: how a search compares short sentences with long ones."""

from qkv.shapes import check_count
from qkv.shapes.decoding import check_length_penalty

__all__ = ["length_normalizer"]


def length_normalizer(
    length: int, length_penalty: float = 1.0, length_formula: str = "power"
) -> float:
    """Length normalization: what a sum of log-probabilities is divided by, so that lengths compare.

    "power" is length^α, and "gnmt" ((5 + length) / 6)^α, where α is the length penalty. With α = 0
    sums compare as they are; the larger α, the better for long sentences.

    Args:
        length: tokens after the prefix, the end among them.
        length_penalty: α, from −20 to 20.
        length_formula: "power" or "gnmt".
    Raises:
        ValueError: the length is no count, α out of its range, or the formula unknown.
    Source: Wu et al. 2016, eq. 14, for "gnmt".
    """
    check_count("length_normalizer", length=length)
    check_length_penalty("length_normalizer", length_penalty, length_formula)
    base = length if length_formula == "power" else (5 + length) / 6
    return float(base ** float(length_penalty))
