"""Length bucketing: batches of sentence pairs of similar length, so that little is padding."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qkv.shapes import check_count, dtype_name

__all__ = ["Batch", "bucket_by_length", "bucketed_batches", "collate"]

Ids = NDArray[np.int64]
POOL_SIZE = 2**15  # pairs sorted together: more pad less, fewer mix more from epoch to epoch


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of sentence pairs, padded at their ends.

    Args:
        source: (B, S).
        target_in: (B, T), the decoder's input: each target without its last token.
        target_out: (B, T), its labels: each target without its first token.
        index: (B,), which pairs these are.
        non_padding: how many tokens of source and target_out are no padding.
    """

    source: Ids
    target_in: Ids
    target_out: Ids
    index: Ids
    non_padding: int

    @property
    def padded(self) -> int:
        """Tokens of source and target_out, padding included: B · (S + T)."""
        return self.source.size + self.target_out.size


def bucketed_batches(
    pairs: Iterable[tuple[ArrayLike, ArrayLike]],
    max_tokens: int,
    *,
    rng: np.random.Generator | None = None,
    pad_id: int = 0,
) -> Iterator[Batch]:
    """One epoch in batches bucketed by length: every pair once, with others of similar length.

    Args:
        pairs: ids of source and of target; each target begins with <sos> and ends with <eos>.
        max_tokens: the most tokens of a source or of a target, padding included: B · max(S, T).
        rng: shuffles, differently each time it is passed; None means from short to long.
        pad_id: the token that pads what is short.
    Raises:
        ValueError: a pair is empty, longer than max_tokens, or none is there.
    Source: Vaswani et al. 2017, section 5.1.
    """
    check_count("bucketed_batches", 0, pad_id=pad_id)
    pairs = list(pairs)
    buckets = bucket_by_length(_lengths("bucketed_batches", pairs), max_tokens, rng=rng)
    return (collate(pairs, index, pad_id) for index in buckets)


def bucket_by_length(
    lengths: ArrayLike, max_tokens: int, *, rng: np.random.Generator | None = None
) -> list[Ids]:
    """Group pairs of similar length into batches: shuffle, sort pool by pool, split to fit.

    Args:
        lengths: (N, 2), S and T of each pair.
        max_tokens, rng: as in `bucketed_batches`.
    Returns:
        The batches in their order, each as the indices (B,) of its pairs.
    Raises:
        ValueError: a pair is longer than max_tokens, or none is there.
    """
    call = "bucket_by_length"
    check_count(call, max_tokens=max_tokens)
    sizes = np.asarray(lengths)
    if sizes.ndim != 2 or sizes.shape[1] != 2 or sizes.dtype.kind not in "iu" or not sizes.size:
        hint = "pass S and T of at least one pair"
        got = f"{dtype_name(sizes)} {sizes.shape}"
        raise ValueError(f"{call}: lengths must be integers (N, 2), got {got}: {hint}")
    longest = sizes.max(1)
    if (longest > max_tokens).any():
        n = int(np.argmax(longest > max_tokens))
        got = f"{longest[n]} (S = {sizes[n, 0]}, T = {sizes[n, 1]})"
        hint = "raise it, or leave the pair out"
        raise ValueError(
            f"{call}: pair {n} must have at most max_tokens = {max_tokens}, got {got}: {hint}"
        )

    order = np.arange(len(sizes)) if rng is None else rng.permutation(len(sizes))
    size = len(sizes) if rng is None else POOL_SIZE
    buckets: list[Ids] = []
    for start in range(0, len(sizes), size):
        pool = order[start : start + size]
        pool = pool[np.lexsort((sizes[pool, 0], sizes[pool, 1], longest[pool]))]
        first = 0
        for n, pair in enumerate(pool):
            if (n + 1 - first) * longest[pair] > max_tokens:  # the last of a batch is its longest
                buckets.append(pool[first:n])
                first = n
        buckets.append(pool[first:])
    return buckets if rng is None else [buckets[n] for n in rng.permutation(len(buckets))]


def collate(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]], index: ArrayLike, pad_id: int = 0
) -> Batch:
    """Collate the pairs of these indices (B,) into a batch, padded to the longest among them.

    Raises:
        ValueError: a pair is empty, or index is.
    """
    indices = np.array(index, np.int64)
    chosen = [pairs[n] for n in indices]
    lengths = _lengths("collate", chosen)
    s, t = lengths.max(0)
    source = np.full((len(chosen), s), pad_id, np.int64)  # (B, S)
    target_in = np.full((len(chosen), t), pad_id, np.int64)  # (B, T)
    target_out = target_in.copy()  # (B, T)
    for row, (source_ids, target_ids) in enumerate(chosen):
        target = np.asarray(target_ids)
        source[row, : lengths[row, 0]] = source_ids
        target_in[row, : lengths[row, 1]] = target[:-1]
        target_out[row, : lengths[row, 1]] = target[1:]
    return Batch(source, target_in, target_out, indices, int(lengths.sum()))


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
                expected = f"must be integers (T,) with at least {what}"
                got = f"{dtype_name(ids)} {ids.shape}"
                raise ValueError(f"{call}: {name} of pair {n} {expected}, got {got}")
        lengths[n] = len(source), len(target) - 1
    return lengths
