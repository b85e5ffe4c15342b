"""The lock files: every package that is installed is in them, once for a platform, with hashes."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-test.lock")
# PyTorch may come from an address of the reader's own; what it brings for a GPU comes with it.
NOT_LOCKED = re.compile(r"torch|qkv|pip|cuda-.*|nvidia-.*")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def entries(name: str) -> dict[str, list[tuple[Requirement, int]]]:
    """The requirements of a lock file by package, each with the number of its hashes."""
    lines = (ROOT / name).read_text(encoding="utf-8").replace(" \\\n", " ").splitlines()
    found: dict[str, list[tuple[Requirement, int]]] = {}
    for line in lines:
        if line and not line.startswith("#"):
            requirement = Requirement(HASH.sub("", line))
            package = canonicalize_name(requirement.name)
            found.setdefault(package, []).append((requirement, len(HASH.findall(line))))
    return found


def versions(name: str) -> dict[str, set[str]]:
    """The versions that a lock file holds of each package; `==` and nothing else."""
    return {
        package: {re.sub("^==", "", str(each.specifier)) for each, _ in found}
        for package, found in entries(name).items()
    }


def pins(lines: list[str]) -> dict[str, str]:
    """Package and version of each line `name==version`."""
    found = {}
    for line in lines:
        if match := re.match(r"([\w.-]+)==([\w.]+)", line):
            found[canonicalize_name(match[1])] = match[2]
    return found


def test_readers_pins_are_locked() -> None:
    wanted = pins((ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines())
    torch = wanted.pop("torch")
    assert torch
    locked = versions("requirements.lock")
    assert {name: locked.get(name) for name in wanted} == {n: {v} for n, v in wanted.items()}


def test_readers_have_what_the_commands_take() -> None:
    """`make` sets up all that `qkv` has commands for; triton comes with PyTorch, and what teachers
    need for `make assignments` with the test tools."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [
        Requirement(line)
        for name in extras.keys() - {"test", "triton", "teach"}
        for line in extras[name]
    ]
    locked = versions("requirements.lock")
    for requirement in wanted:
        if not NOT_LOCKED.fullmatch(requirement.name):
            found = locked.get(canonicalize_name(requirement.name), set())
            assert any(map(requirement.specifier.contains, found)), requirement


def test_test_tools_are_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = pins(extras["test"])
    (teach,) = map(Requirement, extras["teach"])
    assert teach.specifier.contains(wanted[teach.name])
    locked = versions("requirements-test.lock")
    assert {name: locked.get(name) for name in wanted} == {n: {v} for n, v in wanted.items()}


def test_testers_have_what_readers_have() -> None:
    tester = versions("requirements-test.lock")
    for package, wanted in versions("requirements.lock").items():
        assert wanted <= tester.get(package, set()), package


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_has_an_exact_version_and_hashes(name: str) -> None:
    for package, found in entries(name).items():
        assert not NOT_LOCKED.fullmatch(package)
        for requirement, number in found:
            assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
            assert number, f"{package} has no hash"


def test_the_installed_packages_are_those_of_the_lock() -> None:
    locked = versions("requirements-test.lock")
    installed = {canonicalize_name(each.name): each.version for each in distributions()}
    strange = {
        name: version
        for name, version in installed.items()
        if version not in locked.get(name, ()) and not NOT_LOCKED.fullmatch(name)
    }
    assert not strange
