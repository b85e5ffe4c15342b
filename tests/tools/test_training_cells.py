"""Cells that train are found from their code, and what they assert is tried with other seeds."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tools.training_cells import chapters_that_train, training_cells
from tools.training_cells.find import cells_that_feed, cells_that_use
from tools.training_cells.runs import CHANGED, OWN, VARIATIONS, Run, findings, run

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
            (
                "from qkv.experiments.models.families import OBJECTIVES, train",
                "train(OBJECTIVES['gpt'])",
            ),
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
        "from qkv.explore import training as explorers\nexplorers.learning_rate",
    ],
)
def test_a_cell_that_does_not_train_is_not_found(source: str, tmp_path: Path) -> None:
    assert training_cells(notebook(tmp_path / "a.ipynb", source)) == []


def test_the_chapters_that_train() -> None:
    found = [path.stem for path in chapters_that_train(CHAPTERS)]
    assert found == ["04_scaling", "05_masks", "11_training", "14_families", "17_devices"]


def test_what_training_needs_and_what_uses_it() -> None:
    sources = {
        "imports": "import numpy as np",
        "other": "other = np.ones(3)",
        "start": "rng = np.random.default_rng(0)\nstart = rng.normal()",
        "train": "p = start\nfor _ in range(3):\n    p -= gradient(p)",
        "shows": "for p_i in p:\n    print(p_i)",
        "again": "p = 3\nprint(p)",
        "free": "print(p)",
    }
    assert cells_that_feed(sources, ["train"]) == {"imports", "start", "train"}
    assert cells_that_use(sources, ["train"]) == {"train", "shows"}


TRAINED = """
ends = []
for w in np.random.default_rng(0).normal(size=4):
    for _ in range(50):
        w = w - 0.1 * 2 * (w - 1)  # the gradient of (w − 1)²
    ends.append(w)
first = np.random.default_rng(0).normal()
for _ in range(1):
    second = first - gradient(first)
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    path = notebook(
        tmp_path_factory.mktemp("trained") / "a.ipynb",
        "import numpy as np\n\ndef gradient(w):\n    return 0.001 * w",
        TRAINED,
        "assert max(abs(end - 1) for end in ends) < 0.01",  # honest: it learns from any start
        "assert abs(first) / 10 < 5 and (np.array(ends) < 1.05).all()",  # 5 % from the bound
        "assert np.isclose(second, 0.12560440, rtol=1e-4)",  # of the seed 0 alone
        "print(f'{first:.1f}', f'{first:.8f}')",  # the second one is below a change of 1e-6
        "free = np.random.default_rng(0).normal()",
    )
    chosen = (OWN, CHANGED, "seed + 100")
    return {name: run(path, *VARIATIONS[name]) for name in chosen}


def test_a_cell_is_tried_with_its_own_start_first(runs: dict[str, Run]) -> None:
    assert runs[OWN].failed == []
    assert runs[OWN].printed["cell-5"] == "0.1 0.12573022\n"
    assert "cell-6" not in runs[OWN].printed  # it neither trains nor uses what was trained


def test_the_findings_are_named(runs: dict[str, Run], capsys: pytest.CaptureFixture[str]) -> None:
    count = findings(runs)
    table = capsys.readouterr().out
    assert count == 3, table
    assert "failed    seed + 100: cell-4: np.isclose(second" in table
    assert "near     5% cell-3: np.array(ends) < 1.05" in table
    assert "cell-2: max((abs(end - 1)" in table
    assert f"prints    cell-5: otherwise with {CHANGED}, seed + 100" in table


def test_an_honest_chapter_has_none(
    runs: dict[str, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    honest = {
        name: Run(
            [key for key in each.failed if "cell-2" in key],
            {key: pairs for key, pairs in each.compared.items() if "cell-2" in key},
            {},
        )
        for name, each in runs.items()
    }
    assert findings(honest) == 0
    assert capsys.readouterr().out.count("holds") == 1
