"""What tests share that need a Python of its own, in which nothing is imported yet."""

import subprocess
import sys

from tests.helpers.waiting import WAIT_SECONDS


def run_python(code, *arguments, **options):
    """Run code in a fresh Python to its end: its status, and what it wrote."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, **options)
