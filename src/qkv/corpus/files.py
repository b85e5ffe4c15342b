"""Sentence pairs from files: two line-aligned ones, or one with tabs; plain or .gz."""

import gzip
import zlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, cast

from qkv.files import LONGEST_LINE
from qkv.shapes import check_count

__all__ = ["read_pairs", "read_tsv"]


def read_pairs(source_path: str | Path, target_path: str | Path) -> Iterator[tuple[str, str]]:
    """Pairs from two files in UTF-8, line 1 beside line 1, one at a time.

    Spaces around a sentence are taken off. A file whose name ends in .gz is unpacked on the way.

    Yields:
        (source, target). What is wrong with a line is said when that line is reached.
    Raises:
        ValueError: a file is empty or damaged, the two are of unequal length, a line is empty,
            not UTF-8, or longer than 1 MiB.
    """
    source, target = _lines("read_pairs", source_path), _lines("read_pairs", target_path)
    for number, (left, right) in enumerate(zip_longest(source, target), 1):
        if left is None or right is None:
            more = number + sum(1 for _ in (target if left is None else source))
            counts = (number - 1, more) if left is None else (more, number - 1)
            raise ValueError(
                f"read_pairs: the files must have the same number of lines, got {counts[0]} in "
                f"{source_path} and {counts[1]} in {target_path}: each line stands beside its "
                "translation"
            )
        yield (
            _text("read_pairs", source_path, number, left),
            _text("read_pairs", target_path, number, right),
        )


def read_tsv(path: str | Path, source: int = 1, target: int = 2) -> Iterator[tuple[str, str]]:
    """Pairs from one file in UTF-8 with a tab between the columns, one pair at a time.

    Args:
        source, target: which columns to take, counted from 1; the others are passed over.
    Yields:
        (source, target). What is wrong with a line is said when that line is reached.
    Raises:
        ValueError: a column is no whole number of at least 1; the file is empty or damaged; a line
            or one of its two sentences is empty, it has too few columns, it is not UTF-8, or it is
            longer than 1 MiB.
    """
    check_count("read_tsv", source=source, target=target)
    for number, line in enumerate(_lines("read_tsv", path), 1):
        columns = _text("read_tsv", path, number, line, keep=True).split("\t")
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


def _lines(call: str, path: str | Path) -> Iterator[bytes]:
    """The lines of a file as bytes; only a line feed ends one, as `wc -l` counts."""
    number = 0
    packed = str(path).endswith(".gz")
    with cast(BinaryIO, gzip.open(path) if packed else open(path, "rb")) as file:
        try:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
                if len(line) > LONGEST_LINE:
                    raise ValueError(
                        f"{call}: line {number} of {path} has more than {LONGEST_LINE:,} bytes: "
                        "split it, or take it out"
                    )
                yield line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"{call}: {path} is no whole gzip file: it breaks off after {number} lines "
                f"({error}): fetch it again"
            ) from error
    if number == 0:
        raise ValueError(f"{call}: {path} is empty: a sentence is expected in each line")


def _text(call: str, path: str | Path, number: int, line: bytes, keep: bool = False) -> str:
    """One line as text, refused where it holds none."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{call}: line {number} of {path} is not UTF-8: byte 0x{line[error.start]:02x} at "
            f"position {error.start}: convert the file, or mend the line"
        ) from None
    if not text.strip():
        aside = "" if call == "read_tsv" else ", in both files"
        raise ValueError(f"{call}: line {number} of {path} is empty: take the line out{aside}")
    return text if keep else text.strip()
