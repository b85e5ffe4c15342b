"""Lines of text: whole however they arrive, and read in pieces only as large as they have to be."""

import gzip
import tracemalloc
from types import SimpleNamespace

import pytest

from qkv.text.lines import LineError, decode_line, read_lines, split_lines


def dripping(data, size):
    """A stream that gives a few bytes at a time."""
    parts = iter([*(data[n : n + size] for n in range(0, len(data), size)), b""])
    return SimpleNamespace(read1=lambda _: next(parts))


def test_lines_come_whole_however_they_are_sent():
    data = "one\n\nzwei ü\n셋\nend".encode()
    for size in (1, 2, 5, 100):
        lines = [line for block in split_lines(dripping(data, size)) for line in block]
        assert lines == data.split(b"\n")


def test_a_line_in_many_pieces_is_joined_once():
    """What came before is not copied at each piece: a line of 1 MiB in bytes took hours."""
    data = b"x" * 2**20 + b"\nend"
    copied = 0

    class Counted(bytes):
        def rpartition(self, sep):
            nonlocal copied
            copied += len(self)
            return bytes(self).rpartition(sep)

        def __radd__(self, other):
            pytest.fail("what came before is copied")

        __add__ = __radd__

    parts = iter([Counted(data[n : n + 64]) for n in range(0, len(data), 64)] + [b""])
    stream = SimpleNamespace(read1=lambda _: next(parts))
    assert [line for block in split_lines(stream) for line in block] == data.split(b"\n")
    assert copied == len(data)


def test_the_first_line_loses_its_byte_order_mark_and_no_other():
    assert decode_line("\ufeffa".encode(), 1, "it") == "a"
    assert decode_line("\ufeffa".encode(), 2, "it") == "\ufeffa"


def test_a_file_is_read_up_to_the_line_that_is_wrong(tmp_path):
    (tmp_path / "a").write_bytes(b"one\ntwo\xff\n")
    lines = read_lines(tmp_path / "a")
    assert next(lines) == "one"
    with pytest.raises(LineError, match=r"line 2 of .*a is not UTF-8: byte 0xff at position 3"):
        next(lines)


@pytest.mark.parametrize(("line", "number"), [(b"\n", 2**14 + 1), (b"a" * 960 + b"\n", 2**10 + 1)])
def test_more_text_than_allowed_is_refused_while_it_is_read(tmp_path, line, number):
    """A .gz of 1.5 MB with 393 million lines took 7.6 GB."""
    path = tmp_path / "many.gz"
    path.write_bytes(gzip.compress(line * (2**24 // len(line))))
    tracemalloc.start()
    words = rf"many.gz holds more than 1 MiB of text, of which line {number:,} is: split it, or "
    with pytest.raises(ValueError, match=words):
        list(read_lines(path, max_text=1))
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    path.write_bytes(gzip.compress(line * (number - 1)))
    assert len(list(read_lines(path, max_text=1))) == number - 1


def test_unless_more_is_asked_for_a_file_has_at_most_256_mib(tmp_path, monkeypatch):
    monkeypatch.setattr("qkv.text.lines.LINE_BYTES", 2**27)
    (tmp_path / "a").write_text("\n\n\n")
    with pytest.raises(ValueError, match="more than 256 MiB of text, of which line 3 is"):
        list(read_lines(tmp_path / "a"))
