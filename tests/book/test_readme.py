"""README.md: its Python runs as printed, but for sizes that would take a minute."""

import os
import re
from pathlib import Path

from tests.helpers.processes import run_python

README = Path(__file__).parents[2] / "README.md"
SMALLER = {
    "steps=200": "steps=2",
    "from_grammar()": "from_grammar(words=True, valid_pairs=20)",
    "d_model=64, n_heads=4, n_layers=2": "d_model=8, n_heads=2, n_layers=1",
}


def test_its_python_runs_as_printed(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S)
    code = "".join(blocks)
    for printed, smaller in SMALLER.items():
        assert code.count(printed) == 1
        code = code.replace(printed, smaller)
    *most, last = code.strip().split("\n")
    own = {"cwd": tmp_path, "env": {**os.environ, "MPLBACKEND": "agg"}}
    done = run_python("\n".join([*most, f"print(ascii({last}))"]), **own)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^'.*'$", done.stdout, re.M)  # a translation
    assert list(tmp_path.iterdir()) == []  # without a run, nothing is written
