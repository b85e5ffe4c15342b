"""Binder and Codespaces: their files name what exists, and install what a reader's set-up does."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from qkv.commands.serve import build_parser
from tests.helpers.waiting import WAIT_SECONDS
from tools.browser import NAMES

ROOT = Path(__file__).parents[2]
BINDER, CODESPACE = ROOT / ".binder", ROOT / ".devcontainer"
POST_BUILD = BINDER / "postBuild"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# SHA-256, its first 16 digits, of each registry's host: this file must not hold what it forbids.
REGISTRIES = {
    "03e390c8d8a6f2cf",
    "0dc11026ac75c015",
    "0fd460f0568e29c1",
    "15bdb44dafa6843b",
    "24f81de5fc499525",
    "271dacc9f4d0caf8",
    "3530c4415dd857fb",
    "51c6b9f69c48a75b",
    "70bb4000cd2fab03",
    "8b5bb5eb9d758455",
    "a4aa2ac280bb8d1a",
}
# Takes a word whole or not at all: numbers of a megabyte, without a dot, would take long otherwise.
HOST = re.compile(r"(?<![\w-])[\w-]++(?:\.[\w-]++)+")
# Stands in for Binder's Python: notes each call, and keeps the list that pip is given.
PYTHON = """\
import os, shutil, sys
with open(os.environ["CALLS"], "a") as calls:
    print(*sys.argv[1:], file=calls)
if "-r" in sys.argv:
    shutil.copy(sys.argv[sys.argv.index("-r") + 1], os.environ["INSTALLED"])
if "-c" in sys.argv:
    print(os.environ["PREFIX"])
"""


def registries_in(text: str) -> set[str]:
    """The hosts of two or three parts in a text that are a registry's, also inside a longer one."""
    hosts = set()
    for name in set(HOST.findall(text)):
        parts = name.split(".")
        ends = ((i, i + n) for i in range(len(parts)) for n in (2, 3))
        hosts |= {".".join(parts[i:j]) for i, j in ends if j <= len(parts)}
    return {h for h in hosts if hashlib.sha256(h.encode()).hexdigest()[:16] in REGISTRIES}


def is_new_enough(version: str) -> bool:
    oldest = PROJECT["requires-python"].removeprefix(">=")
    return [int(part) for part in version.split(".")] >= [int(part) for part in oldest.split(".")]


def lines(text: str) -> list[str]:
    """What pip reads of a list of requirements."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def test_binder_takes_only_python_and_torch_from_conda_forge() -> None:
    environment = yaml.safe_load((BINDER / "environment.yml").read_text("utf-8"))
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    python, pip, torch = environment["dependencies"]
    assert pip == "pip"
    # repo2docker finds the version by this form alone.
    match = re.fullmatch(r"python=(\d+\.\d+)", python)
    assert match
    assert is_new_enough(match[1])
    # conda-forge's name for the build without GPU code, in the range that the package asks for.
    assert [torch.replace("pytorch-cpu", "torch")] == PROJECT["optional-dependencies"]["torch"]


def test_binder_reads_no_other_list() -> None:
    """One of these beside environment.yml would be read as well, or in its place."""
    assert {path.name for path in BINDER.iterdir()} == {"environment.yml", "postBuild"}


def test_post_build_can_run() -> None:
    assert os.access(POST_BUILD, os.X_OK)
    assert POST_BUILD.read_text("utf-8").startswith("#!/usr/bin/env bash\n")
    done = subprocess.run(["bash", "-n", POST_BUILD], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def post_build(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Run the script on the repository, with a `python` that installs and builds nothing."""
    program = folder / "bin" / "python"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{python}", encoding="utf-8")
    program.chmod(0o755)
    named = {name.upper(): str(folder / name) for name in ("calls", "installed", "prefix", "home")}
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [POST_BUILD],
        cwd=folder,
        env={**os.environ, **named, "PATH": path},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )


def test_post_build_installs_all_but_torch_and_builds_the_book(tmp_path: Path) -> None:
    done = post_build(tmp_path, PYTHON)
    assert done.returncode == 0, done.stderr
    wanted = lines((ROOT / "requirements.txt").read_text("utf-8"))
    installed = lines((tmp_path / "installed").read_text("utf-8"))
    [left_out] = set(wanted) - set(installed)
    assert left_out.startswith("torch==")
    assert installed == [line for line in wanted if line != left_out]
    assert any(line.startswith("-e .") for line in installed)

    install, *_, fetch, build = (tmp_path / "calls").read_text("utf-8").splitlines()
    assert install.startswith("-m pip install ")
    assert [fetch, build] == ["tools/fetch_npm.py", "tools/build_book.py"]
    assert all((ROOT / script).is_file() for script in (fetch, build))


