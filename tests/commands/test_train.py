"""`qkv train` as its user knows it: what it leaves behind, and what it says."""

import json

import pytest
import torch

from qkv import commands
from qkv.checkpoint import Checkpoint
from qkv.commands import train
from qkv.commands.train.parser import argument_docs, parser, read
from qkv.config import TransformerConfig
from qkv.translator import Translator
from tests.helpers.training import PAIRS, SHORT, SMALL, log, same, write_pairs


@pytest.fixture
def files(tmp_path):
    return write_pairs(tmp_path / "text")


def run(*arguments):
    return train.main([*SMALL, *map(str, arguments)])


def test_a_run_leaves_checkpoints_and_a_log(tmp_path, files, capsys):
    out = tmp_path / "run"
    assert run(*files, *SHORT, "--out", out) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "61 pairs to learn from, 3 to validate with" in said.out
    assert "step 9 of 9, epoch 2: loss" in said.out
    assert "The training loss is taken with label smoothing 0.1 and dropout 0.1, the v" in said.out
    rows = log(out)
    assert [row["step"] for row in rows] == [3, 6, 9]
    assert all(row["loss"] > 0 and row["cpu_seconds"] > 0 for row in rows)
    last = Checkpoint.load(out / "last.json", optimizer=True)
    assert (last.metadata["step"], last.metadata["max_len"]) == (9, 128)
    assert last.metadata["scores"] == {name: rows[-1][name] for name in ("loss", "bleu", "exact")}
    assert "tok:13a" in last.metadata["signature"]
    assert last.metadata["signature"] in said.out
    assert last.optimizer["step"] == 9
    best = Checkpoint.load(out).metadata
    averaged = Checkpoint.load(out / "average.json").metadata
    assert averaged["averaged"] == 2
    assert best["scores"]["loss"] == min(
        [averaged["scores"]["loss"], *(row["loss"] for row in rows)]
    )
    assert not list(out.glob("step-*"))
    parts = {path.name.partition("-")[0] for path in out.iterdir()}
    assert parts == {"run.json", "log.jsonl", "last.json", "best.json", "average.json", "source",
                     "target", "parameters", "optimizer"}  # fmt: skip
    assert len(list(out.glob("parameters-*"))) <= 3


def test_the_name_of_a_folder_is_said_as_it_is(tmp_path, files, capsys):
    out = tmp_path / "run:cat:[bold]"
    assert run(*files, *SHORT, "--out", out) == 0
    said = capsys.readouterr().out
    assert f"saved in {out}.\n" in said
    assert f"The best model is {out / 'best.json'}.\n" in said


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ("--dropout 0.2", "with label smoothing 0.1 and dropout 0.2, the validation loss without."),
        ("--dropout 0", "with label smoothing 0.1, the validation loss without."),
        ("--dropout 0 --label-smoothing 0", None),
    ],
)
def test_what_is_in_the_training_loss_alone_is_said(tmp_path, files, capsys, own, words):
    assert run(*files, *SHORT, *own.split(), "--out", tmp_path / "run") == 0
    said = capsys.readouterr().out
    assert said.count("The training loss is taken") == (words is not None)
    assert words is None or f"The training loss is taken {words}\n" in said


def test_a_small_language_is_learnt_and_translated(tmp_path, files, capsys):
    out = tmp_path / "run"
    own = "--d-model 32 --d-ff 64 --learning-rate 0.01 --steps 150 --warmup 20 --dropout 0"
    own += " --max-tokens 200"
    assert run(*files, "--out", out, "--validate-every", 50, "--valid-pairs", 6, *own.split()) == 0
    best = Checkpoint.load(out)
    assert best.metadata["scores"]["exact"] == 100
    assert best.metadata["scores"]["bleu"] > 99
    assert best.metadata["scores"]["loss"] < 0.2
    for room in ("numpy", "torch"):
        translator = Translator.from_checkpoint(best, room)
        assert translator.translate([s for s, _ in PAIRS]) == [t for _, t in PAIRS]
    capsys.readouterr()


def test_the_same_seed_gives_the_same_model_and_another_another(tmp_path, files):
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        assert run(*files, *SHORT, "--out", tmp_path / name, "--seed", seed) == 0
    a, b, c = (Checkpoint.load(tmp_path / name / "last.json").parameters for name in "abc")
    same(a, b)
    assert any((a[name] != c[name]).any() for name in a)


