"""What `qkv train` refuses: in one line on stderr, with a status of its own, and nothing lost."""

import errno
import json
import os
import re

import pytest
import torch
from torch._inductor.exc import InvalidCxxCompiler

from qkv.bridge import StateDict
from qkv.checkpoint import Checkpoint
from qkv.commands import train
from qkv.text import train_word_level
from qkv.trainer import runtime
from tests.helpers.training import PAIRS, SHORT, SMALL, log, write_pairs


@pytest.fixture
def files(tmp_path):
    return write_pairs(tmp_path / "text")


@pytest.fixture
def refused(capsys, tmp_path):
    """Call it; the one line that it says."""

    def call(*arguments, status=1, out=tmp_path / "run"):
        own = [*SMALL, *SHORT, "--out", str(out), *map(str, arguments)]
        assert train.main(own) == status
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "Traceback" not in said
        return said

    return call


def test_files_of_unequal_length_are_told_with_both_counts(tmp_path, files, refused):
    with open(files[3], "a") as file:
        file.write("one more\nand more\n")
    assert "got 64 in " in (said := refused(*files))
    assert "and 66 in " in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [(b"\n", "line 65 of .* is empty"), (b"a \xff b\n", "line 65 of .* is not UTF-8: byte 0xff")],
)
def test_a_bad_line_is_named(files, refused, line, words):
    for n, content in ((1, line), (3, b"good\n")):
        with open(files[n], "ab") as file:
            file.write(content)
    assert re.search(words, refused(*files))


def test_a_file_that_is_not_there_or_is_empty(tmp_path, files, refused):
    said = refused("--source", tmp_path / "b.de", *files[2:])
    assert said == f"qkv train: {tmp_path / 'b.de'}: No such file or directory.\n"
    (tmp_path / "empty").touch()
    assert "is empty" in refused("--source", tmp_path / "empty", *files[2:])
    assert "is no whole gzip file" in refused("--tsv", gz(tmp_path / "a.gz"))


def gz(path):
    path.write_bytes(b"\x1f\x8b\x08\x00cut")
    return path


def test_more_text_than_allowed(tmp_path, refused):
    files = write_pairs(tmp_path / "text", PAIRS * 300)
    said = refused(*files, "--max-text", 1)
    assert re.search(r"a\.(de|en) holds more than 1 MiB of text, of which line [\d,]+ is", said)
    assert said.endswith(": split it, or raise --max-text\n")


def test_lines_longer_than_the_limit_are_no_silence(files, refused):
    assert "none of the 61 pairs for training is at most 3 tokens long" in refused(
        *files, "--words", "--max-len", 3
    )
    assert "a sentence has 6 tokens, and a batch at most 5" in refused(
        *files, "--words", "--max-tokens", 5
    )


def test_too_few_pairs_to_hold_any_back(tmp_path, refused):
    assert "1 pair is too few to hold any" in refused(*write_pairs(tmp_path / "one", PAIRS[:1]))
    text = write_pairs(tmp_path / "few", PAIRS[:9])
    assert "9 pairs are too few to hold any back: name others with --valid-source" in refused(*text)
    assert "--validation-fraction: no pair is left to validate with" in refused(
        "--validation-fraction", 0
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--source a", "--source and --target go together"),
        ("--valid-target a", "--valid-source and --valid-target go together"),
        ("--source a --target b --tsv c", "--tsv and --source are two places"),
        (
            "--separate-vocabularies --tie-word-embeddings all",
            "--tie-word-embeddings all needs one vocabulary",
        ),
        ("--device tpu", "--device: tpu is unknown"),
        ("--device cuda:x", "--device: cuda:x is unknown"),
        ("--device cuda:99", "--device: there is no cuda:99 here"),
        ("--n-heads 5 --words", "--d-model must be a multiple of --n-heads, got 12 and 5"),
        ("--d-model 10000000", "this machine has"),
        ("--d-ff 1000000000000", "GiB or more, and this machine has"),
        ("--n-layers 1000000000", "lower --d-model, --d-ff or --n-layers"),
        ("--vocab-size 9", "vocab_size must be at least"),
        ("--resume", "holds no run to go on with: leave out --resume"),
    ],
)
def test_options_that_do_not_fit(tmp_path, files, refused, arguments, words):
    text = [] if "--source" in arguments else files
    assert words in refused(*text, *arguments.split())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--dropout 1", "1 is no number of at least 0 and below 1"),
        ("--epochs 0", "0 is no number above 0 and below 1,000,000,000"),
        ("--epochs 1e308", "1e308 is no number above 0 and below 1,000,000,000"),
        ("--resume --epochs 1e308", "1e308 is no number above 0 and below 1,000,000,000"),
        ("--steps 0", "0 is no whole number of at least 1 and below 1,000,000,000"),
        ("--learning-rate nan", "nan is no number"),
        (f"--seed {2**70}", "at least 0 and below 18,446,744,073,709,551,616"),
        ("--vocab-size 99999999999999999999", "and below 2,147,483,648"),
        ("--max-tokens 1.5", "1.5 is no whole number"),
        ("--activation tanh", "invalid choice: 'tanh'"),
        ("--nonsense", "unrecognized arguments: --nonsense"),
    ],
)
def test_values_that_are_none(capsys, arguments, words):
    with pytest.raises(SystemExit) as ended:
        train.main(arguments.split())
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_bfloat16_where_there_is_none(files, refused, monkeypatch):
    monkeypatch.setattr(runtime, "supports_bf16", lambda device: False)
    assert "--bf16: cpu cannot compute in bfloat16: leave it out" in refused(*files, "--bf16")