def test_post_build_tells_jupyter_of_the_book(tmp_path: Path) -> None:
    assert post_build(tmp_path, PYTHON).returncode == 0
    [config] = tmp_path.glob("prefix/etc/jupyter/jupyter_server_config.d/*.json")
    settings = json.loads(config.read_text("utf-8"))
    assert settings["ServerApp"]["jpserver_extensions"] == {"qkv.live": True}


@pytest.mark.parametrize("step", ["pip", "tools/fetch_npm.py", "tools/build_book.py"])
def test_post_build_stops_at_what_fails(step: str, tmp_path: Path) -> None:
    """Else Binder would keep an image without a book."""
    done = post_build(tmp_path, PYTHON + f"sys.exit({step!r} in sys.argv)\n")
    assert done.returncode == 1
    assert step in (tmp_path / "calls").read_text("utf-8").splitlines()[-1]


def test_codespace_builds_the_book_and_forwards_its_port() -> None:
    settings = json.loads((CODESPACE / "devcontainer.json").read_text("utf-8"))
    assert (CODESPACE / settings["build"]["dockerfile"]).is_file()
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert settings["postCreateCommand"] == "make html"
    assert re.search(r"^html:", makefile, re.MULTILINE)
    before = (CODESPACE / "codespace.mk").read_text("utf-8")
    port = re.search(r"^PORT \?= (\d+)$", before, re.MULTILINE)
    assert port
    assert settings["forwardPorts"] == [int(port[1])]
    # Opening it by itself would open the bare port, which shows nobody the book.
    assert settings["portsAttributes"][port[1]]["onAutoForward"] == "silent"


def test_codespace_has_a_python_and_a_browser() -> None:
    text = (CODESPACE / "Dockerfile").read_text("utf-8")
    match = re.search(r"^FROM python:(\d+\.\d+)$", text, re.MULTILINE)
    assert match
    assert is_new_enough(match[1])
    install = re.search(r"apt-get install ((?:\S+ ?)+)", text.replace("\\\n", " "))
    assert install
    assert set(install[1].split()) & set(NAMES), "the browser tests look for one of these"


def serving(target: str, *arguments: str, **variables: str) -> list[str]:
    """The last command of a target, as make would run it with these in its environment."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["make", "-n", target, *arguments],
        cwd=ROOT,
        env={**clean, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("target", ["book", "serve"])
def test_in_a_codespace_make_tells_the_server_its_address(target: str) -> None:
    text = (CODESPACE / "Dockerfile").read_text("utf-8")
    copied = re.search(r"^COPY (\S+) (\S+)$", text, re.MULTILINE)
    assert copied
    assert f"\nENV MAKEFILES={copied[2]}\n" in text
    before = {
        "MAKEFILES": str(CODESPACE / copied[1]),
        "GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN": "app.github.dev",
    }
    assert "--port" not in serving(target), "outside a container, a book has a port of its own"
    for more, port in (([], 8000), (["PORT=8123"], 8123)):
        plain = serving(target, f"PORT={port}")
        command = serving(target, *more, **before)
        assert command == [*plain, "--no-open"], "a container, and no codespace"
        command = serving(target, *more, **before, CODESPACE_NAME="odd-name-x7")
        assert command[: len(plain)] == plain
        options = build_parser().parse_args(command[command.index("qkv.commands.serve") + 1 :])
        assert options.no_open
        assert options.port == port
        assert options.origin == f"https://odd-name-x7-{port}.app.github.dev"


def own_files() -> list[Path]:
    """Every file but those that .gitignore leaves out."""
    ignored = lines((ROOT / ".gitignore").read_text("utf-8"))
    patterns = [".git", *(pattern.rstrip("/") for pattern in ignored)]
    files, folders = [], [ROOT]
    while folders:
        for path in folders.pop().iterdir():
            if any(fnmatch(path.name, pattern) for pattern in patterns):
                continue
            (folders if path.is_dir() else files).append(path)
    return files


def test_no_file_names_a_package_registry() -> None:
    """pip, npm and conda know their own; a reader's settings must be able to name another."""
    files = own_files()
    assert {POST_BUILD, ROOT / "requirements.txt", ROOT / "README.md"} <= set(files)
    named = {
        f"{path.relative_to(ROOT)}: {host}"
        for path in files
        for text in [path.read_bytes().decode("utf-8", errors="replace").lower()]
        for host in registries_in(text)
    }
    assert not named, "\n".join(sorted(named))


def test_a_workflow_takes_each_action_by_its_hash() -> None:
    """A tag can be moved to other code; the version stands beside the hash."""
    workflows = [path.read_text("utf-8") for path in (ROOT / ".github" / "workflows").iterdir()]
    used = [line for text in workflows for line in text.splitlines() if "uses:" in line]
    assert used
    for line in used:
        assert re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line