OPTIONS = [
    "--words",
    "--separate-vocabularies --vocab-size 40",
    "--tie-word-embeddings none --no-norm-first --norm rms --activation swiglu",
    "--n-decoder-layers 2",
    "--separate-vocabularies --words --positions learned --max-len 9",
    "--optimizer adamw --weight-decay 0.1 --schedule noam --learning-rate 0.5 --warmup 3",
    "--gradient-accumulation 3 --steps 4 --label-smoothing 0 --max-grad-norm 0.1 --betas 0.8 0.9",
    "--epochs 0.5 --seed 3 --average 1",
    "--bf16",
]


@pytest.mark.parametrize("own", OPTIONS)
def test_every_option_trains(tmp_path, files, own):
    if "--bf16" in own and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("this processor has no bfloat16")
    out = tmp_path / "run"
    steps = [] if "--epochs" in own else SHORT[:2]
    assert run(*files, *SHORT[2:], *steps, *own.split(), "--out", out) == 0
    found = Checkpoint.load(out)
    assert {str(x.dtype) for x in found.parameters.values()} == {"float32"}
    assert (found.source.digest != found.target.digest) == ("--separate-vocabularies" in own)
    assert Translator.from_checkpoint(found).translate(PAIRS[0][0]) is not None
    assert (out / "average.json").exists() == ("--average 1" not in own)


def test_longer_pairs_are_left_out_and_counted(tmp_path, capsys):
    long = " ".join(["cat"] * 20)
    text = write_pairs(tmp_path / "text", [*PAIRS, (long, "short"), ("short", long)])
    valid = write_pairs(tmp_path / "valid", [*PAIRS[:5], (long, long)])
    valid = [option.replace("--", "--valid-") for option in valid]
    own = ["--words", "--max-len", "10", "--out", tmp_path / "run"]
    assert run(*text, *valid, *SHORT, *own) == 0
    said = capsys.readouterr().out
    assert "2 pairs for training with more than --max-len 10 tokens, left out." in said
    assert "1 pair for validation with more than --max-len 10 tokens, left out." in said
    assert "64 pairs to learn from, 5 to validate with" in said


def test_help_names_every_option(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["qkv", "train", "--help"])
    with pytest.raises(SystemExit) as ended:
        commands.main()
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for name in vars(read([])[0]):
        assert f"--{name.replace('_', '-')}" in said


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("--norm-placement pre", "--norm-first"),
        ("--norm-placement=post", "--no-norm-first"),
        ("--words --tie none --tsv a", "--words --tie-word-embeddings none --tsv a"),
        ("--tie=all", "--tie-word-embeddings all"),
    ],
)
def test_a_former_flag_is_read_and_the_new_one_named(capsys, former, now):
    options, given = read(former.split())
    replaced = capsys.readouterr().err
    assert read(now.split()) == (options, given)
    assert capsys.readouterr().err == ""
    flag = next(word for word in now.split() if "norm" in word or "tie" in word)
    assert f" is {flag}" in replaced
    assert replaced.count("\n") == 1


def test_a_former_flag_with_another_value_is_refused(capsys):
    with pytest.raises(SystemExit):
        read(["--norm-placement", "both"])
    assert "--norm-placement" in capsys.readouterr().err


def test_what_help_says_of_an_option_is_its_docstring(capsys):
    for action in parser()._actions:
        assert action.help, action.dest
    with pytest.raises(SystemExit):
        train.main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "the longest gradient; a longer one is clipped; 1 " in said
    assert f" {argument_docs(TransformerConfig)['dropout']}; 0.1 " in said
    assert "layers of the decoder; by default n_layers " in said
    assert "10 for files. With --resume, more than a run had " in said


def test_plain_lines_where_there_is_no_terminal(tmp_path, files, capsys, monkeypatch):
    monkeypatch.setattr("qkv.commands.train.progress.PLAIN_SECONDS", 0.0)
    assert run(*files, *SHORT, "--out", tmp_path / "run") == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert sum(line.startswith("step 4 of 9  loss ") for line in said.splitlines()) == 1
    assert " tokens/s  0:0" in said


def test_the_log_is_json_line_by_line(tmp_path, files):
    assert run(*files, *SHORT, "--out", tmp_path / "run") == 0
    for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines():
        assert set(json.loads(line)) == {
            "step", "epoch", "learning_rate", "tokens", "seconds", "cpu_seconds",
            "training_loss", "loss", "bleu", "exact"}  # fmt: skip
