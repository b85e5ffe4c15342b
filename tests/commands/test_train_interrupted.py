"""A run that is killed at any moment goes on, and ends with the same parameters bit for bit."""

import json
import re
import shutil
import signal
import subprocess

import pytest

from qkv.checkpoint import Checkpoint
from qkv.commands import train
from qkv.numpy import linear_schedule
from qkv.trainer import TrainingRun
from tests.helpers.training import SHORT, SMALL, log, same, start, write_pairs
from tests.helpers.waiting import until

# Runs commands one after the other, each in a process of its own that kills itself without a word
# before its n-th file, step, or validation. Forked, they need not load torch again.
KILLED = """
import json, os, signal, sys
from pathlib import Path

from qkv import checkpoint
from qkv.commands.train import command
from qkv.trainer import loop, trainer, training_run

PLACES = {
    "file": [(checkpoint, "atomic_write"), (training_run, "atomic_write")],
    "part": [(os, "fsync")],  # the file is there in part
    "name": [(os, "replace")],  # it is there whole, under another name
    "unlink": [(Path, "unlink")],
    "step": [(loop, "clip_grad_norm")],
    "validation": [(trainer, "evaluate")],
}


def kill_before(what, n):
    left = [n]

    def killed(true):
        def call(*own, **more):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return true(*own, **more)

        return call

    for module, name in PLACES[what]:
        setattr(module, name, killed(getattr(module, name)))


for line in sys.stdin:
    what, n, arguments = json.loads(line)
    child = os.fork()
    if not child:
        os.dup2(2, 1)
        kill_before(what, n)
        os._exit(command.main(arguments))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
OWN = [*SMALL, *SHORT, "--dropout", "0.2", "--gradient-accumulation", "2"]
RESUME = [*SMALL[-4:], "--resume"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nobody interrupts, and how to call it."""
    folder = tmp_path_factory.mktemp("whole")
    own = [*OWN, *write_pairs(folder / "text")]
    assert train.main([*own, "--out", str(folder / "run")]) == 0
    return own, folder / "run"


def check(found, whole):
    """Everything of two runs is the same, but for the times."""
    for name in ("last", "best", "average"):
        one, other = (Checkpoint.load(run / f"{name}.json") for run in (found, whole))
        same(one.parameters, other.parameters)
        assert one.metadata["scores"] == other.metadata["scores"]
    one, other = (Checkpoint.load(run / "last.json", optimizer=True) for run in (found, whole))
    same(one.optimizer, other.optimizer)
    times = ("seconds", "cpu_seconds")
    rows = [
        [{n: x for n, x in r.items() if n not in times} for r in log(f)] for f in (found, whole)
    ]
    assert rows[0] == rows[1]
    assert [row["seconds"] for row in log(found)] == sorted(row["seconds"] for row in log(found))
    assert kinds(found) == kinds(whole)


def kinds(folder):
    return sorted(path.name.partition("-")[0] for path in folder.iterdir())


@pytest.fixture(scope="module")
def run_killed():
    """Call `qkv train` so that it is killed; its exit status."""
    with start(KILLED, stdin=subprocess.PIPE) as server:

        def call(what, n, *arguments):
            line = json.dumps([what, n, list(map(str, arguments))])
            print(line, file=server.stdin, flush=True)
            return int(server.stdout.readline())

        yield call
        server.stdin.close()


@pytest.mark.parametrize(
    ("what", "n"),
    [
        ("step", 0),  # nothing is saved but the options
        ("step", 7),  # in the second epoch
        ("file", 2),  # inside the first save
        ("part", 12),  # inside the second
        ("name", 14),
        ("unlink", 1),
        ("validation", 1),
        ("validation", 3),  # that of the average
    ],
)
def test_killed_and_resumed_it_ends_with_the_same_parameters(tmp_path, whole, run_killed, what, n):
    own, expected = whole
    out = tmp_path / "run"
    assert run_killed(what, n, *own, "--out", out) == -signal.SIGKILL
    assert train.main([*RESUME, "--out", str(out)]) == 0
    check(out, expected)


