"""What decoding refuses: prefixes, steps, beams, penalties and filters."""

import math

from qkv.shapes.core import FLOATS, Array, check_floats, check_shape, kind, listed, shown
from qkv.shapes.layers import check_choice, check_count
from qkv.shapes.scalars import number

PENALTIES = ("power", "gnmt")


def check_prefixes(
    call: str, prefixes: Array, eos_id: int | None, max_new_tokens: int, pad_id: int | None
) -> None:
    """Refuse an empty batch, prefixes without a token, ids and lengths that are no counts."""
    if not hasattr(prefixes, "shape") or not kind(prefixes).startswith(("int", "uint")):
        mend = "pass token ids"
        raise ValueError(f"{call}: prefixes must be an integer array, got {kind(prefixes)}: {mend}")
    if len(prefixes.shape) != 2 or 0 in prefixes.shape:
        mend = "a batch of at least one sentence, each with its start token"
        raise ValueError(f"{call}: prefixes must be (B, t), got {listed(prefixes.shape)}: {mend}")
    check_count(call, max_new_tokens=max_new_tokens)
    for name, token in (("eos_id", eos_id), ("pad_id", pad_id)):
        if token is not None:
            check_count(call, 0, **{name: token})


def check_penalty(call: str, length_penalty: str, alpha: float) -> None:
    """Refuse an unknown kind of penalty, and an exponent that is no number."""
    check_choice(call, "length_penalty", length_penalty, PENALTIES)
    exponent = number(alpha)
    if exponent is None or not math.isfinite(exponent):
        mend = "0 takes sums as they are, 1 takes means"
        raise ValueError(f"{call}: alpha must be a finite number, got {shown(alpha)}: {mend}")


def check_beams(call: str, beams: int, n_best: int, early_stopping: object) -> None:
    """Refuse no beams, more results than beams, and an unknown rule to stop by."""
    check_count(call, beams=beams, n_best=n_best)
    if n_best > beams:
        raise ValueError(f"{call}: n_best must be at most beams = {beams}, got {n_best}")
    if not isinstance(early_stopping, bool) and early_stopping != "never":
        raise ValueError(
            f"{call}: early_stopping must be True, False or 'never', got {early_stopping!r}"
        )


def check_step(call: str, scores: Array, N: int, eos_id: int | None) -> None:
    """Refuse what a step returned, unless it is (N, V) floats that have a place for the end."""
    came = kind(scores)
    if not hasattr(scores, "shape") or came not in FLOATS:
        mend = "log-probabilities of the next token"
        raise ValueError(f"{call}: step must return a float array, got {came}: {mend}")
    if len(scores.shape) != 2 or scores.shape[0] != N or scores.shape[1] < 2:
        mend = "one row for each prefix, for its next token alone"
        raise ValueError(
            f"{call}: step must return (N, V) = ({N}, V), got {listed(scores.shape)}: {mend}"
        )
    V = scores.shape[1]
    if eos_id is not None and eos_id >= V:
        mend = "the step must know the token that ends"
        raise ValueError(f"{call}: eos_id must be below V = {V}, got {eos_id}: {mend}")


def log_probability_limit(scores: Array) -> float:
    """How high a log-probability may be: 0, and what rounding may add.

    x − logsumexp(x) is off by up to half a unit in the last place of its largest number. For a
    score of 100 that is 4e-6 in float32 and 0.25 in bfloat16, and a step may return more digits
    than it computed with. Raw scores of a model, as a rule, have peaks far above.
    """
    return 0.25 if kind(scores) in ("float16", "bfloat16") else 0.01


def check_peak(call: str, row: int, peak: float, limit: float, *, dead_end: bool) -> None:
    """Refuse a row of log-probabilities by its highest.

    It is NaN, or above the limit, as those of raw scores are, or −∞ where a token is needed.
    """
    if -math.inf < peak <= limit or (peak == -math.inf and not dead_end):
        return
    if peak == -math.inf:
        raise ValueError(f"{call}: step must leave row {row} a token to go on with, got only -inf")
    mend = "check the model's output"
    if limit < peak < math.inf:
        mend = "none is above 0, so return log_softmax of the model's scores"
    raise ValueError(
        f"{call}: step must return log-probabilities, got {peak:.6g} in row {row}: {mend}"
    )


def check_next(call: str, scores: Array) -> None:
    """Refuse what holds no score for a next token."""
    check_floats(call, scores=scores)
    if not scores.shape or not scores.shape[-1]:
        mend = "one score for each token"
        raise ValueError(f"{call}: scores must be (..., V), got {listed(scores.shape)}: {mend}")


def check_top_k(call: str, top_k: int) -> None:
    """Refuse a number of tokens that is no count."""
    check_count(call, top_k=top_k)


def check_top_p(call: str, top_p: float) -> None:
    """Refuse a mass outside (0, 1]."""
    mass = number(top_p)
    if mass is None or not 0 < mass <= 1:
        mend = "1 keeps all"
        raise ValueError(f"{call}: top_p must be a number in (0, 1], got {shown(top_p)}: {mend}")


def check_temperature(call: str, temperature: float) -> None:
    """Refuse a temperature that is not above 0."""
    found = number(temperature)
    if found is None or not 0 < found < math.inf:
        mend = "greedy is what it tends to near 0"
        raise ValueError(
            f"{call}: temperature must be a finite number above 0, got {shown(temperature)}: {mend}"
        )


def check_draws(call: str, draws: Array, B: int, max_new_tokens: int) -> None:
    """Refuse what is not one number for each sentence and step."""
    check_floats(call, draws=draws)
    mend = "a row for each sentence, a number for each token it may get"
    check_shape(call, "draws", draws, ("B", "max_new_tokens"), (B, max_new_tokens), mend)
