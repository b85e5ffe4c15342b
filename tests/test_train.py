"""`qkv train` as its user knows it: what it leaves behind, and what it says."""

import json

import pytest
import torch
from training import PAIRS, SHORT, SMALL, log, same, write_pairs

from qkv import commands
from qkv.checkpoint import Checkpoint
from qkv.commands import train
from qkv.commands.train.arguments import read
from qkv.commands.train.data import prepare
from qkv.translator import Translator


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
    rows = log(out)
    assert [row["step"] for row in rows] == [3, 6, 9]
    assert all(row["loss"] > 0 and row["cpu_seconds"] > 0 for row in rows)
    last = Checkpoint.load(out / "last.json", optimizer=True)
    assert (last.facts["step"], last.facts["max_len"]) == (9, 128)
    assert last.facts["scores"] == {name: rows[-1][name] for name in ("loss", "bleu", "exact")}
    assert "tok:13a" in last.facts["signature"]
    assert last.facts["signature"] in said.out
    assert last.optimizer["step"] == 9
    best = Checkpoint.load(out).facts
    averaged = Checkpoint.load(out / "average.json").facts
    assert averaged["averaged"] == 2
    assert best["scores"]["loss"] == min(
        [averaged["scores"]["loss"], *(row["loss"] for row in rows)]
    )
    assert not list(out.glob("step-*"))
    parts = {path.name.partition("-")[0] for path in out.iterdir()}
    assert parts == {"run.json", "log.jsonl", "last.json", "best.json", "average.json", "source",
                     "target", "parameters", "optimizer"}  # fmt: skip
    assert len(list(out.glob("parameters-*"))) <= 3


def test_a_small_language_is_learnt_and_translated(tmp_path, files, capsys):
    out = tmp_path / "run"
    own = "--d-model 32 --d-ff 64 --rate 0.01 --steps 150 --warmup 20 --max-tokens 200 --dropout 0"
    assert run(*files, "--out", out, "--validate-every", 50, "--valid-pairs", 6, *own.split()) == 0
    best = Checkpoint.load(out)
    assert best.facts["scores"]["exact"] == 100
    assert best.facts["scores"]["bleu"] > 99
    assert best.facts["scores"]["loss"] < 0.2
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
    "--separate --vocabulary 40",
    "--tie none --placement post --norm rms --activation swiglu --decoder-layers 2",
    "--separate --words --positions learned --max-len 9",
    "--optimizer adamw --weight-decay 0.1 --schedule noam --rate 0.5 --warmup 3",
    "--accumulate 3 --steps 4 --label-smoothing 0 --clip 0.1 --betas 0.8 0.9",
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
    assert (found.source.digest != found.target.digest) == ("--separate" in own)
    assert Translator.from_checkpoint(found).translate(PAIRS[0][0]) is not None
    assert (out / "average.json").exists() == ("--average 1" not in own)


def prepared(*arguments):
    options, _ = read([str(argument) for argument in arguments])
    return prepare(options)


def test_the_grammar_is_there_without_files():
    combination = prepared("--words", "--valid-pairs", 200)
    assert (len(combination.training), len(combination.validation)) == (24_695, 200)
    random = prepared("--words", "--split", "random", "--held-back", 0.2)
    assert (len(random.training), len(random.validation)) == (27_468 - 5_494, 500)
    known = {" ".join(map(str, s)) for s, _ in random.training}
    assert not any(" ".join(map(str, s)) in known for s, _ in random.validation)


def test_nothing_of_the_validation_is_in_the_vocabulary(tmp_path):
    pairs = [(f"word{n}", f"wort{n}") for n in range(40)]
    data = prepared(*write_pairs(tmp_path / "text", pairs), "--words", "--valid-pairs", 4)
    assert len(data.source) == 4 + 2 * 36
    for source, _ in data.texts:
        assert source not in data.source.tokens
    other = write_pairs(tmp_path / "valid", [("word1", "wort1"), ("new", "neu")])
    valid = [option.replace("--", "--valid-") for option in other]
    data = prepared(*write_pairs(tmp_path / "text", pairs), "--words", *valid)
    assert (len(data.training), data.texts) == (40, [("word1", "wort1"), ("new", "neu")])


def test_pairs_come_from_a_tab_separated_file_too(tmp_path):
    lines = [f"{n}\t{t}\t{s}\tsomeone\n" for n, (s, t) in enumerate(PAIRS)]
    (tmp_path / "a.tsv").write_text("".join(lines))
    data = prepared("--tsv", tmp_path / "a.tsv", "--columns", 3, 2, "--words", "--valid-pairs", 9)
    assert len(data.training) == len(PAIRS) - 6  # no more than a tenth
    assert set(data.texts) <= set(PAIRS)


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
        assert {"step", "epoch", "rate", "tokens", "seconds", "cpu_seconds", "training_loss",
                "loss", "bleu", "exact"} == set(json.loads(line))  # fmt: skip
