"""A run that diverges is told so at once, by the number of the step; and which model is best."""

import re

import pytest
import torch

from qkv.commands import train
from tests.helpers.training import SHORT, SMALL, start, write_pairs

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
SAID = re.compile(
    r"qkv train: the (?:loss|gradient) became (?:NaN|infinite) at step (\d+): begin another run "
    r"with a lower rate \(--learning-rate\), or with a longer warm-up \(--warmup\)\n"
)


@pytest.mark.parametrize(
    "own", ["", "--gradient-accumulation 2", "--bf16", "--optimizer adamw --max-grad-norm 9"]
)
def test_it_ends_at_the_step_and_not_at_the_next_validation(tmp_path, capsys, own):
    if "--bf16" in own and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("this processor has no bfloat16")
    text = write_pairs(tmp_path / "text")
    more = [
        "--validate-every",
        "9",
        "--learning-rate",
        "1e30",
        *own.split(),
        "--out",
        str(tmp_path / "run"),
    ]
    assert train.main([*SMALL, *SHORT, *text, *more]) == 1
    found = SAID.fullmatch(capsys.readouterr().err)
    assert int(found[1]) in (2, 3)  # the first is sound, and its step throws the parameters away
    assert not (tmp_path / "run" / "last.json").exists()


@pytest.mark.parametrize("own", ["--learning-rate", "--weight-decay"])
def test_what_no_step_can_bear_is_told_at_the_validation(tmp_path, capsys, own):
    """The first step is sound, and the validation comes before the second."""
    text = write_pairs(tmp_path / "text")
    more = ["--validate-every", "1", own, "1e308", "--out", str(tmp_path / "run")]
    assert train.main([*SMALL, *SHORT, *text, *more]) == 1
    words = r"qkv train: the loss of the validation is (nan|inf): begin another run with a lower "
    assert re.fullmatch(
        rf"{words}rate \(--learning-rate\) or a lower --weight-decay\n", capsys.readouterr().err
    )
    assert not (tmp_path / "run" / "last.json").exists()


def test_processes_stop_together_and_one_of_them_says_why(tmp_path):
    text = write_pairs(tmp_path / "text")
    own = [*SMALL, *SHORT, *text, "--validate-every", "9", "--learning-rate", "1e30"]
    process = start("", *TORCHRUN, "-m", "qkv.commands.train", *own, "--out", tmp_path / "run")
    said = process.communicate(timeout=300)[1]
    assert process.returncode != 0
    assert len(SAID.findall(said)) == 1, said


def test_a_run_says_which_model_is_the_best(tmp_path, capsys):
    text = write_pairs(tmp_path / "text")
    assert train.main([*SMALL, *SHORT, *text, "--out", str(tmp_path / "run")]) == 0
    words = "The best model is the one of the highest BLEU; while that is below 1, of the lowest"
    assert capsys.readouterr().out.count(words) == 1
