"""Two processes take the gradients that one takes of the whole batch, and one of them speaks."""

import argparse
import platform
import signal

import numpy as np
import pytest
import torch
from models import config_of
from tolerances import TOLERANCE
from training import SHORT, SMALL, log, start, write_pairs

import qkv.torch as qt
from qkv.checkpoint import Checkpoint
from qkv.commands import train
from qkv.commands.train import devices
from qkv.commands.train.devices import Place
from qkv.commands.train.loop import parallel
from qkv.commands.train.objective import Objective
from qkv.commands.train.updates import Update, Updater

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


class Noted:
    """An optimizer that only notes the gradients."""

    def __init__(self, model):
        self.model, self.seen = model, []

    def step(self, lr):
        self.seen.append({n: p.grad.clone() for n, p in self.model.named_parameters()})


def gradients(place):
    """Those of some updates in float64: of even and odd batches, of one row, of several batches."""
    config = config_of("as in the paper")
    rng = np.random.default_rng(0)
    pairs = [tuple(rng.integers(4, 17, rng.integers(2, 9)) for _ in "ab") for _ in range(12)]
    lengths = np.array([(len(s), len(t) - 1) for s, t in pairs])
    model = qt.Transformer(config, rng=torch.Generator().manual_seed(1), dtype=torch.float64)
    options = argparse.Namespace(
        seed=0, clip=0.5, bf16=False, compile=False, schedule="noam", d_model=12, warmup=9, rate=1.0
    )
    optimizer = Noted(model)
    objective = parallel(Objective(model, 0.1), options, place)
    update = Updater(objective, optimizer, pairs, options, place)
    losses = []
    for rows in ([range(8)], [range(5)], [[3]], [range(3), range(4, 7), [8], range(9, 12)]):
        loss = update(Update([np.array(index) for index in rows], lengths), 1)
        losses.append(float(place.total(loss)))
    return losses, optimizer.seen


def test_two_processes_take_the_gradients_of_one(tmp_path):
    path = tmp_path / "found.pt"
    code = tmp_path / "two.py"
    code.write_text(
        "import sys, torch, test_train_devices as own, qkv.commands.train.devices as devices\n"
        "with devices.join('cpu', 1, False) as place:\n"
        "    found = own.gradients(place)\n"
        "    if place.first: torch.save(found, sys.argv[1])\n"
    )
    process = start("", *TORCHRUN, code, path)
    said = process.communicate(timeout=300)
    assert process.returncode == 0, said[1]
    losses, found = torch.load(path, weights_only=True)
    expected_losses, expected = gradients(Place(torch.device("cpu")))
    # for the log, losses are added up in float32
    np.testing.assert_allclose(losses, expected_losses, rtol=TOLERANCE["float32"])
    assert len(found) == len(expected) == 4
    for one, other in zip(found, expected, strict=True):
        assert max(float(x.abs().max()) for x in other.values()) > 1e-3
        for name, gradient in other.items():
            torch.testing.assert_close(
                one[name], gradient, rtol=0, atol=TOLERANCE["float64"], msg=name
            )


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A run of two processes, and the same of one."""
    folder = tmp_path_factory.mktemp("two")
    own = [*SMALL, *SHORT, *write_pairs(folder / "text"), "--dropout", "0", "--rate", "1e-4"]
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
    assert last.facts["step"] >= 3
    assert train.main(["--resume", "--threads", "1", "--device", "cpu", "--out", str(out)]) == 0
    assert [row["step"] for row in log(out)] == list(range(3, 97, 3))


def test_what_is_refused_is_said_once(tmp_path):
    own = ["--source", tmp_path / "none", "--target", tmp_path / "none", "--device", "cpu"]
    process = start("", *TORCHRUN, "-m", "qkv.commands.train", *own, "--out", tmp_path / "run")
    said = process.communicate(timeout=300)[1]
    assert process.returncode != 0
    assert said.count("none: No such file or directory.") == 1


def test_on_a_cpu_bfloat16_stays_off_the_fused_attention():
    with devices.narrow(torch.device("cpu")):
        assert torch.is_autocast_enabled("cpu")
        assert not torch.backends.cuda.flash_sdp_enabled()
    assert not torch.is_autocast_enabled("cpu")
    assert torch.backends.cuda.flash_sdp_enabled()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks glibc")
def test_what_is_freed_is_not_fetched_anew():
    code = """
import resource
import numpy as np
from qkv.commands.train.devices import keep_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

keep_memory()
for _ in range(3):
    before = faults()
    [np.ones(2**20) for _ in range(8)]  # 8 MB each, 2,048 pages
print(faults() - before)
"""
    said = start(code).communicate(timeout=120)[0]
    assert int(said) < 1000
