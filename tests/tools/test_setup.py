"""Set-up happens once, and an interrupted one leaves nothing that a second call would trust."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools import setup_venv
from tools.setup_venv import STAMP, UNFINISHED, SetupError, is_ready, python_version, set_up


class Commands:
    """Stands in for the commands that set-up runs: notes them, makes a venv's bones, may fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[list[str]] = []
        self.failure: BaseException | int = 0
        monkeypatch.setattr(subprocess, "call", self.call)
        monkeypatch.setattr(subprocess, "check_output", lambda *_, **__: python_version() + "\n")

    def call(self, command: Sequence[str], cwd: Path) -> int:
        self.seen.append(list(command))
        if "venv" in command:
            binaries = Path(command[-1]) / "bin"
            binaries.mkdir()
            (binaries / "python").touch()
            (binaries / "pip").touch()
            return 0
        if isinstance(self.failure, BaseException):
            raise self.failure
        return self.failure

    def take(self) -> list[str]:
        """What kinds of command ran since the last call."""
        kinds = ["venv" if "venv" in command else "pip" for command in self.seen]
        self.seen.clear()
        return kinds


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("requirements.txt", "requirements.lock", "requirements-test.lock"):
        (tmp_path / name).write_text("numpy==2.4.6\n")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'toy'\n[tool.ruff]\n")
    return tmp_path


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(monkeypatch)


def test_second_call_installs_nothing(root: Path, commands: Commands) -> None:
    set_up(root / ".venv", root, "book")
    assert commands.take() == ["venv", "pip", "pip"]
    set_up(root / ".venv", root, "book")
    assert commands.take() == []
    assert not (root / ".venv" / UNFINISHED).exists()


def test_readers_get_no_test_tools(root: Path, commands: Commands) -> None:
    set_up(root / ".venv", root, "book")
    assert not any(".[test]" in command for command in commands.seen)
    assert not any("requirements-test.lock" in command for command in commands.seen)
    assert not is_ready(root / ".venv", root, "test", chosen=False)
    commands.take()
    set_up(root / ".venv", root, "test")
    assert ".[test]" in commands.seen[-1]
    assert commands.take() == ["pip", "pip"]
    set_up(root / ".venv", root, "book")  # what tests need holds what readers need
    assert commands.take() == []


@pytest.mark.parametrize("failure", [1, KeyboardInterrupt()], ids=["failed", "interrupted"])
def test_broken_off_install_is_not_trusted(
    root: Path, commands: Commands, failure: BaseException | int
) -> None:
    commands.failure = failure
    with pytest.raises((SetupError, KeyboardInterrupt)):
        set_up(root / ".venv", root, "book")
    assert not (root / ".venv").exists()
    commands.failure = 0
    commands.take()
    set_up(root / ".venv", root, "book")
    assert commands.take() == ["venv", "pip", "pip"]


def test_killed_install_starts_from_nothing(root: Path, commands: Commands) -> None:
    """A kill leaves no time to tidy up: the mark is there, the stamp is not."""
    venv = root / ".venv"
    set_up(venv, root, "book")
    (venv / UNFINISHED).touch()
    (venv / "half-unpacked").touch()
    commands.take()
    set_up(venv, root, "book")
    assert commands.take() == ["venv", "pip", "pip"]
    assert not (venv / "half-unpacked").exists()


def test_broken_off_deletion_is_known_as_ours(root: Path, commands: Commands) -> None:
    venv = root / ".venv"
    venv.mkdir()
    (venv / UNFINISHED).touch()
    set_up(venv, root, "book")
    assert commands.take() == ["venv", "pip", "pip"]


def test_all_but_torch_and_the_package_is_checked_against_hashes(
    root: Path, commands: Commands
) -> None:
    set_up(root / ".venv", root, "test")
    _, locked, rest = commands.seen
    assert {"--require-hashes", "requirements-test.lock"} <= {*locked}
    assert not {"-e", "requirements.txt"} & {*locked}
    assert {"--no-build-isolation", "requirements.txt", "-e"} <= {*rest}


def test_a_package_locked_anew_is_installed(root: Path, commands: Commands) -> None:
    set_up(root / ".venv", root, "book")
    commands.take()
    (root / "requirements.lock").write_text("numpy==2.4.6 --hash=sha256:0\n")
    set_up(root / ".venv", root, "book")
    assert commands.take() == ["pip", "pip"]


def test_changed_requirements_are_installed_on_top(root: Path, commands: Commands) -> None:
    set_up(root / ".venv", root, "test")
    commands.take()
    (root / "requirements.txt").write_text("numpy==2.5.0\n")
    set_up(root / ".venv", root, "book")
    assert ".[test]" in commands.seen[-1]  # the test tools stay
    assert commands.take() == ["pip", "pip"]


def test_changed_tool_settings_install_nothing(root: Path, commands: Commands) -> None:
    set_up(root / ".venv", root, "book")
    commands.take()
    project = root / "pyproject.toml"
    project.write_text(project.read_text() + "line-length = 100\n")
    set_up(root / ".venv", root, "book")
    assert commands.take() == []


def test_a_new_data_file_is_installed(root: Path, commands: Commands) -> None:
    """An editable installation copies it, so an environment without it is not whole."""
    set_up(root / ".venv", root, "book")
    commands.take()
    project = root / "pyproject.toml"
    project.write_text(project.read_text() + '[tool.setuptools.data-files]\n"share" = ["x"]\n')
    set_up(root / ".venv", root, "book")
    assert commands.take() == ["pip", "pip"]


@pytest.mark.parametrize("line", ["root", "python"])
def test_moved_folder_or_other_python_starts_from_nothing(
    root: Path, commands: Commands, line: str
) -> None:
    set_up(root / ".venv", root, "book")
    commands.take()
    path = root / ".venv" / STAMP
    path.write_text(json.dumps({**json.loads(path.read_text()), line: "other"}))
    set_up(root / ".venv", root, "book", chosen=True)
    assert commands.take() == ["venv", "pip", "pip"]


def test_python_of_the_environment_stays_while_none_is_named(
    root: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(root / ".venv", root, "book")
    commands.take()
    monkeypatch.setattr("sys.version_info", (3, 9, 2, "final", 0))
    set_up(root / ".venv", root, "book", chosen=False)
    assert commands.take() == []


def test_old_python_is_refused_before_anything(
    root: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.version_info", (3, 9, 2, "final", 0))
    with pytest.raises(SetupError, match=r"needs Python 3.11 or newer; .* is 3.9"):
        set_up(root / ".venv", root, "book")
    assert commands.take() == []
    assert not (root / ".venv").exists()


def test_environment_of_somebody_else_is_left_alone(root: Path, commands: Commands) -> None:
    theirs = root / ".venv" / "bin" / "python"
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    with pytest.raises(SetupError, match="was not made by this Makefile"):
        set_up(root / ".venv", root, "book")
    assert theirs.exists()
    assert commands.take() == []


def test_no_network_is_said(
    root: Path,
    commands: Commands,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    commands.failure = 1
    monkeypatch.setattr(setup_venv, "__file__", str(root / "tools" / "setup_venv.py"))
    assert setup_venv.main(["book"]) == 1
    assert "check the network" in capfd.readouterr().err
