"""Create the virtual environment: `python tools/setup_venv.py book`, or `... test`.

A stamp inside the environment is written last, and says what was installed. Without a stamp that
fits, nothing is trusted: the next call starts from an empty environment. Runs under the Python
that the reader has, which may be too old for the book; it then says so.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
PINS = "requirements.txt"
EXTRAS = {"book": ".", "test": ".[test]"}
LOCKS = {"book": "requirements.lock", "test": "requirements-test.lock"}
UNFINISHED, STAMP = "qkv-unfinished", "qkv-ready.json"


class SetupError(Exception):
    """A reason to stop, as a message for the reader."""


def set_up(venv: Path, root: Path, level: str, chosen: bool = False) -> None:
    """Bring the environment to `level`; quick when it is there already.

    Args:
        level: "book" for what a reader needs, "test" for that and the test tools.
        chosen: the caller named this Python, so an environment of another version is replaced.
    """
    if is_ready(venv, root, level, chosen):
        return
    if sys.version_info < OLDEST:
        raise SetupError(
            f"The book needs Python 3.11 or newer; {sys.executable} is {python_version()}.\n"
            f"Name one that you have: make {level} PYTHON=python3.12"
        )
    folder = os.open(root, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)  # a second `make` waits here for the first one's set-up
    try:
        stamp = read_stamp(venv)
        if is_ready(venv, root, level, chosen):
            return
        if stamp.get("root") != str(root) or (chosen and stamp.get("python") != python_version()):
            stamp = {}
            refuse_foreign(venv)
            remove(venv)
        elif stamp["level"] == "test":
            level = "test"
        print(f"Setting up {venv.name}: once, a few minutes.", flush=True)
        try:
            install(venv, root, level, fresh=not stamp)
        except BaseException:
            remove(venv)
            raise
    finally:
        os.close(folder)


def is_ready(venv: Path, root: Path, level: str, chosen: bool) -> bool:
    """Whether the environment holds all that `level` needs, for this folder and this Python."""
    stamp = read_stamp(venv)
    return (
        stamp.get("root") == str(root)  # an environment does not survive being moved
        and stamp.get("digest") == digest(root)
        and stamp.get("level") in (level, "test")
        and (not chosen or stamp.get("python") == python_version())
    )


def read_stamp(venv: Path) -> dict[str, str]:
    """What the environment says was installed in it; empty when that is not known."""
    try:
        stamp = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    is_complete = isinstance(stamp, dict) and (venv / "bin" / "python").exists()
    return stamp if is_complete and not (venv / UNFINISHED).exists() else {}


def digest(root: Path) -> str:
    """A fingerprint of every line that says what to install."""
    project, *tools = (root / "pyproject.toml").read_text(encoding="utf-8").split("\n[tool.")
    data_files = [table for table in tools if table.startswith("setuptools.")]
    lists = [(root / name).read_text(encoding="utf-8") for name in (PINS, *LOCKS.values())]
    return hashlib.sha256("\n".join([*lists, project, *data_files]).encode()).hexdigest()


def python_version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def refuse_foreign(venv: Path) -> None:
    """Stop before an environment that somebody else made: it is not ours to delete."""
    is_ours = (venv / STAMP).exists() or (venv / UNFINISHED).exists()
    if venv.exists() and any(venv.iterdir()) and not is_ours:
        raise SetupError(f"{venv} was not made by this Makefile: move it away, then try again.")


def remove(venv: Path) -> None:
    """Delete the environment, its mark last, so that a broken-off deletion is known as ours."""
    if not venv.exists():
        return
    (venv / UNFINISHED).touch()
    for entry in venv.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != UNFINISHED:
            entry.unlink()
    shutil.rmtree(venv)


def install(venv: Path, root: Path, level: str, fresh: bool) -> None:
    """Install into the environment; the stamp is taken away first and written last.

    First what is locked, every file of it checked against its hash. Then what is not: this package,
    built by the locked setuptools, and PyTorch, for which a reader may name an address.
    """
    venv.mkdir(parents=True, exist_ok=True)
    (venv / UNFINISHED).touch()
    (venv / STAMP).unlink(missing_ok=True)
    python = str(venv / "bin" / "python")
    if fresh:
        without_pip = [] if importlib.util.find_spec("ensurepip") else ["--without-pip"]
        run([sys.executable, "-m", "venv", *without_pip, str(venv)], root)
    pip = [python, "-m", "pip"]
    if not (venv / "bin" / "pip").exists():  # Debian without python3-venv: lend it our pip
        pip = [sys.executable, "-m", "pip", "--python", python]
    locked = ["--require-hashes", "-r", LOCKS[level]]
    not_locked = ["--no-build-isolation", "-r", PINS, "-e", EXTRAS[level]]
    for packages in (locked, not_locked):
        run([*pip, "install", "--disable-pip-version-check", *packages], root)

    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = subprocess.check_output([python, "-c", ask], text=True).strip()
    stamp = {"root": str(root), "digest": digest(root), "level": level, "python": version}
    part = venv / "qkv-ready.part"
    part.write_text(json.dumps(stamp) + "\n", encoding="utf-8")
    part.replace(venv / STAMP)
    (venv / UNFINISHED).unlink()


def run(command: list[str], root: Path) -> None:
    """Run a command, its output shown; a failure ends the set-up."""
    if subprocess.call(command, cwd=root):
        raise SetupError(
            f"\nSet-up failed at: {' '.join(command[:4])}\n"
            "Its words are above; if they speak of a connection, check the network. Nothing half\n"
            "made is kept: give the same command again, and it starts afresh."
        )


def main(arguments: list[str]) -> int:
    root = Path(__file__).resolve().parent.parent
    try:
        set_up(root / ".venv", root, arguments[0], chosen="--chosen" in arguments)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up interrupted; the next call starts it afresh.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
