"""`qkv translate`: lines in, as many lines out, and a clear word about what cannot be."""

import gzip
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

import qkv.numpy as qn
from qkv import checkpoint as checkpoints
from qkv.bridge import state_dict
from qkv.checkpoint import Checkpoint
from qkv.commands import translate
from qkv.commands.translate import main
from qkv.commands.translate_remarks import greeting
from qkv.config import TransformerConfig
from qkv.corpus import sentences, split_by_combination
from qkv.text import train_bpe, train_word_level
from qkv.text.tokenizer import MANY_MERGES
from qkv.translator import KINDS, Translator, attention_page
from qkv.translator.attention_view import SCALE
from tests.helpers.translators import MAX_LEN, SOURCES, TARGETS, checkpoint
from tests.helpers.waiting import WAIT_SECONDS

COMMAND = [sys.executable, "-m", "qkv.commands.translate"]
# Unbuffered, a program needs not care when its words leave it.
BUFFERED = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint")
    checkpoint().save(folder / "best.json")
    return folder


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("".join(f"{line}\n" for line in SOURCES), "utf-8")
    return path


@pytest.fixture
def run(saved, capfdbinary):
    """Calls the command in the NumPy room; its status, and what it wrote to either stream."""

    def call(*arguments, room="numpy", model=saved):
        try:
            status = main([str(model), *map(str, arguments), "--room", room])
        except SystemExit as end:
            status = end.code
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return call


def given(monkeypatch, data):
    """Standard input holds this."""
    stream = SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: False)
    monkeypatch.setattr(translate, "sys", SimpleNamespace(
        stdin=stream, stdout=sys.stdout, stderr=sys.stderr))  # fmt: skip


def dripping(data, size):
    """A stream that gives a few bytes at a time."""
    parts = iter([*(data[n : n + size] for n in range(0, len(data), size)), b""])
    return SimpleNamespace(read1=lambda _: next(parts))


def ready(stream):
    """Wait until there is something to read, but not for ever."""
    assert select.select([stream], [], [], WAIT_SECONDS)[0], "no answer"
    return stream


def lines(texts):
    return "".join(f"{line}\n" for line in texts)


@pytest.mark.parametrize("room", ["numpy", "torch"])
def test_a_file_is_translated_line_by_line(run, text, tmp_path, room):
    assert run(text, room=room) == (0, lines(TARGETS), "")
    packed = tmp_path / "in.txt.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    assert run(packed, "--method", "beam", "--beam-size", 2, room=room) == (0, lines(TARGETS), "")


def test_lines_stay_aligned(run, tmp_path, monkeypatch):
    """An empty line gives an empty line; only a line feed ends one; the last may do without."""
    data = f"\ufeff{SOURCES[1]}\r\n\n  \t\n{SOURCES[2]}\x0b\u2028\n\n{SOURCES[0]}".encode()
    expected = [TARGETS[1], "", "", TARGETS[2], "", TARGETS[0]]
    path = tmp_path / "in.txt"
    path.write_bytes(data)
    assert run(path) == (0, lines(expected), "")
    given(monkeypatch, data)
    assert run() == (0, lines(expected), "")
    path.write_bytes(b"")
    assert run(path) == (0, "", "")


