"""`qkv train` as its user knows it: what it leaves, what it says, what it refuses."""

import json
import platform
import shlex
import subprocess
import sys

import numpy as np
import pytest
import torch

from qkv.checkpoint import Checkpoint
from qkv.commands import train
from qkv.commands.train import devices

SMALL = shlex.split("--d-model 12 --heads 2 --d-ff 8 --layers 1 --threads 1 --device cpu")
SHORT = shlex.split("--steps 9 --validate-every 3 --max-tokens 60 --valid-pairs 3 --average 2")
NOUNS, VERBS = ("cat", "dog", "bird", "bear"), ("sees", "hears", "finds", "likes")
PAIRS = [(f"the {a} {v} a {b}", f"a {b} {v} the {a}") for a in NOUNS for v in VERBS for b in NOUNS]


@pytest.fixture
def files(tmp_path):
    """Sources and targets, line by line."""
    for name, side in (("a.de", 0), ("a.en", 1)):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS), "utf-8")
    return ["--source", str(tmp_path / "a.de"), "--target", str(tmp_path / "a.en")]


def run(*arguments):
    return train.main([*SMALL, *map(str, arguments)])


def log(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def same(one, other):
    assert sorted(one) == sorted(other)
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], name)


def test_a_run_leaves_checkpoints_and_a_log(tmp_path, files, capsys):
    assert run(*files, *SHORT, "--out", tmp_path / "run") == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "61 pairs to learn from, 3 to validate with" in said.out
    assert "step 9 of 9" in said.out
    rows = log(tmp_path / "run")
    assert [row["step"] for row in rows] == [3, 6, 9]
    assert all(row["loss"] > 0 and row["cpu_seconds"] > 0 for row in rows)
    last = Checkpoint.load(tmp_path / "run" / "last.json", optimizer=True)
    assert last.facts["step"] == 9
    assert last.facts["max_len"] == 128
    assert last.facts["scores"] == {name: rows[-1][name] for name in ("loss", "bleu", "exact")}
    assert "tok:13a" in last.facts["signature"]
    best = Checkpoint.load(tmp_path / "run").facts
    assert best["scores"]["loss"] == min(row["loss"] for row in rows)
    assert Checkpoint.load(tmp_path / "run" / "average.json").facts["averaged"] == 2
    assert not list((tmp_path / "run").glob("step-*"))


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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1000
