"""What the tests of training share: pairs of a toy language, small options, processes."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

SMALL = shlex.split("--d-model 12 --n-heads 2 --d-ff 8 --n-layers 1 --threads 1 --device cpu")
SHORT = shlex.split("--steps 9 --validate-every 3 --max-tokens 60 --valid-pairs 3 --average 2")
NOUNS = {"cat": "Katze", "dog": "Hund", "bird": "Vogel", "bear": "Bär"}
VERBS = {"sees": "sieht", "hears": "hört", "finds": "findet", "likes": "mag"}
PAIRS = [
    (f"the {a} {v} a {b}", f"eine {NOUNS[b]} {VERBS[v]} die {NOUNS[a]}")
    for a in NOUNS
    for v in VERBS
    for b in NOUNS
]


def write_pairs(folder, pairs=PAIRS):
    """Two line-aligned files, as options."""
    folder.mkdir(exist_ok=True)
    for name, side in (("a.de", 0), ("a.en", 1)):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in pairs), "utf-8")
    return ["--source", str(folder / "a.de"), "--target", str(folder / "a.en")]


def log(folder):
    return [json.loads(line) for line in (Path(folder) / "log.jsonl").read_text().splitlines()]


def start(code, *arguments, **own):
    """A Python of its own that runs this code, or with `module` this module."""
    path = ":".join(filter(None, [str(Path(__file__).parents[2]), *sys.path]))
    return subprocess.Popen(
        [sys.executable, *(["-c", code] if code else []), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **own,
    )


def same(one, other):
    """Two states hold the same numbers, bit for bit."""
    assert sorted(one) == sorted(other)
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], name)


def paths(options):
    """The files that `write_pairs` gave as options."""
    return options[1::2]
