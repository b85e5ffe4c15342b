"""Write an exported folder whole or not at all, over nothing but an earlier export."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

__all__ = ["check_folder", "write_folder"]


def check_folder(folder: Path, names: Collection[str], overwrite: bool) -> None:
    """Refuse a folder that holds something, or that is in none.

    Args:
        folder: as the reader named it; a link leads to another.
        names: the files of an export.
        overwrite: an earlier export may be there.
    Raises:
        ValueError: it is in no folder, is none, or holds something.
    """
    path = Path(os.path.realpath(folder))
    if (path.exists() and not path.is_dir()) or not path.parent.is_dir():
        hint = "name a folder in one that is there"
        raise ValueError(f"export_onnx: {folder} cannot be written: {hint}")
    held = sorted(os.listdir(path)) if path.exists() else []
    if foreign := [name for name in held if name not in names]:
        raise ValueError(
            f"export_onnx: {folder} holds what is no export ({foreign[0]}): name another folder"
        )
    if held and not overwrite:
        raise ValueError(
            f"export_onnx: {folder} holds an export already: name another folder, or pass "
            "overwrite=True"
        )


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files beside the folder, and move them there together.

    Raises:
        OSError: it cannot be written; it is as it was. Its `filename` is the folder, and none of
            those that are there for a moment.
    """
    path = Path(os.path.realpath(folder))
    token = secrets.token_hex(4)
    new, old = (path.with_name(f"{path.name}.{token}.{kind}") for kind in ("part", "old"))
    try:
        _write_files(new, files)
        _move(new, path, old)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a new folder, and wait until the disk has it."""
    folder.mkdir()
    for name, data in files.items():
        with (folder / name).open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def _move(new: Path, path: Path, old: Path) -> None:
    """Move a folder to its path; what was there is `old` then, or is back after a failure."""
    if path.exists():
        os.replace(path, old)
    try:
        os.replace(new, path)
    except BaseException:
        if old.exists():
            os.replace(old, path)
        raise