def test_killed_again_and_again(tmp_path, whole, run_killed):
    """A little later each time: it gets on as soon as it lives to the end of a save."""
    own, expected = whole
    out = tmp_path / "run"
    for n in range(4, 60, 6):
        more = RESUME if (out / "run.json").exists() else own
        if (status := run_killed("file", n, *more, "--out", out)) == 0:
            break
        assert status == -signal.SIGKILL
    assert n > 4
    check(out, expected)


def test_a_run_that_is_complete_stays_as_it_is(tmp_path, whole, capsys):
    _, run = whole
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    assert train.main([*RESUME, "--out", str(run)]) == 0
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
    assert "Going on from step 9 of 9." in capsys.readouterr().out


@pytest.mark.parametrize("schedule", ["linear", "noam"])
def test_a_run_at_its_end_goes_on_for_longer_and_says_how(tmp_path, capsys, schedule):
    own = [*OWN, *write_pairs(tmp_path / "text"), "--schedule", schedule, "--warmup", "2"]
    out = tmp_path / "run"
    assert train.main([*own, "--out", str(out)]) == 0
    capsys.readouterr()
    assert train.main([*RESUME, "--steps", "18", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"Going on from step 9 of 18\.\nThe run had 9 steps, and has 18 now\.", said)
    assert ("The learning rate goes on as it would have." in said) == (schedule == "noam")
    if schedule == "linear":
        rates = linear_schedule(9, 9, 2, 2e-3), linear_schedule(10, 18, 2, 2e-3)
        assert re.search(rf"The learning rate, {rates[0]:.2g} at the last step, goes on at ", said)
        assert f"goes on at {rates[1]:.2g}, as in a run of 18, and falls to 0 at the end." in said
    assert [row["step"] for row in log(out)] == [3, 6, 9, 12, 15, 18]
    assert train.main([*RESUME, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "It is at its end. To train on, give more --epochs or --steps." in said
    assert "The learning rate" not in said
    assert len(log(out)) == 6


def test_a_run_begun_by_steps_goes_on_by_epochs(tmp_path, whole, capsys):
    """Nine steps are two epochs and a quarter; of files, a run has ten where nothing is said."""
    out = tmp_path / "run"
    shutil.copytree(whole[1], out)

    def resume(epochs):
        status = train.main([*RESUME, "--epochs", epochs, "--out", str(out)])
        return status, TrainingRun(out, resume=True).stored().training

    status, training = resume("2")
    assert (status, training.steps, training.epochs) == (1, 9, 2.25)
    few = (
        "--steps 8, by --epochs 2.0, is not how this run began: it has --steps 9. Leave it out, gi"
    )
    assert few in capsys.readouterr().err
    for epochs, steps in (("3", 12), ("10", 40)):
        status, training = resume(epochs)
        assert (status, training.steps, training.epochs) == (0, steps, float(epochs))
        assert log(out)[-1]["step"] == steps


def test_control_c_says_how_to_go_on(tmp_path, whole):
    own, _ = whole
    out = tmp_path / "run"
    process = start("", "-m", "qkv.commands.train", *own, "--steps", "100000", "--out", out)
    until(lambda: (out / "last.json").exists() or process.poll() is not None, "nothing is saved")
    assert process.poll() is None, process.communicate()[1]
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    step = json.loads((out / "last.json").read_text())["metadata"]["step"]
    assert said == f"Interrupted. Go on from step {step} with: qkv train --resume --out {out}\n"
    Checkpoint.load(out / "last.json", optimizer=True)
    assert not list(out.glob("*.part"))


def test_before_anything_is_saved_control_c_says_so(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("qkv.trainer.data.read_texts", interrupted)
    assert train.main([*SMALL, "--out", str(tmp_path / "run")]) == 130
    assert capsys.readouterr().err == "Interrupted. Nothing was saved yet.\n"
