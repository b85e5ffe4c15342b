"""A run that diverges is told so at once, by the number of the update; and which model is best."""

import math
import re

import pytest
import torch
from training import SHORT, SMALL, start, write_pairs

from qkv.commands import train
from qkv.commands.train import finite
from qkv.commands.train.evaluation import better
from qkv.commands.train.finite import FiniteCheck

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
SAID = re.compile(
    r"qkv train: the (?:loss|gradient) became (?:NaN|infinite) at update (\d+): begin another run "
    r"with a lower rate \(--rate\), or with a longer warm-up \(--warmup\)\n"
)


@pytest.mark.parametrize("own", ["", "--accumulate 2", "--bf16", "--optimizer adamw --clip 9"])
def test_it_ends_at_the_update_and_not_at_the_next_validation(tmp_path, capsys, own):
    if "--bf16" in own and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("this processor has no bfloat16")
    text = write_pairs(tmp_path / "text")
    more = ["--validate-every", "9", "--rate", "1e30", *own.split(), "--out", str(tmp_path / "run")]
    assert train.main([*SMALL, *SHORT, *text, *more]) == 1
    found = SAID.fullmatch(capsys.readouterr().err)
    assert int(found[1]) in (2, 3)  # the first is sound, and its step throws the parameters away
    assert not (tmp_path / "run" / "last.json").exists()


def test_processes_stop_together_and_one_of_them_says_why(tmp_path):
    text = write_pairs(tmp_path / "text")
    own = [*SMALL, *SHORT, *text, "--validate-every", "9", "--rate", "1e30"]
    process = start("", *TORCHRUN, "-m", "qkv.commands.train", *own, "--out", tmp_path / "run")
    said = process.communicate(timeout=300)[1]
    assert process.returncode != 0
    assert len(SAID.findall(said)) == 1, said


def number(value):
    return torch.tensor(value)


def test_on_a_processor_each_update_is_looked_at():
    check = FiniteCheck(torch.device("cpu"))
    check.add(1, number(3.0), number(1.0))
    with pytest.raises(ValueError, match="the loss became NaN at update 2: begin another run"):
        check.add(2, number(math.nan), number(math.nan))
    with pytest.raises(ValueError, match="the gradient became infinite at update 1,234"):
        check.add(1234, number(3.0), number(math.inf))


def test_an_accelerator_is_not_asked_at_each_update():
    """No number is read before the last of fifty, and then the first that is bad is named."""
    check = FiniteCheck(torch.device("cuda"))
    unread = torch.empty((), device="meta")  # raises when it is read
    for step in range(1, finite.TOGETHER):
        check.add(step, unread, unread)
    check.waiting = [(step, number(1.0), number(1.0 if step < 7 else math.nan))
                     for step, *_ in check.waiting]  # fmt: skip
    with pytest.raises(ValueError, match="the gradient became NaN at update 7:"):
        check.add(finite.TOGETHER, number(1.0), number(math.nan))
    check.add(51, number(math.inf), number(math.inf))
    with pytest.raises(ValueError, match="the loss became infinite at update 51:"):
        check.read()  # before a validation
    check.read()


def scores(bleu, loss):
    return {"bleu": bleu, "loss": loss, "exact": 0.0}


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (scores(20.0, 3.0), scores(19.0, 2.0)),  # BLEU is what a translation is measured by
        (scores(20.0, 2.0), scores(20.0, 3.0)),
        (scores(0.2, 2.0), scores(0.4, 3.0)),  # there, BLEU is chance
        (scores(1.0, 3.0), scores(0.99, 2.0)),
        (scores(0.0, 2.0), scores(0.0, 3.0)),
    ],
)
def test_the_best_is_that_of_the_highest_bleu_once_it_says_something(good, bad):
    assert better(good, bad)
    assert not better(bad, good)
    assert not better(good, good)


def test_a_run_says_which_model_is_the_best(tmp_path, capsys):
    text = write_pairs(tmp_path / "text")
    assert train.main([*SMALL, *SHORT, *text, "--out", str(tmp_path / "run")]) == 0
    words = "The best model is the one of the highest BLEU; while that is below 1, of the lowest"
    assert capsys.readouterr().out.count(words) == 1
