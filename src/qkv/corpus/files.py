"""Read sentence pairs from parallel files or from tab-separated ones, plain or .gz."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from qkv.shapes import check_count
from qkv.text.lines import MAX_TEXT, read_lines

__all__ = ["read_pairs", "read_tsv"]


def read_pairs(
    source_path: str | Path, target_path: str | Path, *, max_text: int = MAX_TEXT
) -> Iterator[tuple[str, str]]:
    """Read pairs from two parallel (line-aligned) files in UTF-8, one pair at a time.

    Spaces around a sentence are taken off. A file whose name ends in .gz is unpacked on the way.

    Args:
        max_text: the most text of either in MiB, each line counted as 64 bytes more than it has.
    Yields:
        (source, target). What is wrong with a line is said when that line is reached.
    Raises:
        ValueError: a file is empty or damaged, the two are of unequal length, a line is empty,
            not UTF-8, or longer than 1 MiB; there is more than `max_text`.
    """
    check_count("read_pairs", max_text=max_text)
    paths = source_path, target_path
    source, target = (_lines("read_pairs", path, max_text) for path in paths)
    for number, (left, right) in enumerate(zip_longest(source, target), 1):
        if left is None or right is None:
            more = number + sum(1 for _ in (target if left is None else source))
            counts = (number - 1, more) if left is None else (more, number - 1)
            raise ValueError(
                f"read_pairs: the files must have the same number of lines, got {counts[0]} in "
                f"{source_path} and {counts[1]} in {target_path}: each line stands beside its "
                "translation"
            )
        pair = left.strip(), right.strip()
        if not all(pair):
            raise _blank("read_pairs", target_path if pair[0] else source_path, number)
        yield pair


def read_tsv(
    path: str | Path, source: int = 1, target: int = 2, *, max_text: int = MAX_TEXT
) -> Iterator[tuple[str, str]]:
    """Read pairs from columns of a tab-separated file in UTF-8, one pair at a time.

    Args:
        source, target: which columns to take, counted from 1; the others are passed over.
        max_text: as in `read_pairs`.
    Yields:
        (source, target). What is wrong with a line is said when that line is reached.
    Raises:
        ValueError: a column is no whole number of at least 1; the file is empty or damaged; a line
            or one of its two sentences is empty, it has too few columns, it is not UTF-8, or it is
            longer than 1 MiB; there is more than `max_text`.
    """
    check_count("read_tsv", source=source, target=target, max_text=max_text)
    for number, line in enumerate(_lines("read_tsv", path, max_text), 1):
        if not line.strip():
            raise _blank("read_tsv", path, number)
        columns = line.split("\t")
        if len(columns) < max(source, target):
            raise ValueError(
                f"read_tsv: line {number} of {path} must have {max(source, target)} columns, got "
                f"{len(columns)}: columns are separated by tabs"
            )
        pair = columns[source - 1].strip(), columns[target - 1].strip()
        for column, sentence in zip((source, target), pair, strict=True):
            if not sentence:
                raise ValueError(
                    f"read_tsv: column {column} of line {number} of {path} is empty: "
                    "take the line out"
                )
        yield pair


def _lines(call: str, path: str | Path, max_text: int) -> Iterator[str]:
    """The lines of a file, of which there has to be one."""
    lines = read_lines(path, max_text)
    try:
        if (first := next(lines, None)) is None:
            raise ValueError(f"{path} is empty: a sentence is expected in each line")
        yield first
        yield from lines
    except ValueError as error:
        raise ValueError(f"{call}: {error}") from error


def _blank(call: str, path: str | Path, number: int) -> ValueError:
    aside = "" if call == "read_tsv" else ", in both files"
    return ValueError(f"{call}: line {number} of {path} is empty: take the line out{aside}")
