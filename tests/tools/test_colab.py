"""The set-up cell: in Colab it installs the package and lets widgets draw, elsewhere nothing."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from tools.colab import has_expected_setup_cell, repository_address, setup_cell, update_setup_cell

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
REPOSITORY = "https://github.com/a-company-with-a-long-name/a-book-with-a-long-name"


class Colab:
    """Stands in for Colab: its module, a package that is missing or there, and pip's calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, installed: bool) -> None:
        self.commands: list[list[str]] = []
        self.widget_managers = 0
        google, colab = ModuleType("google"), ModuleType("google.colab")
        colab.output = self  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "google", google)
        monkeypatch.setitem(sys.modules, "google.colab", colab)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: installed or None)
        monkeypatch.setattr(subprocess, "run", self.run)

    def enable_custom_widget_manager(self) -> None:
        self.widget_managers += 1

    def run(self, command: list[str], check: bool) -> None:
        assert check, "a failed installation must stop the cell"
        self.commands.append(command)


def run_cell(language: str = "en") -> dict[str, object]:
    names: dict[str, object] = {}
    exec(compile(setup_cell(REPOSITORY, "toy", language).source, "set-up", "exec"), names)
    return names


def test_in_colab_the_package_comes_and_torch_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    colab = Colab(monkeypatch, installed=False)
    run_cell()
    assert colab.widget_managers == 1
    [command] = colab.commands
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    assert command[-1] == f"qkv[explore] @ git+{REPOSITORY}"
    assert not any("torch" in part for part in command)


def test_in_colab_a_second_run_installs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    colab = Colab(monkeypatch, installed=True)
    run_cell()
    assert colab.commands == []
    assert colab.widget_managers == 1


def test_in_colab_korean_figures_get_their_font(monkeypatch: pytest.MonkeyPatch) -> None:
    colab = Colab(monkeypatch, installed=False)
    run_cell("ko")
    assert colab.commands[1:] == [["apt-get", "-qq", "install", "fonts-nanum"]]


@pytest.mark.parametrize("language", ["en", "ko"])
def test_elsewhere_nothing_happens(
    language: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*arguments: object, **more: object) -> None:
        raise AssertionError("nothing is to be looked up or run outside Colab")

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(importlib.util, "find_spec", refuse)
    before = set(sys.modules)
    names = run_cell(language)
    assert set(names) - {"__builtins__"} == {"sys"}
    assert set(sys.modules) == before
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_cell_passes_the_linter(language: str) -> None:
    """`make test` lints the chapters, so the cell must pass with a long address in it too."""
    options = ["--quiet", "--stdin-filename", "chapters/99_toy.py", "-"]
    source = setup_cell(REPOSITORY, "toy", language).source + "\n"
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *options],
            cwd=ROOT,
            input=source,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_each_chapter_can_be_set_up_and_taken_back(path: Path) -> None:
    stored, concept = nbformat.read(path, as_version=4), path.stem[3:]
    assert has_expected_setup_cell(stored, repository_address(), concept)
    update_setup_cell(stored, "", concept)
    without = nbformat.from_dict(stored)
    update_setup_cell(stored, REPOSITORY, concept)
    assert len(stored.cells) == len(without.cells) + 1
    assert stored.cells[0].id == f"{concept}-setup"
    assert has_expected_setup_cell(stored, REPOSITORY, concept)
    assert not has_expected_setup_cell(stored, "", concept)
    nbformat.validate(stored)
    update_setup_cell(stored, f"{REPOSITORY}-2", concept)
    assert has_expected_setup_cell(stored, f"{REPOSITORY}-2", concept)
    update_setup_cell(stored, "", concept)
    assert stored == without


def test_an_authors_cell_of_that_name_is_kept() -> None:
    cell = nbformat.v4.new_code_cell("print(1)", id="toy-setup")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    update_setup_cell(notebook, "", "toy")
    assert notebook.cells == [cell]


def test_the_setting_and_what_stands_in_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QKV_REPOSITORY", raising=False)
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    for setting, address in (("", ""), (f"{REPOSITORY}/", REPOSITORY)):
        line = f'repository_address: "{setting}"'
        changed, lines = re.subn("(?m)repository_address: .*$", line, config)
        assert lines == 1
        (tmp_path / "_config.yml").write_text(changed, encoding="utf-8")
        assert repository_address(tmp_path) == address
    monkeypatch.setenv("QKV_REPOSITORY", f"{REPOSITORY}-2")
    assert repository_address(tmp_path) == f"{REPOSITORY}-2"
