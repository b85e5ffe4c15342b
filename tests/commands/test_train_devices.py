"""`qkv train` by torchrun: the run of two processes is that of one, and one of them speaks."""

import signal

import numpy as np
import pytest

from qkv.checkpoint import Checkpoint
from qkv.commands import train
from tests.helpers.tolerances import TOLERANCE
from tests.helpers.training import SHORT, SMALL, log, start, write_pairs

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A run of two processes, and the same of one."""
    folder = tmp_path_factory.mktemp("two")
    own = [
        *SMALL,
        *SHORT,
        *write_pairs(folder / "text"),
        "--dropout",
        "0",
        "--learning-rate",
        "1e-4",
    ]
    process = start("", *TORCHRUN, "-m", "qkv.commands.train", *own, "--out", folder / "two")
    said = process.communicate(timeout=300)
    assert process.returncode == 0, said[1]
    assert train.main([*own, "--out", str(folder / "one")]) == 0
    return folder, said[0], own


def test_the_run_of_two_is_the_run_of_one(two):
    folder, said, _ = two
    assert said.count("61 pairs to learn from") == 1
    assert "cpu, 2 processes." in said
    assert said.count("step 9 of 9") == 1
    one, both = log(folder / "one"), log(folder / "two")
    assert [row["step"] for row in both] == [3, 6, 9]
    for name in ("training_loss", "loss"):
        found, expected = ([row[name] for row in rows] for rows in (both, one))
        np.testing.assert_allclose(found, expected, rtol=TOLERANCE["float32"])
    assert [row["tokens"] for row in both] == [row["tokens"] for row in one]
    states = [Checkpoint.load(folder / name / "last.json").parameters for name in ("one", "two")]
    for name, value in states[0].items():
        # A key's bias has no gradient, and Adam makes whole steps of the rounding there.
        if not name.endswith("w_k.bias"):
            np.testing.assert_allclose(value, states[1][name], rtol=0, atol=1e-4, err_msg=name)


def test_one_goes_on_where_two_were_interrupted(two, tmp_path):
    _, _, own = two
    out = tmp_path / "run"
    more = ["--steps", "96"]
    process = start("", *TORCHRUN, "-m", "qkv.commands.train", *own, *more, "--out", out)
    for line in process.stdout:
        if line.startswith("step 6"):
            break
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=300)
    last = Checkpoint.load(out / "last.json", optimizer=True)
    assert last.metadata["step"] >= 3
    assert train.main(["--resume", "--threads", "1", "--device", "cpu", "--out", str(out)]) == 0
    assert [row["step"] for row in log(out)] == list(range(3, 97, 3))


def test_what_is_refused_is_said_once(tmp_path):
    own = ["--source", tmp_path / "none", "--target", tmp_path / "none", "--device", "cpu"]
    process = start("", *TORCHRUN, "-m", "qkv.commands.train", *own, "--out", tmp_path / "run")
    said = process.communicate(timeout=300)[1]
    assert process.returncode != 0
    assert said.count("none: No such file or directory.") == 1
