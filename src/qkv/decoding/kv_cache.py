"""KV cache: which step functions have one, and which of its rows are the same row of a memory."""

from collections.abc import Sequence

__all__ = ["has_kv_cache", "undo_repeat_interleave"]


def has_kv_cache(step: object) -> bool:
    """Whether a step function has a key-value cache, whose rows follow the beams by `reorder`."""
    return hasattr(step, "reorder")


def undo_repeat_interleave(rows: Sequence[int]) -> tuple[list[int], int]:
    """Distinct rows in their order, and how often each is repeated in turn; else all rows, and 1.

    [2, 2, 0, 0] gives ([2, 0], 2), and [0, 1, 0] gives ([0, 1, 0], 1).
    """
    distinct = list(dict.fromkeys(rows))
    count = len(rows) // len(distinct)
    in_turn = [row for row in distinct for _ in range(count)]
    return (distinct, count) if list(rows) == in_turn else (list(rows), 1)
