"""Which rows of a batch read the same row of a memory, so that none is stored twice."""

from collections.abc import Sequence

__all__ = ["group_rows"]


def group_rows(rows: Sequence[int]) -> tuple[list[int], int]:
    """The distinct rows in their order, and how many places in turn each has; else all, and 1.

    group_rows([2, 2, 0, 0]) is ([2, 0], 2), and group_rows([0, 1, 0]) is ([0, 1, 0], 1).
    """
    distinct = list(dict.fromkeys(rows))
    count = len(rows) // len(distinct)
    in_turn = [row for row in distinct for _ in range(count)]
    return (distinct, count) if list(rows) == in_turn else (list(rows), 1)
