"""The command `qkv` by itself: which version it is, and that importing its package is no work."""

import importlib
import tomllib
from pathlib import Path

import pytest

import qkv
from qkv import commands
from qkv.commands.messages import counted, escaped, os_error_message
from tests.helpers.processes import run_python

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_that_of_the_package(monkeypatch, capsys, flag):
    monkeypatch.setattr("sys.argv", ["qkv", flag])
    assert commands.main() == 0
    assert capsys.readouterr().out == f"qkv {VERSION}\n"
    assert qkv.__version__ == VERSION
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()


def test_what_the_package_lacks_is_told_as_python_does():
    with pytest.raises(AttributeError, match="module 'qkv' has no attribute 'nothing'"):
        qkv.nothing  # noqa: B018


def test_to_import_the_package_loads_nothing():
    code = "import sys; before = {*sys.modules}; import qkv; print({*sys.modules} - before)"
    run = run_python(code)
    assert run.stdout == "{'qkv'}\n", run.stderr


def test_help_names_the_commands_and_how_to_ask_for_the_version(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["qkv"])
    assert commands.main() == 0
    said = capsys.readouterr().out
    assert all(name in said for name in (*commands.COMMANDS, "--version"))


def test_counts_agree_with_their_nouns():
    found = [counted(0, "pair"), counted(1, "pair"), counted(2000, "pair"), counted(2, "process")]
    assert found == ["0 pairs", "1 pair", "2,000 pairs", "2 processes"]


def test_errors_of_the_system_have_no_numbers():
    assert os_error_message(FileNotFoundError(2, "No such file", "a.txt")) == "a.txt: No such file"
    assert os_error_message(OSError("plain words")) == "plain words"


def test_what_turns_the_order_of_letters_is_shown_and_not_done():
    """A name that ends in "gpj.exe" behind U+202E is read as one that ends in "exe.jpg"."""
    assert escaped("a\u202egpj\u202c\u2066b\u2069") == "a\\u202egpj\\u202c\\u2066b\\u2069"
    assert (
        escaped("שלום\u200f, 고양이") == "שלום\u200f, 고양이"
    )  # a mark that Hebrew is written with


@pytest.mark.parametrize("command", ["export", "serve", "train", "translate"])
def test_an_argument_that_nobody_asked_for_cannot_move_the_cursor(command, capsys):
    main = importlib.import_module(f"qkv.commands.{command}").main
    with pytest.raises(SystemExit):
        main(["one", "--onnx", "folder", "two", "three", "--\x1b[2J\x9b"])
    said = capsys.readouterr().err
    assert "\\x1b[2J\\x9b" in said
    assert not {"\x1b", "\x9b"} & set(said)


def test_what_moves_a_cursor_is_shown_and_not_done():
    assert escaped("a\x1b[2J\x00\x9b\r 고양이\n\t") == "a\\x1b[2J\\x00\\x9b\\x0d 고양이\\x0a\t"
