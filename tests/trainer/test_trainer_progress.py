"""What `fit` shows by itself: a bar in a terminal, a line in a notebook, elsewhere nothing."""

import os
import pty
import subprocess
import sys
from contextlib import suppress

import nbformat
import pytest
from nbclient import NotebookClient

from qkv.trainer.events import FitStart, Scores, ValidationResult
from qkv.trainer.progress import FitProgress

TRAIN = """
from qkv.torch import Transformer
from qkv.trainer import Trainer, TrainingConfig, TranslationData
from tests.helpers.training import PAIRS

data = TranslationData.from_pairs(PAIRS[3:], PAIRS[:3])
model = Transformer(data.model_config(d_model=12, d_ff=8, n_heads=2, n_layers=1))
trainer = Trainer(model, data, TrainingConfig(steps=9, max_tokens=60))
history = trainer.fit({options})
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": ":".join(filter(None, [os.getcwd(), *sys.path]))}


class Step:
    """A step whose loss may be read only where it is shown."""


@pytest.fixture
def said(monkeypatch):
    lines = []
    monkeypatch.setattr("qkv.trainer.progress.StepResult", Step)
    return lines


def step(number, loss):
    result = Step()
    result.step, result.loss = number, loss
    return result


def test_step_losses_and_the_time_left_are_said_twice_a_second_and_at_the_end(said):
    times = iter([0.0, 10.0, 11.0, 11.2, 12.0, 12.1])
    show = FitProgress(lambda *shown: said.append(shown), lambda: next(times))
    show(FitStart(4, 8))
    show(step(5, 3.0))
    show(step(6, None))  # too soon: its loss is not read
    show(ValidationResult(6, 1, 1e-3, 9, 1.0, 1.0, 2.9, Scores(2.5, 1.0, 0.0)))
    show(step(7, 2.0))
    show(step(8, 1.0))
    assert said == [
        (5, 8, "step 5 of 8, loss 3.000; 1 s, 3 s left"),
        (7, 8, "step 7 of 8, loss 2.000, validation loss 2.500; 2 s, 1 s left"),
        (8, 8, "step 8 of 8, loss 1.000, validation loss 2.500; 2 s"),
    ]


def in_a_terminal(options):
    """What a script writes to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", TRAIN.format(options=options)],
        stdin=theirs, stdout=theirs, stderr=theirs, env={**ENVIRONMENT, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    heard = b""
    with suppress(OSError):  # whoever wrote has ended
        while part := os.read(ours, 10_000):
            heard += part
    os.close(ours)
    assert process.wait(timeout=120) == 0, heard.decode()
    return heard.decode()


def test_in_a_terminal_there_is_a_bar_that_can_be_switched_off():
    assert "step 9 of 9, loss " in in_a_terminal("")
    assert in_a_terminal("progress=False") == ""


@pytest.mark.parametrize(("options", "shown"), [("", True), ("progress=False", False)])
def test_in_a_notebook_there_is_one_line_that_changes(options, shown):
    cell = nbformat.v4.new_code_cell(TRAIN.format(options=options))
    client = NotebookClient(
        nbformat.v4.new_notebook(cells=[cell]), timeout=300, startup_timeout=300
    )
    (cell,) = client.execute(env=ENVIRONMENT).cells
    texts = [output.data["text/plain"] for output in cell.outputs if "data" in output]
    assert len(texts) == len(cell.outputs) == shown
    assert not shown or texts[0].startswith("step 9 of 9, loss ")


def test_where_nobody_looks_nothing_is_written():
    done = subprocess.run(
        [sys.executable, "-c", TRAIN.format(options="")], env=ENVIRONMENT, timeout=300,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
