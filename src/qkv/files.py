"""Files that are either whole or not there."""

import os
import secrets
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file at once: whoever looks finds the old content or the new, never a part.

    Raises:
        OSError: it cannot be written; what was there is as it was.
    """
    path = Path(path)
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the name without the bytes
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
