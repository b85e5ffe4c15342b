"""Batches of sentence pairs of like length: what is not padded is not computed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qkv.shapes import check_count, kind

__all__ = ["Batch", "batches_by_length", "pad_batch", "plan_batches"]

Ids = NDArray[np.int64]
POOL = 2**15  # pairs that are sorted together: more waste less, fewer meet others each epoch


@dataclass(frozen=True, eq=False)
class Batch:
    """Pairs side by side, filled up at their ends.

    Args:
        source: (B, S).
        target_in: (B, T), what the decoder reads: all of a target but its last token.
        target_out: (B, T), what it should say: all but the first.
        index: (B,), which pairs these are.
        useful: tokens of source and target_out that are no padding.
    """

    source: Ids
    target_in: Ids
    target_out: Ids
    index: Ids
    useful: int

    @property
    def padded(self) -> int:
        """Tokens of source and target_out, padding included: B · (S + T)."""
        return self.source.size + self.target_out.size


def batches_by_length(
    pairs: Iterable[tuple[ArrayLike, ArrayLike]],
    max_tokens: int,
    *,
    rng: np.random.Generator | None = None,
    pad_id: int = 0,
) -> Iterator[Batch]:
    """One epoch: every pair once, with others of about its length.

    Args:
        pairs: ids of source and of target; each target begins with <sos> and ends with <eos>.
        max_tokens: the most tokens of a source or of a target, padding included: B · max(S, T).
        rng: shuffles, differently each time it is passed; None means from short to long.
        pad_id: fills up what is short.
    Raises:
        ValueError: a pair is empty, longer than max_tokens, or none is there.
    Source: Vaswani et al. 2017, section 5.1.
    """
    check_count("batches_by_length", 0, pad_id=pad_id)
    pairs = list(pairs)
    plan = plan_batches(_lengths("batches_by_length", pairs), max_tokens, rng=rng)
    return (pad_batch(pairs, index, pad_id) for index in plan)


def plan_batches(
    lengths: ArrayLike, max_tokens: int, *, rng: np.random.Generator | None = None
) -> list[Ids]:
    """Which pairs go together: shuffled, sorted by length pool by pool, and cut to fit.

    Args:
        lengths: (N, 2), S and T of each pair.
        max_tokens, rng: as in `batches_by_length`.
    Returns:
        The batches in their order, each as the places (B,) of its pairs.
    Raises:
        ValueError: a pair is longer than max_tokens, or none is there.
    """
    call = "plan_batches"
    check_count(call, max_tokens=max_tokens)
    sizes = np.asarray(lengths)
    if sizes.ndim != 2 or sizes.shape[1] != 2 or sizes.dtype.kind not in "iu" or not sizes.size:
        mend = "pass S and T of at least one pair"
        raise ValueError(
            f"{call}: lengths must be integers (N, 2), got {kind(sizes)} {sizes.shape}: {mend}"
        )
    longest = sizes.max(1)
    if (longest > max_tokens).any():
        n = int(np.argmax(longest > max_tokens))
        came = f"{longest[n]} (S = {sizes[n, 0]}, T = {sizes[n, 1]})"
        mend = "raise it, or leave the pair out"
        raise ValueError(
            f"{call}: pair {n} must have at most max_tokens = {max_tokens}, got {came}: {mend}"
        )

    order = np.arange(len(sizes)) if rng is None else rng.permutation(len(sizes))
    size = len(sizes) if rng is None else POOL
    plan: list[Ids] = []
    for start in range(0, len(sizes), size):
        pool = order[start : start + size]
        pool = pool[np.lexsort((sizes[pool, 0], sizes[pool, 1], longest[pool]))]
        first = 0
        for n, place in enumerate(pool):
            if (n + 1 - first) * longest[place] > max_tokens:  # the last of a batch is its longest
                plan.append(pool[first:n])
                first = n
        plan.append(pool[first:])
    return plan if rng is None else [plan[n] for n in rng.permutation(len(plan))]


def pad_batch(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]], index: ArrayLike, pad_id: int = 0
) -> Batch:
    """The pairs at these places (B,), filled up with pad_id to the longest among them.

    Raises:
        ValueError: a pair is empty, or index is.
    """
    places = np.array(index, np.int64)
    chosen = [pairs[n] for n in places]
    lengths = _lengths("pad_batch", chosen)
    s, t = lengths.max(0)
    source = np.full((len(chosen), s), pad_id, np.int64)  # (B, S)
    target_in = np.full((len(chosen), t), pad_id, np.int64)  # (B, T)
    target_out = target_in.copy()  # (B, T)
    for row, (ids, answer) in enumerate(chosen):
        whole = np.asarray(answer)
        source[row, : lengths[row, 0]] = ids
        target_in[row, : lengths[row, 1]] = whole[:-1]
        target_out[row, : lengths[row, 1]] = whole[1:]
    return Batch(source, target_in, target_out, places, int(lengths.sum()))


def _lengths(call: str, pairs: Sequence[tuple[ArrayLike, ArrayLike]]) -> Ids:
    """S and T of each pair, (N, 2)."""
    if not pairs:
        raise ValueError(f"{call}: pairs must hold at least one pair, got none")
    lengths = np.empty((len(pairs), 2), np.int64)
    for n, pair in enumerate(pairs):
        source, target = map(np.asarray, pair)
        for name, ids, what, least in (
            ("source", source, "a token", 1),
            ("target", target, "<sos> and <eos>", 2),
        ):
            if ids.ndim != 1 or len(ids) < least or ids.dtype.kind not in "iu":
                words = f"must be integers (T,) with at least {what}"
                came = f"{kind(ids)} {ids.shape}"
                raise ValueError(f"{call}: {name} of pair {n} {words}, got {came}")
        lengths[n] = len(source), len(target) - 1
    return lengths
