"""Key-value cache: keys and values that decoding has computed already."""

from collections.abc import Sequence

import numpy as np

from qkv.decoding import undo_repeat_interleave
from qkv.numpy.array_types import Floats, Ints
from qkv.numpy.checks import check_cache_update
from qkv.shapes.multi_head import as_cache_rows

__all__ = ["KeyValueCache"]

INITIAL_CAPACITY = 32  # tokens


class KeyValueCache:
    """Key-value cache of one attention, kept from step to step.

    Self-attention appends those of its new tokens; cross-attention sets those of its memory once,
    and the cache is static from then on. The capacity doubles when it is used up, so a token is
    copied a few times and not at each step.
    """

    def __init__(self) -> None:
        self._keys: Floats | None = None  # (B, n_kv_heads, capacity, d_k)
        self._values: Floats | None = None  # (B, n_kv_heads, capacity, d_v)
        self._length = 0
        self._is_static = False
        self._repeats = 1  # of a memory: rows of the batch, one after the other, that read each row

    @property
    def length(self) -> int:
        """Number of tokens whose keys are held; the next token has this position."""
        return self._length

    @property
    def is_static(self) -> bool:
        """Whether it holds the keys and values of a memory, to which no token is added."""
        return self._is_static

    @property
    def keys(self) -> Floats | None:
        """(B, n_kv_heads, length, d_k); None before the first entry."""
        return self._of_each_row(self._keys)

    @property
    def values(self) -> Floats | None:
        """(B, n_kv_heads, length, d_v); None before the first entry."""
        return self._of_each_row(self._values)

    def append(self, k: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Append the keys and values of new tokens.

        Args:
            k: (B, n_kv_heads, T, d_k).
            v: (B, n_kv_heads, T, d_v).
        Returns:
            Keys and values of all tokens so far, as views.
        Raises:
            ValueError: they do not fit one another or what is held; the cache holds a memory.
        """
        check_cache_update("KeyValueCache.append", k, v, self)
        return self.append_unchecked(k, v)

    def append_unchecked(self, k: Floats, v: Floats) -> tuple[Floats, Floats]:
        """`append` for keys and values that are known to fit."""
        start, self._length = self._length, self._length + k.shape[2]
        self._keys = _with_capacity(self._keys, k, start, self._length)
        self._values = _with_capacity(self._values, v, start, self._length)
        self._keys[:, :, start : self._length] = k
        self._values[:, :, start : self._length] = v
        return self._keys[:, :, : self._length], self._values[:, :, : self._length]

    def set_static(self, k: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Store the keys and values of a memory, to which nothing is added later.

        Args:
            k: (B, n_kv_heads, S, d_k), stored as it is and not copied.
            v: (B, n_kv_heads, S, d_v), likewise.
        Returns:
            k and v.
        Raises:
            ValueError: they do not fit one another, or the cache is not empty.
        """
        check_cache_update("KeyValueCache.set_static", k, v, self)
        return self.set_static_unchecked(k, v)

    def set_static_unchecked(self, k: Floats, v: Floats) -> tuple[Floats, Floats]:
        """`set_static` for keys and values that are known to fit."""
        self._keys, self._values, self._length, self._is_static = k, v, k.shape[2], True
        return k, v

    def reorder(self, indices: Sequence[int] | Ints) -> None:
        """Reorder the rows as beam search does: row n goes on from what was row indices[n].

        Args:
            indices: (N,) rows of the batch so far; N may be more or fewer than B.
        Raises:
            ValueError: an index is no row; it is named with its position.
        """
        self.reorder_unchecked(as_cache_rows("KeyValueCache.reorder", indices, self))

    def reorder_unchecked(self, rows: list[int]) -> None:
        """`reorder` for rows that are known to be there; of a memory, none is copied for beams."""
        assert self._keys is not None  # for the type checker
        assert self._values is not None
        if self._is_static:
            rows, self._repeats = undo_repeat_interleave([row // self._repeats for row in rows])
        if rows != list(range(len(self._keys))):
            self._keys = _select_rows(self._keys, rows, self._length)
            self._values = _select_rows(self._values, rows, self._length)

    def shared_rows(self) -> tuple[Floats, Floats, int]:
        """Of a memory: keys and values (A, n_kv_heads, S, d), each for K rows in turn, and K."""
        assert self._keys is not None  # for the type checker
        assert self._values is not None
        if not self._keys.flags.c_contiguous:  # or products would be slower at each step
            self._keys = np.ascontiguousarray(self._keys)
            self._values = np.ascontiguousarray(self._values)
        return self._keys, self._values, self._repeats

    def _of_each_row(self, stored: Floats | None) -> Floats | None:
        """What is stored for each row of the batch; of a memory that rows share, a copy."""
        if stored is None:
            return None
        if self._repeats > 1:
            return np.repeat(stored, self._repeats, 0)
        return stored[:, :, : self._length]


def _with_capacity(stored: Floats | None, new: Floats, start: int, needed: int) -> Floats:
    """What is stored, in an array with a capacity of at least `needed` tokens."""
    if stored is not None and stored.shape[2] >= needed:
        return stored
    B, H, _, d = new.shape
    capacity = max(INITIAL_CAPACITY, 2 * needed)
    larger = np.empty((B, H, capacity, d), new.dtype)  # (B, n_kv_heads, capacity, d)
    if stored is not None:
        larger[:, :, :start] = stored[:, :, :start]
    return larger


def _select_rows(stored: Floats, rows: list[int], length: int) -> Floats:
    """The named rows, with the same capacity, of which only the used part is copied."""
    if len(rows) == len(stored) and length < stored.shape[2]:
        # What has room to spare was made here, and is nobody's input: it may be written over.
        moved = [n for n, row in enumerate(rows) if row != n]
        stored[moved, :, :length] = stored[[rows[n] for n in moved], :, :length]
        return stored
    selected = np.empty((len(rows), *stored.shape[1:]), stored.dtype)
    for new, old in enumerate(rows):
        selected[new, :, :length] = stored[old, :, :length]
    return selected  # (N, n_kv_heads, capacity, d)
