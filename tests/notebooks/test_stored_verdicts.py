"""The verdicts that a notebook stores for its page are run again and compared, as any output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from qkv.exercises import check
from qkv.exercises.choices import VERDICTS_MIME
from tools.run_notebooks import refresh

ROOT = Path(__file__).parents[2]
ASKS = 'from qkv.exercises import check\n\nanswer_3 = ...\ncheck("masks-3", answer_3)'


def nbval(path: Path) -> subprocess.CompletedProcess[str]:
    """Run the notebook as `make test` runs a chapter."""
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-p", "conftest"]
    return subprocess.run([*command, str(path)], cwd=ROOT, capture_output=True, text=True)


def test_verdicts_that_are_no_longer_those_of_check_are_found(tmp_path: Path) -> None:
    path = tmp_path / "01_toy.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(ASKS, id="toy-01")]), path)
    assert refresh(path, address="", write=True)
    notebook: Any = nbformat.read(path, as_version=4)
    (output,) = notebook.cells[0].outputs
    assert output.data[VERDICTS_MIME] == check("masks-3")._repr_mimebundle_()[VERDICTS_MIME]
    fresh = nbval(path)
    assert fresh.returncode == 0, fresh.stdout + fresh.stderr
    output.data[VERDICTS_MIME]["parts"][0]["choices"] = {"AD": 1}
    nbformat.write(notebook, path)
    stale = nbval(path)
    assert stale.returncode == 1
    assert VERDICTS_MIME in stale.stdout
