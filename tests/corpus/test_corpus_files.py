"""Real text: two files or one, plain or packed, and what is refused in which words."""

import gzip
import tracemalloc
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qkv.corpus import read_pairs, read_tsv

LETTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff")
SENTENCES = st.text(LETTERS, min_size=1).map(str.strip).filter(bool)
QUICK = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return written


@QUICK
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1), st.sampled_from(["", ".gz"]))
def test_what_was_written_is_read(write, pairs, packed):
    source, target = (
        write(f"{i}{packed}", "\n".join(pair[i] for pair in pairs) + "\n") for i in (0, 1)
    )
    both = write(f"both{packed}", "".join(f"{left}\t{right}\tby X\n" for left, right in pairs))
    assert list(read_pairs(source, target)) == list(read_tsv(both)) == pairs
    assert list(read_tsv(both, 2, 1)) == [(right, left) for left, right in pairs]


def test_line_ends_and_a_byte_order_mark_are_no_text(write):
    """Nor does a line end where Unicode sees one: only a line feed ends it, in both files."""
    source = write("a", "\ufeffEin Hund.\r\n Zwei\u2028Hunde\t. \r\n".encode())
    target = write("b", "A dog.\nTwo dogs.")
    assert list(read_pairs(source, target)) == [
        ("Ein Hund.", "A dog."),
        ("Zwei\u2028Hunde\t.", "Two dogs."),
    ]


def test_lines_come_one_at_a_time(write):
    """What is wrong further down does not keep the first pairs back."""
    source, target = write("a", "eins\nzwei\n\n"), write("b", "one\ntwo\nthree\n")
    assert list(islice(read_pairs(source, target), 2)) == [("eins", "one"), ("zwei", "two")]


WRONG = {
    "the files must have the same number of lines, got 2 in {a} and 4 in {b}: "
    "each line stands beside its translation": ("x\ny\n", "1\n2\n3\n4"),
    "the files must have the same number of lines, got 3 in {a} and 1 in {b}: "
    "each line stands beside its translation": ("x\ny\nz", "1\n"),
    "line 2 of {a} is empty: take the line out, in both files": ("x\n\nz\n", "1\n2\n3\n"),
    "line 3 of {b} is empty: take the line out, in both files": ("x\ny\nz\n", "1\n2\n \t\n"),
    "line 2 of {b} is not UTF-8: byte 0xe9 at position 3: convert the file, or mend the line": (
        "x\ny\n",
        b"1\ncaf\xe9\n",
    ),
    "{a} is empty: a sentence is expected in each line": ("", "1\n"),
    "{b} is empty: a sentence is expected in each line": ("x\n", ""),
}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("words", WRONG)
def test_two_files_that_are_refused(write, words, packed):
    a, b = (write(name + packed, text) for name, text in zip("ab", WRONG[words], strict=True))
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the whole text is compared below)
        list(read_pairs(a, b))
    assert str(refusal.value) == "read_pairs: " + words.format(a=a, b=b)


WRONG_TABLE = {
    "line 2 of {a} must have 2 columns, got 1: columns are separated by tabs": "x\t1\ny 2\n",
    "column 2 of line 1 of {a} is empty: take the line out": "x\t \tby X\n",
    "column 1 of line 1 of {a} is empty: take the line out": "\t1\n",
    "line 2 of {a} is empty: take the line out": "x\t1\n\ny\t2\n",
    "line 1 of {a} is not UTF-8: byte 0xff at position 0: convert the file, or mend the line": (
        b"\xff\xfex\0\t\0"
    ),
    "{a} is empty: a sentence is expected in each line": "",
}


@pytest.mark.parametrize("words", WRONG_TABLE)
def test_a_table_that_is_refused(write, words):
    a = write("a.tsv", WRONG_TABLE[words])
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the whole text is compared below)
        list(read_tsv(a))
    assert str(refusal.value) == "read_tsv: " + words.format(a=a)


def test_columns_are_counted_from_one(write):
    with pytest.raises(ValueError, match="read_tsv: source must be a whole number of at least 1"):
        list(read_tsv(write("a", "x\t1\n"), 0, 1))


def test_a_packed_file_that_breaks_off(write, tmp_path):
    whole = write("a.gz", "".join(f"Satz {i * i}\n" for i in range(9999)))
    broken = tmp_path / "b.gz"
    broken.write_bytes(whole.read_bytes()[:-9000])
    with pytest.raises(ValueError, match=r"b\.gz is no whole gzip file: it breaks off after \d+"):
        list(read_pairs(whole, broken))
    plain = tmp_path / "c.gz"
    plain.write_text("not packed\n")
    with pytest.raises(ValueError, match=r"c\.gz is no whole gzip file: .* after 0 lines"):
        list(read_tsv(plain))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        next(read_tsv(tmp_path / "none.tsv"))


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_an_end_is_refused_and_not_held_in_memory(tmp_path, packed):
    """100 MB in a line took 10 GB to learn from; of a device such as /dev/zero there is no end."""
    path = tmp_path / ("long.gz" if packed else "long")
    with (gzip.open if packed else open)(path, "wb") as file:
        file.write(b"a sentence\tein Satz\n")
        for _ in range(48):
            file.write(b"a " * 2**19)
    words = r"line 2 of .*long.* has more than 1,048,576 bytes: split it, or take it out"
    for read in (lambda: read_tsv(path), lambda: read_pairs(path, path)):
        tracemalloc.start()
        with pytest.raises(ValueError, match=words):
            list(read())
        assert tracemalloc.get_traced_memory()[1] < 2**24
        tracemalloc.stop()


def test_a_long_line_is_read(write):
    long = "a" * (2**20 - 1)
    assert list(read_pairs(*[write("a", f"{long}\n")] * 2)) == [(long, long)]