def test_each_line_is_answered_at_once(saved):
    """The next line is sent only when the last was answered, as a person at a terminal would."""
    process = subprocess.Popen(
        [*COMMAND, str(saved), "--room", "numpy"], env=BUFFERED,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    for source, target in zip(SOURCES[:3], TARGETS[:3], strict=True):
        process.stdin.write(f"{source}\n".encode())
        process.stdin.flush()
        assert ready(process.stdout).readline().decode() == f"{target}\n"
    process.stdin.close()
    assert process.wait(timeout=WAIT_SECONDS) == 0
    assert process.stdout.read() == b""
    process.stdout.close()


def test_a_terminal_is_asked_and_a_bad_line_does_not_end_it(saved):
    """A prompt, an answer, a word about a line that is too long, the next by its number, Ctrl-D."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, str(saved), "--room", "numpy"], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    heard = b""

    def until(words):
        nonlocal heard
        while words.encode() not in heard:
            heard += os.read(ready(ours), 1000)
        heard = heard.partition(words.encode())[2]

    until("Ctrl-D ends.")
    until("> ")
    os.write(ours, f"{SOURCES[1]}\n".encode())
    until(f"{TARGETS[1]}\r\n> ")
    os.write(ours, b"cat " * 50 + b"\n")
    until("line 2 of standard input has ")
    until("> ")
    os.write(ours, "고양이가 잤다\n".encode())
    until("line 3 (2 of 2 words): ")
    until("> ")
    os.write(ours, f"{SOURCES[2]}\n".encode())
    until(f"{TARGETS[2]}\r\n> ")
    os.write(ours, b"\x04")
    assert process.wait(timeout=WAIT_SECONDS) == 0
    os.close(ours)


def test_the_greeting_of_any_other_model():
    """Its languages are not known; and pieces of words are no list to choose words from."""
    each = {kind: Translator.from_checkpoint(checkpoint(kind)) for kind in ("bpe", "words")}
    last = "One sentence a line; Ctrl-D ends."
    assert greeting(each["bpe"], "model") == last
    said = greeting(each["words"], "my model")
    assert said == f"qkv translate 'my model' --list-words shows all that it knows.\n{last}"


def test_into_a_file_whole_or_not_at_all(run, text, tmp_path, monkeypatch):
    out = tmp_path / "out.txt"
    assert run(text, "--out", out) == (0, "", "")
    assert out.read_text("utf-8") == lines(TARGETS)
    given(monkeypatch, f"{SOURCES[0]}\n\xff\n".encode("latin-1"))
    status, _, err = run("--out", out)
    assert status == 1
    assert "line 2 of standard input is not UTF-8: byte 0xff at position 0" in err
    assert out.read_text("utf-8") == lines(TARGETS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt"]


def test_sampling_does_not_depend_on_where_the_lines_come_from(run, text, monkeypatch):
    own = ["--method", "sample", "--temperature", 4, "--top-k", 20, "--seed", 3]
    status, out, _ = run(text, *own)
    assert status == 0
    assert out != lines(TARGETS)
    assert run(text, *own, "--max-tokens", 1)[1] == out
    given(monkeypatch, b"")
    translate.sys.stdin.buffer = dripping(text.read_bytes(), 40)
    assert run(*own)[1] == out


def test_bleu_against_a_reference(run, text, tmp_path, monkeypatch):
    reference = tmp_path / "reference.txt"
    reference.write_text(lines(TARGETS), "utf-8")
    status, out, err = run(text, "--reference", reference)
    assert (status, out) == (0, lines(TARGETS))
    assert re.fullmatch(r"BLEU 100\.00 nrefs:1\|case:mixed\|eff:no\|tok:13a\|.*version:\S+\n", err)
    reference.write_text(lines(TARGETS[::-1]), "utf-8")
    assert "BLEU 100" not in run(text, "--reference", reference)[2]
    reference.write_text(lines(TARGETS[1:]), "utf-8")
    status, out, err = run(text, "--reference", reference)
    assert (status, out) == (1, "")  # said before anything is translated
    assert f"{text} has 7 lines and {reference} has 6: no BLEU" in err
    given(monkeypatch, text.read_bytes())
    status, _, err = run("--reference", reference)
    assert status == 1
    assert "standard input has 7 lines" in err
    given(monkeypatch, text.read_bytes())
    out = tmp_path / "out.txt"
    assert run("--reference", reference, "--out", out)[0] == 1
    assert out.read_text("utf-8") == lines(TARGETS)  # what was translated is not lost
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    assert run(text, "--reference", reference)[::2] == (
        1, "qkv translate: --reference needs sacrebleu: pip install sacrebleu\n")  # fmt: skip


def test_a_line_that_is_too_long(run, tmp_path, monkeypatch):
    path = tmp_path / "in.txt"
    long = "cat " * 50
    path.write_text(lines([SOURCES[0], long, SOURCES[1]]))
    count = Translator.from_checkpoint(checkpoint()).count_tokens(long)
    words = f"has {count} tokens, the model takes {MAX_LEN}: "
    mend = "split it, or pass --truncate"
    expected = f"qkv translate: line 2 of {path} {words}{mend}\n"
    assert run(path) == (1, "", expected)  # nothing is translated unless all can be
    status, out, err = run(path, "--truncate")
    assert (status, err.splitlines()[0]) == (0, f"qkv translate: line 2 of {path} {words}it is cut")
    assert [out.split("\n")[n] for n in (0, 2)] == TARGETS[:2]
    given(monkeypatch, path.read_bytes())
    expected = f"qkv translate: line 2 of standard input {words}{mend}\n"
    assert run() == (1, lines(TARGETS[:1]), expected)  # what came before it is answered


def test_a_line_that_the_vocabulary_refuses_is_named(run, text, monkeypatch):
    def count(_, line):
        if "rice" in line:
            raise ValueError("encode: no rice")
        return 1

    monkeypatch.setattr(Translator, "count_tokens", count)
    assert run(text) == (1, "", f"qkv translate: line 3 of {text}: encode: no rice\n")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("CUDA out of memory. Tried …")])
def test_too_little_memory(run, text, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(Translator, "translate", fail)
    assert run(text) == (1, "", "qkv translate: out of memory: lower --max-tokens\n")
    assert run(text, "--method", "beam")[2].endswith(": lower --max-tokens and --beam-size\n")


def damaged(path):
    path.write_bytes(gzip.compress(b"one\n" * 99)[:20])


BAD = [
    (["{missing}"], "missing: No such file or directory"),
    (["{folder}"], "Is a directory"),
    (["{latin}"], "line 2 of .*latin is not UTF-8: byte 0xe4 at position 1: convert the file"),
    (
        ["{cut}.gz"],
        r"cut.gz is no whole gzip file: it breaks off after \d+ lines \(.*\): fetch it again",
    ),
    (["{text}", "--out", "{missing}/x"], "missing/x cannot be written: name a file in a folder"),
    (["{text}", "--attention", "{folder}"], "cannot be written"),
    (["{text}", "--max-new-tokens", "31"], "--max-new-tokens must be at most 30"),
    (["{text}", "--max-len", "31"], "--max-new-tokens must be at most 30"),  # its older name
    (["{text}", "--reference", "{missing}"], "missing: No such file"),
    (["{empty}", "--reference", "{empty}"], "empty is empty: no BLEU"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[words[:30] for _, words in BAD])
def test_what_cannot_be_read_or_written(run, text, tmp_path, arguments, words):
    (tmp_path / "latin").write_bytes("a\nbäh\n".encode("latin-1"))
    damaged(tmp_path / "cut.gz")
    names = {name: tmp_path / name for name in ("missing", "latin", "cut", "empty")}
    names["empty"].touch()
    names |= {"text": text, "folder": tmp_path}
    status, out, err = run(*(argument.format(**names) for argument in arguments))
    assert (status, out) == (1, "")
    assert err.startswith("qkv translate: ")
    assert err.count("\n") == 1
    assert re.search(words, err)


MISUSED = [
    (["--beam-size", "3"], "--beam-size goes with --method beam"),
    (["--method", "beam", "--top-p", "0.5"], "--top-p goes with --method sample"),
    (["--method", "sample", "--length-formula", "gnmt"], "--length-formula goes with --method b"),
    (["--device", "cuda"], "--device goes with --room torch"),
    (["--method", "best"], "invalid choice: 'best'"),
    (["--max-tokens", "0"], "argument --max-tokens: 0 is no count: give a whole number from 1 on"),
    (["--max-new-tokens", "1.5"], "argument --max-new-tokens/--max-len: 1.5 is no count"),
    (["--max-new-tokens", "9" * 400], "9 is no count"),
    (["--method", "sample", "--temperature", "0"], "0 is no temperature: give a number above 0"),
    (["--method", "sample", "--top-p", "nan"], "nan is no share"),
    (["--method", "sample", "--seed", "-1"], "no seed"),
    (["--method", "beam", "--length-penalty", "inf"], "inf is no number from"),
    (["--method", "beam", "--length-penalty", "1e308"], "1e308 is no number from -20 to 20"),
    (["--method", "beam", "--length-penalty=-21"], "-21 is no number from -20 to 20"),
    (["--method", "beam", "--beam-size", "9" * 9], "--beam-size must be at most 4,096 here: a b"),
    (
        ["--method", "beam", "--beam-size", "9", "--max-tokens", "8"],
        "at most 8 here: a batch holds",
    ),
    (["--method", "beam", "--beam-size", "9" * 20], "from 1 on, below 2,147,483,648"),
    (["--max-tokens", "9" * 20], "argument --max-tokens: 99999999999999999999 is no count: give a"),
    (["--speed"], "unrecognized arguments: --speed"),
]


@pytest.mark.parametrize(("arguments", "words"), MISUSED, ids=[words for _, words in MISUSED])
def test_options_that_do_not_fit(run, text, arguments, words):
    status, out, err = run(text, *arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_an_unknown_device(run, text):
    status, out, err = run(text, "--device", "toaster", room="torch")
    assert (status, out) == (1, "")
    assert "device 'toaster' cannot be had here: pass cpu, or cuda where there is a GPU" in err
    assert err.count("\n") == 1


def test_a_checkpoint_that_is_missing_cut_short_or_of_another_vocabulary(tmp_path, text, capsys):
    def fails(path):
        assert main([str(path), str(text), "--room", "numpy"]) == 1
        err = capsys.readouterr().err
        assert err.startswith("qkv translate: ")
        assert err.count("\n") == 1
        return err

    assert "No such file" in fails(tmp_path / "nowhere.json")
    assert "holds no checkpoint" in fails(tmp_path)
    path = tmp_path / "best.json"
    checkpoint().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert "is no checkpoint: it is cut short" in fails(tmp_path)
    content = json.loads(whole)
    (parameters,) = tmp_path.glob("parameters-*")
    held = parameters.read_bytes()
    path.write_bytes(whole)
    parameters.write_bytes(held[:-1])
    assert "is not what was saved" in fails(tmp_path)
    parameters.write_bytes(held)
    content["files"]["target"] = content["files"]["source"]
    path.write_text(json.dumps(content))
    assert "not" in fails(tmp_path)


@pytest.mark.parametrize("room", ["numpy", "torch"])
def test_how_much_of_a_line_was_unknown_is_said(run, text, room):
    """Another script, digits, and one strange word among others."""
    text.write_text(lines([SOURCES[0], "고양이가 잤다 .", "", "The 77 99", "The 77 cat slept ."]))
    assert not Translator.from_checkpoint(checkpoint()).source.unknown_words(SOURCES[0])
    status, _, err = run(text, room=room)
    assert status == 0
    words = "words unknown to the model, or known by their letters alone"
    assert err.splitlines()[0] == (
        f"qkv translate: lines 2 (2 of 3 words), 4 (2 of 3 words), 5 (1 of 5 words): {words}: "
        "the translation may be wrong"
    )


def shared(**metadata):
    """A checkpoint, of a model that has learnt nothing, with one vocabulary for both languages."""
    words = train_word_level([*SOURCES, *TARGETS])
    config = TransformerConfig(len(words), d_model=4, n_heads=2, d_ff=3, n_layers=1, pad_id=0)
    model = qn.Transformer(config, rng=np.random.default_rng(0))
    return Checkpoint(config, state_dict(model), words, words, metadata)


def test_the_words_of_the_other_language_are_unknown_in_a_source(run, text, tmp_path):
    """Where both have one vocabulary, and the checkpoint names the scripts of the sources."""
    text.write_text(lines([SOURCES[1], "고양이가 매트 위에", "The 고양이가 slept.", "잤다. 1984"]))
    own = ["--max-new-tokens", "1"]
    for metadata, named in (
        ({"scripts": ["LATIN"]}, "2 (3 of 3 words), 3 (1 of 3 words), 4 (2 of 2 words)"),
        ({"scripts": ["HANGUL", "LATIN"]}, "4 (1 of 2 words)"),
        ({}, "4 (1 of 2 words)"),  # of an older version
        ({"scripts": 3}, "4 (1 of 2 words)"),
        ({"scripts": [["LATIN"]]}, "4 (1 of 2 words)"),
    ):
        shared(**metadata).save(tmp_path / "best.json")
        status, _, err = run(text, *own, model=tmp_path)
        assert status == 0
        said = re.findall(r"lines? (.*): words unknown to the model, or known by their", err)
        assert said == [named]


def test_which_words_a_tokenizer_does_not_know():
    each = {kind: checkpoint(kind).source for kind in ("bpe", "words", "characters")}
    for tokenizer in each.values():
        assert tokenizer.unknown_words("The 고양이 cat") == ["고양이"]
        assert tokenizer.unknown_words("") == []
        assert [tokenizer.unknown_words(source) for source in SOURCES] == [[]] * len(SOURCES)


def test_which_words_many_pieces_of_words_do_not_know():
    """Rows of letters and pairs of them; of the sentences that are held back, no word."""
    learnt, held = split_by_combination(sentences(), 0.1, Random(0))
    texts = [" ".join(words) for pair in learnt for words in (pair.source, pair.target)]
    large = train_bpe(texts, 4000)
    assert len(large.merges) >= MANY_MERGES
    for text, unknown in (
        ("The wtkzh cat 1984 kbpmq", "wtkzh 1984 kbpmq"),
        ("the blorgs snarfled quickly", "blorgs snarfled quickly"),
        ("Ich habe eine Katze gesehen", "habe eine Katze gesehen"),
        ("The qwerty sat on the elephant", "qwerty elephant"),
    ):
        assert large.unknown_words(text) == unknown.split()
    few = train_bpe(texts, len(large) - len(large.merges) + MANY_MERGES)
    assert len(few.merges) == MANY_MERGES
    sources = {" ".join(pair.source) for pair in held}
    for tokenizer in (large, few):
        assert not any(tokenizer.unknown_words(word) for word in set(" ".join(sources).split()))


def test_the_torch_room_is_taken_where_there_is_torch(saved, text, capfd, monkeypatch):
    taken = []
    real = Translator.from_checkpoint
    monkeypatch.setattr(translate.Translator, "from_checkpoint",
                        lambda path, room, device: taken.append(room) or real(path))  # fmt: skip
    assert main([str(saved), str(text)]) == 0
    monkeypatch.setattr("qkv.commands.translate_arguments.find_spec", lambda name: None)
    assert main([str(saved), str(text)]) == 0
    assert taken == ["torch", "numpy"]
    capfd.readouterr()


def test_a_reader_who_leaves_early(saved, text):
    """As `qkv translate … | head -n 1`: no traceback."""
    process = subprocess.Popen(
        [*COMMAND, str(saved), "--room", "numpy"], env=BUFFERED,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    process.stdin.write(f"{SOURCES[0]}\n".encode())
    process.stdin.flush()
    ready(process.stdout).readline()
    process.stdout.close()
    process.stdin.write(f"{SOURCES[0]}\n".encode())
    process.stdin.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=WAIT_SECONDS) == 141


def test_ctrl_c_ends_it_in_order(saved, run, text, tmp_path, monkeypatch):
    process = subprocess.Popen(
        [*COMMAND, str(saved), "--room", "numpy"], env=BUFFERED,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    process.stdin.write(f"{SOURCES[0]}\n".encode())
    process.stdin.flush()
    ready(process.stdout).readline()  # it has begun, and waits for the next
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out, err) == (130, b"", b"\nStopped.\n")

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Translator, "translate", stop)
    kept = tmp_path / "out.txt"
    kept.write_text("as it was")
    assert run(text, "--out", kept)[0] == 130
    assert kept.read_text() == "as it was"


class Page(HTMLParser):
    """The tags and attributes of a page, the text of its cells and of its data."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.cells, self.data, self.inside = [], [], [], "", ("", {})
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside = tag, dict(attrs)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        self.inside = "", {}

    def handle_data(self, data):
        tag, attrs = self.inside
        if tag == "script" and attrs.get("type") == "application/json":
            self.data += data
        elif tag in ("td", "th", "span"):
            self.cells[-1] += data


HOSTILE = ['<img src="x" onerror="alert(1)"> cat', "</script><script>alert(1)</script>",
           "<!-- <script> & \u2028 'mat' \" $style ${x}", "--> ]]> \\u003c `${1}`"]  # fmt: skip


def hostile():
    """A model whose vocabularies hold words that would be markup."""
    words = train_word_level(HOSTILE)
    held = checkpoint("words")
    rng = np.random.default_rng(0)
    config = replace(held.config, vocab_size=len(words), target_vocab_size=len(words))
    return Translator(qn.Transformer(config, rng=rng).eval(), words, words, max_len=12)


def test_what_a_sentence_holds_stays_text():
    ours = hostile()
    maps = [ours.attention(text, text[::-1] if n % 2 else text) for n, text in enumerate(HOSTILE)]
    page = Page(attention_page(maps))
    plain = Page(attention_page([ours.attention("a")]))
    assert set(page.tags) == set(plain.tags)
    assert page.tags.count("script") == 2
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
    found = json.loads(page.data)
    assert [one["text"] for one in found] == [each.text for each in maps]
    assert "<img" in maps[0].source
    assert [c for c in page.cells if "<img" in c]  # shown as it is


@pytest.mark.parametrize("kind", ["bpe", "words"])
def test_the_page_holds_the_weights_of_every_head(kind):
    maps = Translator.from_checkpoint(checkpoint(kind)).attention(SOURCES[3])
    (found,) = json.loads(Page(attention_page([maps])).data)
    assert (found["text"], found["translation"]) == (SOURCES[3], TARGETS[3])
    each = [maps.merge_subwords(), maps] if kind == "bpe" else [maps]
    for view, look in zip(found["views"], each, strict=True):
        for name in KINDS:
            assert tuple(view[name]["rows"]) == look.queries(name)
            assert tuple(view[name]["columns"]) == look.keys(name)
            weights = np.array(view[name]["weights"]).reshape(look.stack(name).shape) / SCALE
            assert np.abs(weights - look.stack(name)).max() <= 0.5 / SCALE + 1e-6


def test_without_scripts_there_is_the_mean_over_layers_and_heads():
    maps = Translator.from_checkpoint(checkpoint()).attention(SOURCES[0]).merge_subwords()
    cells = Page(attention_page([maps])).cells
    head, rows = cells[: len(maps.source) + 1], cells[len(maps.source) + 1 :]
    mean = maps.stack("cross").mean((0, 1))
    expected = [[word, *(f"{x:.2f}" for x in row)] for word, row in
                zip(maps.target, mean, strict=True)]  # fmt: skip
    assert head == ["", *maps.source]
    assert rows[: len(expected) * len(head)] == [cell for row in expected for cell in row]


def test_the_command_draws_a_page(run, text, tmp_path):
    page = tmp_path / "out.html"
    text.write_text(lines(["", *SOURCES * 3]), "utf-8")
    status, out, err = run(text, "--attention", page, "--method", "beam")
    assert (status, out) == (0, lines(["", *TARGETS * 3]))
    assert err == f"qkv translate: {page} shows the first 20 of 22 lines\n"
    found = json.loads(Page(page.read_text("utf-8")).data)
    assert [one["translation"] for one in found] == (TARGETS * 3)[:19]
    text.write_text("\n\n")
    assert run(text, "--attention", page)[0] == 0
    assert "There was no sentence to draw." in page.read_text("utf-8")


def test_what_is_no_file_is_written_to_and_stays(run, text, tmp_path):
    """A pipe as --out, and a link as --attention: as root, --out /dev/null has to leave it."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    (tmp_path / "pages").mkdir()
    link.symlink_to("pages/who.html")
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert run(text, "--out", pipe, "--attention", link) == (0, "", "")
        assert reader.communicate(timeout=WAIT_SECONDS)[0].decode() == lines(TARGETS)
    assert pipe.is_fifo()
    assert os.readlink(link) == "pages/who.html"
    assert (tmp_path / "pages" / "who.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    link.unlink()
    link.symlink_to("nowhere/who.html")
    status, out, err = run(text, "--attention", link)  # told before anything is translated
    assert (status, out) == (1, "")
    assert "link cannot be written: name a file in a folder that is there" in err


def test_what_is_read_is_not_written_over(saved, text, tmp_path, run):
    """Neither the text, nor the checkpoint, by whatever name; and two files are two."""
    model, link, page = tmp_path / "model", tmp_path / "link", tmp_path / "page"
    shutil.copytree(saved, model)
    for name in ("run.json", "log.jsonl"):
        (model / name).write_text("{}")
    link.symlink_to(model / "best.json")
    before = {path: path.read_bytes() for path in (*model.iterdir(), text)}
    for more in (
        *(["--out", path] for path in (*before, link)),
        ["--attention", text],
        ["--reference", text, "--out", text],
        ["--out", page, "--attention", page],
        ["--out", page, "--attention", tmp_path / "model" / ".." / "page"],
    ):
        status, out, err = run(text, *more, model=model)
        assert (status, out, err.count("\n")) == (1, "", 1), more
        assert re.search("would write over what is read|are both .*: name two files", err)
    assert {path: path.read_bytes() for path in (*model.iterdir(), text)} == before
    assert not page.exists()
    assert run(text, "--out", os.devnull, "--attention", os.devnull, model=model)[0] == 0
    for _ in range(2):  # a file of one's own beside the model
        assert run(text, "--out", model / "mine.json", model=model) == (0, "", "")


def test_what_else_lies_beside_a_checkpoint_is_no_hindrance(
    saved, text, tmp_path, run, monkeypatch
):
    """A folder or a file that cannot be read, by a name of ours; a name that no file can have."""
    model = tmp_path / "model"
    shutil.copytree(saved, model)
    (model / "notes.json").mkdir()
    (model / "locked.json").write_text("{}")
    (model / "odd.json").write_text(json.dumps({"files": {"source": "a\0b"}}))
    read = checkpoints.read_regular_file

    def refuse(path):
        if path.name == "locked.json":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(checkpoints, "read_regular_file", refuse)
    out = tmp_path / "out"
    out.write_text("old")
    assert run(text, "--out", out, model=model) == (0, "", "")
    assert out.read_text("utf-8") == lines(TARGETS)
    status, _, err = run(text, "--out", model / "best.json", model=model)
    assert (status, "would write over what is read" in err) == (1, True)


def test_the_text_of_standard_input_is_not_written_over(saved, text):
    command = [*COMMAND, str(saved), "--room", "numpy", "--out", str(text)]
    before = text.read_bytes()
    with text.open("rb") as file:
        done = subprocess.run(
            command, stdin=file, capture_output=True, text=True, timeout=WAIT_SECONDS
        )
    assert (done.returncode, text.read_bytes()) == (1, before)
    assert f"--out {text} would write over what is read" in done.stderr


def test_options_may_stand_before_the_text_or_behind_it(saved, text, capfd):
    for words in (
        [saved, "--method", "beam", text, "--room", "numpy"],
        ["--room", "numpy", saved, text, "--method", "beam"],
        ["--room", "numpy", "--method", "beam", saved, text],
    ):
        assert main(list(map(str, words))) == 0
        assert capfd.readouterr() == (lines(TARGETS), "")
    for words, mend in (([], "required: CHECKPOINT"), ([saved, text, text], "unrecognized")):
        with pytest.raises(SystemExit):
            main(list(map(str, words)))
        assert mend in capfd.readouterr().err


def test_a_line_without_an_end_is_refused(run, tmp_path, monkeypatch):
    words = "has more than 1,048,576 bytes: split it, or take it out\n"
    assert run("/dev/zero") == (1, "", f"qkv translate: line 1 of /dev/zero {words}")
    given(monkeypatch, SOURCES[1].encode() + b"\n" + b"cat " * 2**19 + b"\n")
    translate.sys.stdin.buffer = dripping(translate.sys.stdin.buffer.read(), 2**16)
    assert run() == (1, lines(TARGETS[1:2]), f"qkv translate: line 2 of standard input {words}")


@pytest.mark.parametrize("arguments", [["{many}"], ["{text}", "--reference", "{many}"]])
def test_more_text_than_allowed_is_refused(run, text, tmp_path, arguments):
    many = tmp_path / "many.gz"
    many.write_bytes(gzip.compress(b"\n" * 2**15))
    names = {"text": text, "many": many}
    status, out, err = run(*(part.format(**names) for part in arguments), "--max-text", 1)
    assert (status, out) == (1, "")
    words = f"{many} holds more than 1 MiB of text, of which line 16,385 is"
    assert err == f"qkv translate: {words}: split it, or raise --max-text\n"
    assert run(many, "--max-text", 2) == (0, "\n" * 2**15, "")


def test_what_was_written_out_is_not_kept(saved, monkeypatch, capfdbinary):
    translator, text = Translator.from_checkpoint(saved), lines(SOURCES * 3).encode()
    for options, is_kept in (([], False), (["--out", "x"], True), (["--reference", "x"], True)):
        given(monkeypatch, text)
        parsed = translate.parse([str(saved), *options])
        references = TARGETS * 3 if "--reference" in options else None
        found = translate.translate(translator, parsed, references)
        assert found == ((SOURCES * 3)[:20], TARGETS * 3 if is_kept else [])


def test_control_characters_do_not_reach_the_terminal(text, tmp_path, capfd):
    """Neither from the words of a checkpoint, nor from what an error says of it."""
    checkpoint("words").save(tmp_path / "best.json")
    whole = json.loads((tmp_path / "best.json").read_text())
    target = tmp_path / whole["files"]["target"]
    tokens = json.loads(target.read_text("utf-8"))
    tokens["tokens"][-1] = "\x1b]0;mine\x07"
    data = json.dumps(tokens).encode()
    name = f"target-{sha256(data).hexdigest()[:16]}.json"
    (tmp_path / name).write_bytes(data)
    for change in (
        {"files": whole["files"] | {"target": name}},
        {"model": whole["model"] | {"\x1b[2J": 1}},
    ):
        (tmp_path / "best.json").write_text(json.dumps(whole | change))
        assert main([str(tmp_path), str(text), "--room", "numpy"]) == 1
        said = capfd.readouterr()
        assert said.out == ""
        assert "\\x1b" in said.err
        assert not {"\x1b", "\x07"} & set(said.err)


def test_a_line_feed_in_a_name_begins_no_line(tmp_path, capfd):
    missing = tmp_path / "a\nqkv translate: all is well"
    assert main(["pretrained", str(missing), "--room", "numpy"]) == 1
    (said,) = capfd.readouterr().err.splitlines()
    assert "a\\x0aqkv translate: all is well: No such file" in said
    missing.write_text("The lion slept\nThe zorp slept\n")
    assert main(["pretrained", str(missing), "--room", "numpy"]) == 1
    said = capfd.readouterr().err.splitlines()
    assert said[1:3] == ["  line 1: 'lion'", "  line 2: 'zorp'"]
    assert "a\\x0aqkv translate: all is well has words that the model" in said[0]


def test_a_line_feed_in_a_translation_does_not_break_the_line():
    assert translate.as_bytes(["one\ntwo", "", "three"]) == b"one two\n\nthree\n"
