"""Check the options of decoding, and the log-probabilities that a step returns."""

import math
from typing import Any

from qkv.shapes.choices import LENGTH_FORMULAS
from qkv.shapes.option_checks import (
    check_at_most,
    check_below,
    check_choice,
    check_count,
    check_range,
)


def check_search(call: str, eos_id: int | None, max_new_tokens: int, pad_id: int | None) -> None:
    """Refuse ids and lengths that are no counts."""
    check_count(call, max_new_tokens=max_new_tokens)
    for name, token in (("eos_id", eos_id), ("pad_id", pad_id)):
        if token is not None:
            check_count(call, 0, **{name: token})


def check_length_penalty(call: str, length_penalty: float, length_formula: str) -> None:
    """Refuse an unknown formula of length normalization, and an exponent that is too large."""
    check_choice(call, "length_formula", length_formula, LENGTH_FORMULAS)
    # Beyond, no float holds the power of a length.
    check_range(call, "a number from -20 to 20", length_penalty=length_penalty)


def check_beam_size(call: str, beam_size: int, n_best: int, early_stopping: object) -> None:
    """Refuse no beam_size, more results than beam_size, and an unknown rule to stop by."""
    check_count(call, beam_size=beam_size, n_best=n_best)
    check_at_most(call, "n_best", n_best, "beam_size", beam_size)
    if not isinstance(early_stopping, bool) and early_stopping != "never":
        message = f"{call}: early_stopping must be True, False or 'never', got {early_stopping!r}"
        raise ValueError(message)


def check_vocabulary(call: str, V: int, eos_id: int | None) -> None:
    """Refuse scores of a step for a single token, and for a vocabulary without the end token."""
    if V < 2:
        raise ValueError(f"{call}: V must be at least 2, got {V}: step scores each token")
    if eos_id is not None:
        check_below(call, "eos_id", eos_id, "V", V, "the step must know the token that ends")


def log_probability_limit(scores: Any) -> float:
    """How high a log-probability may be: 0, and what rounding may add.

    x − logsumexp(x) is off by up to half a unit in the last place of its largest number. For a
    score of 100 that is 4e-6 in float32 and 0.25 in bfloat16, and a step may return more digits
    than it computed with. Raw scores of a model, as a rule, have peaks far above.
    """
    return 0.25 if scores.dtype.itemsize < 4 else 0.01


def check_log_probabilities(
    call: str, row: int, peak: float, limit: float, *, dead_end: bool
) -> None:
    """Refuse a row of log-probabilities by its highest.

    It is NaN, or above the limit, as those of raw scores are, or −∞ where a token is needed.
    """
    if -math.inf < peak <= limit or (peak == -math.inf and not dead_end):
        return
    if peak == -math.inf:
        raise ValueError(f"{call}: step must leave row {row} a token to go on with, got only -inf")
    hint = "check the model's output"
    if limit < peak < math.inf:
        hint = "none is above 0, so return log_softmax of the model's scores"
    message = f"{call}: step must return log-probabilities, got {peak:.6g} in row {row}"
    raise ValueError(f"{message}: {hint}")
