"""Cells that train are found from their code, through whatever they call."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tools.training_cells import chapters_that_train, training_cells

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"

DESCENDS = """
def descend(p):
    for _ in range(5):
        p = p - 0.1 * gradient(p)
    return p
"""


def notebook(path: Path, *sources: str) -> Path:
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        (("for _ in range(3):\n    p -= 0.1 * gradient(p)",), ["cell-0"]),
        (("for _ in range(3):\n    p, q = p - backward(p), q",), ["cell-0"]),
        ((DESCENDS, "p = 1.0", "p = descend(p)"), ["cell-2"]),
        ((DESCENDS, "def outer():\n    return descend(1.0)", "outer()"), ["cell-2"]),
        (("import qkv.numpy as qn", "adam = qn.Adam(model)"), ["cell-1"]),
        (("import torch", "sgd = torch.optim.SGD([p])"), ["cell-1"]),
        (("from qkv.trainer import Trainer", "Trainer(model, data, plan).fit()"), ["cell-1"]),
        (
            ("from qkv.experiments.models.families import ASKS, train", "train(ASKS['gpt'])"),
            ["cell-1"],
        ),
    ],
)
def test_a_cell_that_trains_is_found(
    sources: tuple[str, ...], found: list[str], tmp_path: Path
) -> None:
    assert training_cells(notebook(tmp_path / "a.ipynb", *sources)) == found


@pytest.mark.parametrize(
    "source",
    [
        "for p in parameters:\n    p -= 2 * h\n    p += 2 * h",  # finite differences
        "while n:\n    n = n - 1\nprint(n)",
        "for x in rows:\n    norm = x - mean\ngradient = norm",
        "from qkv.pretrained import pretrained\npretrained().translate('The cat sat')",
        "from qkv.experiments import stored_result\nstored_result('training_runs')",
        "from qkv.explore import training as explorers\nexplorers.noam",
    ],
)
def test_a_cell_that_does_not_train_is_not_found(source: str, tmp_path: Path) -> None:
    assert training_cells(notebook(tmp_path / "a.ipynb", source)) == []


def test_the_chapters_that_train() -> None:
    found = [path.stem for path in chapters_that_train(CHAPTERS)]
    assert found == ["04_scaling", "05_masks", "11_training", "14_families", "16_efficient"]
