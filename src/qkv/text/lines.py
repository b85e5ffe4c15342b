"""Read text line by line: UTF-8 with or without a byte order mark, from files, .gz and streams."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

__all__ = ["MAX_LINE_BYTES", "MAX_TEXT", "LineError", "decode_line", "read_lines", "split_lines"]

MAX_LINE_BYTES = 2**20  # of a sentence: to train on a line of 100 MB took 10 GB
MAX_TEXT = 256  # MiB of a file: a .gz of 1.5 MB can hold 393 million lines
LINE_BYTES = 64  # what a line takes in memory besides its text
BUFFER_BYTES = 2**20  # asked for at once; a pipe or a terminal gives what it has


class LineError(ValueError):
    """A line that is not UTF-8, or too long."""


def read_lines(path: str | Path, max_text: int = MAX_TEXT) -> Iterator[str]:
    """The lines of a UTF-8 file, without their ends; a name in .gz is decompressed on the way.

    Args:
        max_text: the most of it in MiB, decompressed; each line counts 64 bytes more than it has.
    Yields:
        One line at a time. What is wrong with a line is said when that line is reached.
    Raises:
        LineError: a line is not UTF-8, or longer than 1 MiB.
        ValueError: there is more than `max_text`, or a .gz file is damaged.
        OSError: it cannot be read.
    """
    number, size, name = 0, 0, str(path)
    is_gzip = name.endswith(".gz")
    with cast(BinaryIO, gzip.open(path) if is_gzip else open(path, "rb")) as file:
        try:
            for block in split_lines(file):
                for line in block:
                    number += 1
                    size += len(line) + LINE_BYTES
                    if size > max_text * 2**20:
                        raise ValueError(
                            f"{name} holds more than {max_text:,} MiB of text, of which line "
                            f"{number:,} is: split it, or raise `max_text`"
                        )
                    yield decode_line(line, number, name)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"{name} is no whole gzip file: it breaks off after {number} lines ({error}): "
                "fetch it again"
            ) from error


def split_lines(stream: BinaryIO) -> Iterator[list[bytes]]:
    """The whole lines that a stream holds so far, again and again: of a terminal, each as typed.

    Only a line feed ends a line, as `wc -l` counts; the last may do without. The beginning of one
    that is longer than `decode_line` takes is given as it is, so that nobody waits for an end.
    """
    rest = bytearray()
    while data := cast(BufferedReader, stream).read1(BUFFER_BYTES):
        whole, end, tail = data.rpartition(b"\n")
        if end:
            yield (bytes(rest) + whole).split(b"\n")
            rest.clear()
        rest += tail
        if len(rest) > MAX_LINE_BYTES:
            yield [bytes(rest)]
            rest.clear()
    if rest:
        yield [bytes(rest)]


def decode_line(line: bytes, number: int, name: str) -> str:
    """Decode a line of UTF-8; the first may begin with a byte order mark.

    Args:
        number: counted from 1.
        name: of the file or stream, for the message of an error.
    Raises:
        LineError: it is not UTF-8, or longer than 1 MiB.
    """
    if len(line) > MAX_LINE_BYTES:
        raise LineError(
            f"line {number} of {name} has more than {MAX_LINE_BYTES:,} bytes: split it, or take it "
            "out"
        )
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LineError(
            f"line {number} of {name} is not UTF-8: byte 0x{line[error.start]:02x} at position "
            f"{error.start}: convert the file, or mend the line"
        ) from None
    return text.removeprefix("\ufeff") if number == 1 else text