def test_without_what_it_needs(files, refused, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sacrebleu.metrics.bleu", None)
    assert "BLEU needs sacrebleu: pip install 'qkv[train]'" in refused(*files)


def test_a_folder_with_a_run_is_not_written_over(tmp_path, files, refused, capsys):
    out = ["--out", str(tmp_path / "run")]
    assert train.main([*SMALL, *SHORT, *files, *out]) == 0
    capsys.readouterr()
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    assert "holds a run already (run.json): go on with it by --resume" in refused(*files)
    assert "--seed 7 is not how this run began: it has --seed 0" in refused("--resume", "--seed", 7)
    fewer = "--steps 5 is not how this run began: it has --steps 9. Leave it out, give more, or"
    assert fewer in refused("--resume", "--steps", 5)
    assert "--bf16 is not how this run began: it has no --bf16" in refused("--resume", "--bf16")
    changed = refused("--resume", "--no-norm-first")
    assert "--no-norm-first is not how this run began: it has --norm-first" in changed
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    # what is the run's own may be said again
    assert train.main([*SMALL, *SHORT, *files, *out, "--resume"]) == 0


@pytest.fixture
def run(tmp_path, files, capsys):
    """The folder of a run that ended after its first validation."""
    assert train.main([*SMALL, *SHORT, *files, "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    return tmp_path / "run"


def test_text_that_has_changed_since(run, files, refused):
    with open(files[1], "a") as one, open(files[3], "a") as other:
        one.write("the cat hears a cat\n")
        other.write("eine Katze hört die Katze\n")
    assert "the text is another than that which the run in" in refused("--resume")


def test_text_may_move(tmp_path, run, files, refused, capsys):
    os.rename(tmp_path / "text", tmp_path / "moved")
    assert "No such file" in refused("--resume")
    moved = [option.replace("/text/", "/moved/") for option in files]
    more = ["--max-text", "300", "--resume", "--out", str(run)]
    assert train.main([*SMALL, *SHORT, *moved, *more]) == 0


@pytest.mark.parametrize("role", ["last.json", "run.json", "parameters", "optimizer", "source"])
def test_a_file_of_the_run_cut_short(run, refused, role):
    names = json.loads((run / "last.json").read_text())["files"]
    path = run / names.get(role, role)
    path.write_bytes(path.read_bytes()[:-9])
    assert f"{path.name} is" in refused("--resume")


def of_another(run, **changes) -> None:
    last = Checkpoint.load(run / "last.json", optimizer=True)
    own = {name: changes.get(name, value) for name, value in vars(last).items()}
    Checkpoint(**own).save(run / "last.json")


def test_a_checkpoint_of_another_model_vocabulary_or_run(run, refused):
    last = Checkpoint.load(run / "last.json", optimizer=True)
    changed = {**vars(last.config), "d_ff": 9}
    of_another(run, config=type(last.config)(**changed))
    assert "last.json is of a model of other sizes than this run's" in refused("--resume")
    tokens = [*last.source.tokens[:-1], "other"]
    of_another(run, source=type(last.source)(tokens, []))
    assert "the vocabulary of the source is another than that" in refused("--resume")
    of_another(run, source=last.source, config=last.config, metadata={"step": 3})
    assert "last.json is of no run: it does not say its 'epoch'" in refused("--resume")
    state: StateDict = {**last.parameters, "odd": last.parameters["encoder.norm.bias"]}
    of_another(run, metadata=last.metadata, parameters=state)
    assert "odd is not a parameter of this model" in refused("--resume")
    optimizer = {name: x for name, x in last.optimizer.items() if name != "step"}
    of_another(run, parameters=last.parameters, optimizer=optimizer)
    assert "step is missing" in refused("--resume")
    assert train_word_level(["a"]).digest != last.source.digest


@pytest.mark.parametrize("after", [2, 3, 12])
def test_a_full_disk_while_saving(tmp_path, files, refused, monkeypatch, after):
    left, true = [after], os.fsync

    def full(number):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        true(number)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        said = refused(*files)
    assert "No space left on device" in said
    run = tmp_path / "run"
    if after == 12:
        assert "What was saved before is whole. Make room. Go on from step 3 with: qkv tr" in said
        assert Checkpoint.load(run / "last.json", optimizer=True).metadata["step"] == 3
    assert not list(run.glob("*.part"))
    assert train.main([*SMALL, "--resume", "--out", str(run)]) == 0
    assert [row["step"] for row in log(run)] == [3, 6, 9]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (torch.OutOfMemoryError("out of memory\nmuch more"), "out of memory: lower --max-tokens"),
        (InvalidCxxCompiler(), r"No working C\+\+ compiler .*: leave out --compile"),
    ],
)
def test_what_torch_lacks_is_told_with_the_mend(monkeypatch, refused, error, words):
    def lack(*_):
        raise error

    monkeypatch.setattr("qkv.commands.train.command.train", lack)
    assert re.search(words, refused())


def test_a_fault_of_ours_is_not_hidden(monkeypatch, refused):
    def fail(*_):
        raise RuntimeError("a fault")

    monkeypatch.setattr("qkv.commands.train.command.train", fail)
    with pytest.raises(RuntimeError, match="a fault"):
        refused()
