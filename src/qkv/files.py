"""Files that are either whole or not there; pipes and devices are left as they are."""

import os
import secrets
import stat
from pathlib import Path

__all__ = ["read_whole", "write_whole"]


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file at once: whoever looks finds the old content or the new, never a part.

    A symbolic link stays, and the file that it leads to is written. What is no regular file, such
    as a pipe or a device, is written in place: a file with its name would not be it.

    Raises:
        OSError: it cannot be written; a file that was there is as it was.
    """
    target = Path(os.path.realpath(path))
    if _in_place(Path(path), target):
        with open(path, "wb") as file:
            file.write(data)
        return
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the name without the bytes
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, which a pipe or a device may not have: it could be without an end.

    Raises:
        ValueError: it is neither a regular file nor a folder.
        OSError: it cannot be read.
    """
    path = Path(path)
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = "pipe" if stat.S_ISFIFO(mode) else "device"
        raise ValueError(f"{path} is no regular file, but a {kind}: name a file")
    return path.read_bytes()


def _in_place(path: Path, target: Path) -> bool:
    """Whether this is something that no new file can stand for."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(found.st_mode):
        return True
    try:  # a link in /proc leads to an open file, though its words may name none
        return not os.path.samestat(found, target.stat())
    except FileNotFoundError:
        return True
