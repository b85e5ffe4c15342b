"""Front-end code is fetched once, checked, and moved in whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from tools import fetch_npm
from tools.fetch_npm import FetchError, fetch_all, pack


def archive(folder: Path, *names: str) -> Path:
    path = folder / "toy-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 3
            tar.addfile(member, io.BytesIO(b"abc"))
    return path


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A registry of one package; the packages asked of it."""
    asked: list[str] = []
    (tmp_path / "from").mkdir()
    source = archive(tmp_path / "from", "package/dist/toy.css", "package/package.json")

    def fake(package: str, folder: Path) -> Path:
        asked.append(package)
        target = folder / source.name
        target.write_bytes(source.read_bytes())
        return target

    monkeypatch.setattr(fetch_npm, "pack", fake)
    write(tmp_path, digest(source))
    return asked


def digest(path: Path) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def write(root: Path, integrity: str, version: str = "1.0.0") -> None:
    wanted = {"dependencies": {"toy": version}, "integrity": {"toy": integrity}}
    (root / "package.json").write_text(json.dumps(wanted))


def test_second_call_asks_nothing(tmp_path: Path, calls: list[str]) -> None:
    fetch_all(tmp_path)
    fetch_all(tmp_path)
    assert calls == ["toy@1.0.0"]
    assert (tmp_path / "node_modules/toy/dist/toy.css").read_text() == "abc"
    assert [path.name for path in (tmp_path / "node_modules").iterdir()] == ["toy"]


def test_what_only_tests_need_comes_when_asked_for(tmp_path: Path, calls: list[str]) -> None:
    wanted = json.loads((tmp_path / "package.json").read_text())
    wanted |= {"dependencies": {}, "devDependencies": wanted["dependencies"]}
    (tmp_path / "package.json").write_text(json.dumps(wanted))
    fetch_all(tmp_path)
    assert calls == []
    fetch_all(tmp_path, dev=True)
    assert calls == ["toy@1.0.0"]


def test_other_file_is_refused_and_the_old_one_stays(tmp_path: Path, calls: list[str]) -> None:
    fetch_all(tmp_path)
    write(tmp_path, "sha512-AAAA", version="1.0.1")
    with pytest.raises(FetchError, match=r"toy 1.0.1 is not the file that package.json names"):
        fetch_all(tmp_path)
    assert (tmp_path / "node_modules/toy/dist/toy.css").exists()
    assert [path.name for path in (tmp_path / "node_modules").iterdir()] == ["toy"]


def test_path_outside_the_package_is_refused(
    tmp_path: Path, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd").mkdir()
    odd = archive(tmp_path / "odd", "package/../../escaped.txt")
    monkeypatch.setattr(fetch_npm, "pack", lambda package, folder: odd)
    write(tmp_path, digest(odd))
    with pytest.raises(FetchError, match="odd path"):
        fetch_all(tmp_path)
    assert not list(tmp_path.rglob("escaped.txt"))


def test_package_without_checksum_is_refused(tmp_path: Path, calls: list[str]) -> None:
    write(tmp_path, "")
    with pytest.raises(FetchError, match="no integrity for toy"):
        fetch_all(tmp_path)
    assert calls == []


def test_no_network_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho 'getaddrinfo ENOTFOUND' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(FetchError, match=r"check the network, then try again. getaddrinfo"):
        pack("toy@1.0.0", tmp_path)


def test_every_package_has_a_checksum() -> None:
    wanted = json.loads((fetch_npm.ROOT / "package.json").read_text())
    assert wanted["integrity"].keys() == (wanted["dependencies"] | wanted["devDependencies"]).keys()
