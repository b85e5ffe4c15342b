"""Node.js, which came with the test environment or stands on the path."""

import shutil
import sys
from pathlib import Path


def node() -> str:
    """The command that runs it."""
    beside = Path(sys.executable).with_name("node")
    return str(beside) if beside.exists() else shutil.which("node") or "node"
