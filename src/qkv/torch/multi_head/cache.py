"""Keys and values that decoding has computed already."""

from collections.abc import Sequence

import torch
from torch import Tensor

from qkv.shapes import check_entry, check_reorder

__all__ = ["KeyValueCache"]

LEAST = 32  # tokens that there is room for at first


class KeyValueCache:
    """The keys and values of one attention, kept from step to step.

    Self-attention appends those of its new tokens; cross-attention fills in those of its memory
    once. The room doubles when it is used up, so a token is copied a few times and not at each
    step. Only where torch keeps gradients is all copied at each step: decode under `no_grad`.
    """

    def __init__(self) -> None:
        self._keys: Tensor | None = None  # (B, n_kv_heads, room, d_k)
        self._values: Tensor | None = None  # (B, n_kv_heads, room, d_v)
        self._length = 0
        self._complete = False

    @property
    def length(self) -> int:
        """Number of tokens whose keys are held; the next token has this position."""
        return self._length

    @property
    def complete(self) -> bool:
        """Whether it holds a memory, to which no token is added."""
        return self._complete

    @property
    def keys(self) -> Tensor | None:
        """(B, n_kv_heads, length, d_k), a view; None before the first entry."""
        return None if self._keys is None else self._keys[:, :, : self._length]

    @property
    def values(self) -> Tensor | None:
        """(B, n_kv_heads, length, d_v), a view; None before the first entry."""
        return None if self._values is None else self._values[:, :, : self._length]

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new tokens.

        Args:
            k: (B, n_kv_heads, T, d_k).
            v: (B, n_kv_heads, T, d_v).
        Returns:
            Keys and values of all tokens so far, as views.
        Raises:
            ValueError: they do not fit one another or what is held; the cache holds a memory.
        """
        check_entry("KeyValueCache.append", k, v, self)
        start, self._length = self._length, self._length + k.shape[2]
        self._keys = _with_entry(self._keys, k, start)
        self._values = _with_entry(self._values, v, start)
        return self._keys[:, :, : self._length], self._values[:, :, : self._length]

    def fill(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Hold the keys and values of a memory, to which nothing is added later.

        Args:
            k: (B, n_kv_heads, S, d_k), held as it is and not copied.
            v: (B, n_kv_heads, S, d_v), likewise.
        Returns:
            k and v.
        Raises:
            ValueError: they do not fit one another, or the cache is not empty.
        """
        check_entry("KeyValueCache.fill", k, v, self)
        self._keys, self._values, self._length, self._complete = k, v, k.shape[2], True
        return k, v

    def reorder(self, indices: Sequence[int] | Tensor) -> None:
        """Let row n go on from what was row indices[n]: beam search keeps some and drops others.

        Args:
            indices: (N,) rows of the batch so far; N may be more or fewer than B.
        Raises:
            ValueError: an index is no row; it is named with its position.
        """
        rows = check_reorder("KeyValueCache.reorder", indices, self)
        assert self._keys is not None  # for the type checker
        assert self._values is not None
        if rows != list(range(len(self._keys))):
            self._keys = _rows(self._keys, rows, self._length)
            self._values = _rows(self._values, rows, self._length)


def _with_entry(held: Tensor | None, new: Tensor, start: int) -> Tensor:
    """What is held and then what is new, in a tensor that may have room for more."""
    if torch.is_grad_enabled():
        # Autograd keeps what earlier steps have read, so that must not be written over.
        return new if held is None else torch.cat((held[:, :, :start], new), 2)
    B, H, T, d = new.shape
    needed = start + T
    if held is None or held.shape[2] < needed:
        larger = new.new_empty(B, H, max(LEAST, 2 * needed), d)  # (B, n_kv_heads, room, d)
        if held is not None:
            larger[:, :, :start] = held[:, :, :start]
        held = larger
    held[:, :, start:needed] = new
    return held


def _rows(held: Tensor, rows: list[int], length: int) -> Tensor:
    """The named rows, with the same room, of which only the used part is copied."""
    index = torch.tensor(rows, dtype=torch.long, device=held.device)  # (N,)
    if torch.is_grad_enabled():
        return held[:, :, :length].index_select(0, index)
    chosen = held.new_empty(len(rows), *held.shape[1:])  # (N, n_kv_heads, room, d)
    torch.index_select(held[:, :, :length], 0, index, out=chosen[:, :, :length])
    return chosen
