"""Key-value cache: keys and values that decoding has computed already."""

from collections.abc import Sequence

import torch
from torch import Tensor

from qkv.decoding import undo_repeat_interleave
from qkv.shapes.multi_head import as_cache_rows
from qkv.torch.checks import check_cache_update

__all__ = ["KeyValueCache"]

INITIAL_CAPACITY = 32  # tokens


class KeyValueCache:
    """Key-value cache of one attention, kept from step to step.

    As `qkv.numpy.KeyValueCache`.

    Only where torch keeps gradients is all copied at each step: decode under `no_grad`.
    """

    def __init__(self) -> None:
        self._keys: Tensor | None = None  # (B, n_kv_heads, capacity, d_k)
        self._values: Tensor | None = None  # (B, n_kv_heads, capacity, d_v)
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
    def keys(self) -> Tensor | None:
        """(B, n_kv_heads, length, d_k); None before the first entry."""
        return self._of_each_row(self._keys)

    @property
    def values(self) -> Tensor | None:
        """(B, n_kv_heads, length, d_v); None before the first entry."""
        return self._of_each_row(self._values)

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append the keys and values of new tokens.

        As `qkv.numpy.KeyValueCache.append`.
        """
        check_cache_update("KeyValueCache.append", k, v, self)
        return self.append_unchecked(k, v)

    def append_unchecked(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """`append` for keys and values that are known to fit."""
        start, self._length = self._length, self._length + k.shape[2]
        self._keys = _with_entry(self._keys, k, start)
        self._values = _with_entry(self._values, v, start)
        return self._keys[:, :, : self._length], self._values[:, :, : self._length]

    def set_static(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Store the keys and values of a memory, to which nothing is added later.

        As `qkv.numpy.KeyValueCache.set_static`.
        """
        check_cache_update("KeyValueCache.set_static", k, v, self)
        return self.set_static_unchecked(k, v)

    def set_static_unchecked(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """`set_static` for keys and values that are known to fit."""
        self._keys, self._values, self._length, self._is_static = k, v, k.shape[2], True
        return k, v

    def reorder(self, indices: Sequence[int] | Tensor) -> None:
        """Reorder the rows as beam search does: row n goes on from what was row indices[n].

        As `qkv.numpy.KeyValueCache.reorder`.
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

    def shared_rows(self) -> tuple[Tensor, Tensor, int]:
        """Of a memory: keys and values (A, n_kv_heads, S, d), each for K rows in turn, and K."""
        assert self._keys is not None  # for the type checker
        assert self._values is not None
        if not self._keys.is_contiguous():  # or products would copy them at each step
            self._keys, self._values = self._keys.contiguous(), self._values.contiguous()
        return self._keys, self._values, self._repeats

    def _of_each_row(self, stored: Tensor | None) -> Tensor | None:
        """What is stored for each row of the batch; of a memory that rows share, a copy."""
        if stored is None:
            return None
        if self._repeats > 1:
            return stored.repeat_interleave(self._repeats, 0)
        return stored[:, :, : self._length]


def _with_entry(stored: Tensor | None, new: Tensor, start: int) -> Tensor:
    """What is stored and then what is new, in a tensor whose capacity may be larger."""
    if stored is not None and not _is_writable(stored):
        return torch.cat((stored[:, :, :start], new), 2)
    if torch.is_grad_enabled():
        return new
    B, H, T, d = new.shape
    needed = start + T
    if stored is None or stored.shape[2] < needed:
        capacity = max(INITIAL_CAPACITY, 2 * needed)
        larger = new.new_empty(B, H, capacity, d)  # (B, n_kv_heads, capacity, d)
        if stored is not None:
            larger[:, :, :start] = stored[:, :, :start]
        stored = larger
    stored[:, :, start:needed] = new
    return stored


def _select_rows(stored: Tensor, rows: list[int], length: int) -> Tensor:
    """The named rows, with the same capacity, of which only the used part is copied."""
    used = stored[:, :, :length]
    if not _is_writable(stored):
        return used.index_select(0, _index(rows, stored))
    if len(rows) == len(stored) and length < stored.shape[2]:
        # What has room to spare was made here, and is nobody's input: it may be written over.
        moved = [n for n, row in enumerate(rows) if row != n]
        copies = used.index_select(0, _index([rows[n] for n in moved], stored))
        used.index_copy_(0, _index(moved, stored), copies)
        return stored
    selected = stored.new_empty(len(rows), *stored.shape[1:])  # (N, n_kv_heads, capacity, d)
    torch.index_select(used, 0, _index(rows, stored), out=selected[:, :, :length])
    return selected


def _is_writable(stored: Tensor) -> bool:
    """Whether entries may be written into it: not where autograd keeps what it has read.

    What inference mode has made may be written to there alone.
    """
    if torch.compiler.is_compiling():  # which knows no inference mode
        return not torch.is_grad_enabled()
    made_elsewhere = stored.is_inference() and not torch.is_inference_mode_enabled()
    return not (torch.is_grad_enabled() or made_elsewhere)


def _index(rows: list[int], like: Tensor) -> Tensor:
    return torch.tensor(rows, dtype=torch.long, device=like.device)
