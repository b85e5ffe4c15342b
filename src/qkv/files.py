"""Atomic writes, reads of regular files alone, and a file lock that ends with its process."""

import os
import platform
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_write", "file_lock", "read_regular_file"]

# Where the system has them: no link is followed, and nobody waits for the other end of a pipe.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def atomic_write(
    path: str | os.PathLike[str],
    data: bytes,
    *,
    follow_symlinks: bool = True,
    mode: int = 0o666,
) -> None:
    """Write a file atomically: a reader finds the old content or the new, never a part.

    A symbolic link stays, and the file that it leads to is written. What is no regular file, such
    as a pipe or a device, is written in place: a file with its name would not be it.

    Args:
        follow_symlinks: False puts a file in the place of a link, a pipe or a device: in a folder
            that came from elsewhere, it is nobody's wish where they lead.
        mode: permissions of the file, less those that the umask takes.

    Raises:
        OSError: it cannot be written; a file that was there is as it was.
    """
    target = Path(os.path.realpath(path) if follow_symlinks else path)
    if follow_symlinks and _is_written_in_place(Path(path), target):
        with open(path, "wb") as file:
            file.write(data)
        return
    temporary = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(temporary, "xb", opener=lambda name, how: os.open(name, how, mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the name without the bytes
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def read_regular_file(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file; a pipe or a device, which may have no end, is refused.

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


@contextmanager
def file_lock(path: str | os.PathLike[str]) -> Iterator[None]:
    """Exclusive lock on a file, which is deleted with the lock; the lock ends with the process.

    Where the system or the file system knows no such locks, nothing is held.

    Raises:
        BlockingIOError: another process holds it; its text says which.
        ValueError: it is a link to another file, or no regular file.
        OSError: the file cannot be made.
    """
    path = Path(path)
    while True:
        file = os.fdopen(_open_no_link(path), "a+", encoding="utf-8")
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read()
            file.close()
            raise BlockingIOError(error.errno, holder or "another process", str(path)) from None
        except OSError:  # the file system has none
            pass
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.lstat()):
            break
        file.close()  # its last holder has deleted it: this is no longer the file of that name
    try:
        file.truncate(0)
        file.write(f"process {os.getpid()} on {platform.node()}")
        file.flush()
        yield
    finally:
        path.unlink(missing_ok=True)  # while it is held: no other process loses its own
        file.close()


def _open_no_link(path: Path) -> int:
    """Open a file, made if need be, refused where it is another one by a second name."""
    message = f"{path} is a link to another file, or no file at all: take it away"
    if path.is_symlink():
        raise ValueError(message)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_FOLLOW  # no link can come in between
    descriptor = os.open(path, flags, 0o666)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(descriptor)
        raise ValueError(message)
    return descriptor


def _is_written_in_place(path: Path, target: Path) -> bool:
    """Whether this is a pipe, a device or an open file, which no new file can replace."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(status.st_mode):
        return True
    try:  # a link in /proc leads to an open file, though its words may name none
        return not os.path.samestat(status, target.stat())
    except FileNotFoundError:
        return True
