"""Lines of text from a file or a stream, and what is wrong with them said by number."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from qkv.files import LONGEST_LINE

__all__ = ["LineError", "blocks", "decoded", "read_lines"]

SIZE = 2**20  # bytes asked for at once; a pipe or a terminal gives what it has


class LineError(ValueError):
    """A line that cannot be translated."""


def read_lines(path: str | Path) -> list[str]:
    """The lines of a file in UTF-8; one whose name ends in .gz is unpacked on the way.

    Raises:
        LineError: a line is not UTF-8, or longer than 1 MiB.
        ValueError: a .gz file is damaged.
        OSError: it cannot be read.
    """
    packed = str(path).endswith(".gz")
    with cast(BinaryIO, gzip.open(path) if packed else open(path, "rb")) as file:
        try:
            lines = (line for block in blocks(file) for line in block)
            return [decoded(line, number, str(path)) for number, line in enumerate(lines, 1)]
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path} is no whole gzip file ({error}): fetch it again") from error


def blocks(stream: BinaryIO) -> Iterator[list[bytes]]:
    """The whole lines that are there so far, again and again: of a terminal, each as it is typed.

    Only a line feed ends a line, as `wc -l` counts; the last may do without. The beginning of one
    that is longer than `decoded` takes is given as it is, so that nobody waits for an end.
    """
    rest = bytearray()
    while data := cast(BufferedReader, stream).read1(SIZE):
        whole, end, tail = data.rpartition(b"\n")
        if end:
            yield (bytes(rest) + whole).split(b"\n")
            rest.clear()
        rest += tail
        if len(rest) > LONGEST_LINE:
            yield [bytes(rest)]
            rest.clear()
    if rest:
        yield [bytes(rest)]


def decoded(line: bytes, number: int, name: str) -> str:
    """A line as text, without the mark that some programs put before the first.

    Raises:
        LineError: it is not UTF-8, or longer than 1 MiB.
    """
    if len(line) > LONGEST_LINE:
        raise LineError(f"line {number} of {name} has more than {LONGEST_LINE:,} bytes: split it")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte, place = line[error.start], error.start
        raise LineError(
            f"line {number} of {name} is not UTF-8: byte 0x{byte:02x} at position {place}: "
            "convert the file, or mend the line"
        ) from None
    return text.removeprefix("\ufeff") if number == 1 else text
