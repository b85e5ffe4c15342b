"""Check the files that a command will write: before any work, and none of them is one it reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from qkv.checkpoint import checkpoint_files

__all__ = ["check_output_files"]

RUN_FILES = ("run.json", "log.jsonl")  # beside the checkpoints of a run


def check_output_files(
    outputs: Mapping[str, Path | None], inputs: Iterable[str | int], checkpoint: str | None
) -> None:
    """Refuse a file that cannot be written, or that would be lost when it is.

    A pipe or a device may be written to in any case: it holds nothing.

    Args:
        outputs: by their options; None for one that is not given.
        inputs: what is read: paths, or numbers of open files.
        checkpoint: its manifest or folder, of which no file is written over; None for none.
    Raises:
        ValueError: one is in no folder, or the same as another, as an input, or as a file of the
            checkpoint.
    """
    taken: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        target = os.path.realpath(path)
        if path.is_dir() or not Path(target).parent.is_dir():
            raise ValueError(f"{path} cannot be written: name a file in a folder that is there")
        if path.exists() and not path.is_file():
            continue
        if target in taken:
            raise ValueError(f"{taken[target]} and {option} are both {path}: name two files")
        taken[target] = option
        if any(_same_file(path, read) for read in (*inputs, *_files_of(checkpoint))):
            raise ValueError(f"{option} {path} would write over what is read: name another file")


def _files_of(checkpoint: str | None) -> list[str]:
    """The files beside a checkpoint that it, another one or a run stands in."""
    if checkpoint is None:
        return []
    path = Path(checkpoint)
    folder = path if path.is_dir() else path.parent
    return [
        str(folder / name) for name in (*RUN_FILES, *checkpoint_files(folder, skip_unreadable=True))
    ]


def _same_file(path: Path, other: str | int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.stat(other))
    except (OSError, ValueError):  # one is not there yet, or is closed; or no file has such a name
        return False
