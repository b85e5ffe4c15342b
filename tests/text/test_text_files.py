"""A vocabulary in its file: whole or not at all, the same on its return, and nothing else."""

import json
import os
import pickle
import stat
import sys

import numpy as np
import pytest

from qkv.text import SPECIAL_TOKENS, Tokenizer, train_bpe, train_character_level, train_word_level
from tests.helpers.processes import run_python

LINES = ["Die Katze saß über der Matte.", "고양이가 매트 위에 앉았다.", 'a "quoted\\ word"']
FOUND = [train_bpe(LINES * 2, 90), train_bpe(LINES, 90, min_count=9), train_word_level(LINES)]
FOUND.append(train_character_level([*LINES, "two\nlines"]))
ALL = pytest.mark.parametrize("tokenizer", FOUND, ids=["bpe", "no merges", "words", "characters"])


@ALL
def test_a_vocabulary_comes_back_from_its_file(tmp_path, tokenizer):
    tokenizer.save(tmp_path / "vocabulary.json")
    found = Tokenizer.load(str(tmp_path / "vocabulary.json"))
    assert (found.tokens, found.merges) == (tokenizer.tokens, tokenizer.merges)
    assert found.digest == tokenizer.digest
    for line in [*LINES, "Der Mat 위에 猫"]:
        np.testing.assert_array_equal(found.encode(line), tokenizer.encode(line))
    found.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "vocabulary.json").read_bytes()
    assert found.characters == tokenizer.characters
    whole = "앉았다" in (tmp_path / "vocabulary.json").read_text("utf-8")
    assert whole or tokenizer.merges == () or tokenizer.characters


def test_vocabularies_that_differ_have_other_digests():
    tokens = [*SPECIAL_TOKENS, "a", "b", "ab"]
    different = [(tokens, None), (tokens, []), (tokens, [("a", "b")]), (tokens[:-1], None)]
    found = [Tokenizer(*each) for each in different]
    found.append(Tokenizer(tokens[:-1], characters=True))
    assert len({tokenizer.digest for tokenizer in found}) == len(found)


@ALL
def test_a_file_cut_short_anywhere_is_refused_by_name(tmp_path, tokenizer):
    path = tmp_path / "vocabulary.json"
    tokenizer.save(path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(
            ValueError, match=r"load: .*vocabulary\.json is no vocabulary: it is cu"
        ):
            Tokenizer.load(path)
    path.write_bytes(whole + b"more")
    with pytest.raises(ValueError, match="is no vocabulary"):
        Tokenizer.load(path)


class Trap:
    """Unpickled, it would make a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def changed(**changes):
    content = {
        "format": "qkv text 1",
        "tokens": [*SPECIAL_TOKENS, "a", "b", "ab"],
        "merges": ["a b"],
    }
    return json.dumps({**content, **changes}).encode()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"words\n" * 50, "Expecting value"),
        (b"\xff" * 50, "can't decode byte 0xff"),
        (b"[" * 100_000, "recursion"),
        (b"[]", 'its "format" is not "qkv text 1"'),
        (b"{}", 'its "format" is not'),
        (b'{"version": "1.0", "model": {}}', 'its "format" is not'),
        (changed(format="qkv text 2"), 'its "format" is not'),
        (changed(tokens=None), 'its "tokens" are no list of texts'),
        (changed(tokens=[*SPECIAL_TOKENS, 3]), 'its "tokens" are no list of texts'),
        (changed(tokens=["a", "b", "ab"]), "tokens must begin with"),
        (changed(tokens=[*SPECIAL_TOKENS, "a", "b", "a"]), "tokens hold 'a'"),
        (changed(tokens=[*SPECIAL_TOKENS, "a", "b"]), "the two and what they make must be tokens"),
        (changed(characters=True), "merges must be None where the tokens are characters"),
        (changed(characters=1), "characters must be True or False"),
        (changed(merges=None, characters=True), "'ab': each must be one character"),
        (changed(merges="ab"), 'its "merges" are no list of texts'),
        (changed(merges=["ab"]), "which are not two pieces"),
        (changed(merges=["a b c"]), "which are not two pieces"),
        (changed(merges=["b a"]), "the two and what they make must be tokens"),
        (changed().replace(b'"merges"', b'"others"'), 'its "merges" are no list of texts'),
    ],
)
def test_a_foreign_file_is_refused_by_name(tmp_path, content, words):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"foreign is no vocabulary: it is cut short.*{words}"):
        Tokenizer.load(path)


def test_the_changed_files_differ_from_one_that_is_read(tmp_path):
    (tmp_path / "whole").write_bytes(changed())
    assert Tokenizer.load(tmp_path / "whole").encode("ab").tolist() == [3, 6]


def test_a_file_is_never_unpickled(tmp_path):
    path, trap = tmp_path / "foreign", tmp_path / "sprung"
    path.write_bytes(pickle.dumps(Trap(trap)))
    with pytest.raises(ValueError, match="is no vocabulary"):
        Tokenizer.load(path)
    assert not trap.exists()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Tokenizer.load(tmp_path / "nowhere")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "vocabulary.json"
    FOUND[0].save(path)
    before = path.read_bytes()

    def broken(*_):
        raise OSError("disk full")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, broken)
            with pytest.raises(OSError, match="disk full"):
                FOUND[2].save(path)
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["vocabulary.json"]
    FOUND[2].save(path)
    assert Tokenizer.load(path).digest == FOUND[2].digest
    assert os.listdir(tmp_path) == ["vocabulary.json"]
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_whole_words_load_without_the_library(tmp_path):
    FOUND[2].save(tmp_path / "words.json")
    FOUND[0].save(tmp_path / "bpe.json")
    code = (
        "import sys; sys.modules['tokenizers'] = sys.modules['torch'] = None\n"
        "from qkv.text import Tokenizer\n"
        f"print(Tokenizer.load('words.json').encode({LINES[1]!r}).tolist())\n"
        "try: Tokenizer.load('bpe.json')\n"
        "except ImportError as error: print(error)"
    )
    run = run_python(
        code,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path))},
    )
    expected = [
        str(FOUND[2].encode(LINES[1]).tolist()),
        "BPE needs tokenizers: pip install tokenizers",
    ]
    assert run.stdout.splitlines() == expected, run.stderr
