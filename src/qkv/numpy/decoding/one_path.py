"""One token after another, none taken back: the likeliest, or one that is drawn."""

from collections.abc import Callable

import numpy as np

from qkv.numpy.attention.softmax import Floats, softmax
from qkv.numpy.decoding.filters import keep_top_k, keep_top_p
from qkv.numpy.decoding.steps import Ints, Step, keeps_cache, next_scores
from qkv.shapes import check_draws, check_prefixes, check_temperature, check_top_k, check_top_p

__all__ = ["greedy", "sample"]


def greedy(
    step: Step,
    prefixes: Ints,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    pad_id: int | None = None,
) -> tuple[Ints, Floats]:
    """Take the likeliest token again and again; of equals, the lowest id.

    Args:
        step: from prefixes to log-probabilities, see `steps`; called with B rows.
        prefixes: (B, t) integers, what each sentence begins with.
        eos_id: the token that ends; None for none.
        max_new_tokens: the most tokens after the prefix.
        pad_id: fills what is short; None means eos_id, or 0.
    Returns:
        (B, T) tokens, prefix and end among them, and (B,) sums of their log-probabilities.
    Raises:
        ValueError: an argument is out of its range, the step returns what is not (N, V)
            log-probabilities, or all tokens are impossible.
    """
    check_prefixes("greedy", prefixes, eos_id, max_new_tokens, pad_id)
    return _follow(
        "greedy",
        step,
        prefixes,
        lambda scores, _: scores.argmax(-1),
        eos_id,
        max_new_tokens,
        pad_id,
    )


def sample(
    step: Step,
    prefixes: Ints,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    rng: np.random.Generator | None = None,
    draws: Floats | None = None,
    pad_id: int | None = None,
) -> tuple[Ints, Floats]:
    """Draw each token from softmax(log p / temperature), cut by top-k and then by top-p.

    One uniform number is drawn for each sentence at each step, ended or not, so that a seed gives
    the same tokens with a cache and without.

    Args:
        step, prefixes, eos_id, max_new_tokens, pad_id: as for `greedy`.
        temperature: above 0; below 1 sharpens, above 1 flattens.
        top_k, top_p: as `keep_top_k` and `keep_top_p` take them; None keeps all.
        rng: draws; None is a generator of its own.
        draws: (B, max_new_tokens) numbers in [0, 1) to take instead, a row for each sentence: then
            what it gets is the same in any batch and in either room.
    Returns:
        (B, T) tokens, and (B,) sums of the step's own log-probabilities.
    Raises:
        ValueError: as `greedy`, or temperature, top_k or top_p is out of its range.
    """
    check_prefixes("sample", prefixes, eos_id, max_new_tokens, pad_id)
    check_temperature("sample", temperature)
    if top_k is not None:
        check_top_k("sample", top_k)
    if top_p is not None:
        check_top_p("sample", top_p)
    if draws is not None:
        check_draws("sample", draws, len(prefixes), max_new_tokens)
    rng = rng or np.random.default_rng()
    columns = None if draws is None else iter(draws.T)

    def choose(scores: Floats, rows: Ints) -> Ints:
        # less the highest, so that no temperature however low sends all to −∞
        scores = (scores - scores.max(-1, keepdims=True)) / float(temperature)
        scores = scores if top_k is None else keep_top_k(scores, top_k)
        scores = scores if top_p is None else keep_top_p(scores, top_p)
        mass = softmax(scores).cumsum(-1)  # (N, V)
        total = mass[:, -1:]  # (N, 1), 1 but for rounding
        drawn = rng.random(len(prefixes)) if columns is None else next(columns)  # (B,)
        drawn = drawn[rows, None].astype(mass.dtype) * total  # (N, 1)
        found: Ints = ((mass > drawn) | (mass == total)).argmax(-1)  # the first: never of mass 0
        return found

    return _follow("sample", step, prefixes, choose, eos_id, max_new_tokens, pad_id)


def _follow(
    call: str,
    step: Step,
    prefixes: Ints,
    choose: Callable[[Floats, Ints], Ints],
    eos_id: int | None,
    max_new_tokens: int,
    pad_id: int | None,
) -> tuple[Ints, Floats]:
    """Go on with what `choose` takes of (N, V), for the rows (N,) of the batch, until all end."""
    pad = (eos_id or 0) if pad_id is None else pad_id
    B, tokens = len(prefixes), prefixes
    going = np.ones(B, bool)
    rows = np.arange(B)  # the sentences that the step sees, N of them
    parents = None
    sums: Floats = np.zeros(B, np.float32)
    for _ in range(max_new_tokens):
        scores = next_scores(call, step, tokens[rows], parents, eos_id, going[rows])  # (N, V)
        words = choose(scores, rows)  # (N,)
        gains = np.zeros(B, scores.dtype)
        gains[rows] = np.take_along_axis(scores, words[:, None], 1)[:, 0]
        sums = np.where(going, sums + gains, sums)
        new = np.full(B, pad, tokens.dtype)
        new[rows] = np.where(going[rows], words, pad)
        tokens = np.concatenate([tokens, new[:, None]], 1)  # (B, t + 1)
        if eos_id is not None:
            going &= new != eos_id
        if not going.any():
            break
        parents = np.flatnonzero(going[rows]) if keeps_cache(step) else rows
        rows = rows[parents]
    return tokens, sums
