"""From what was typed to a trained model; errors become one line and an exit status."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from qkv.checkpoint import Checkpoint
from qkv.commands.messages import escaped, os_error_message
from qkv.commands.train.arguments import read
from qkv.commands.train.folder import Folder

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train; the exit status: 1 after an error, 130 after Ctrl-C."""
    folder = None
    try:
        options, given = read(arguments)
        folder = Folder(options.out)
        run(options, given, folder)
    except KeyboardInterrupt:
        say(f"Interrupted. {go_on(folder)}")
        return 130
    except OSError as error:
        words = os_error_message(error)
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        more = f" What was saved before is whole. Make room. {go_on(folder)}" if full else ""
        say(f"qkv train: {words}.{more}")
        return 1
    except (ValueError, ImportError) as error:
        say(f"qkv train: {error}")
        return 1
    except RuntimeError as error:
        mend = mend_of(error)
        if not mend:
            raise
        words = str(error).partition("\n")[0]
        say(f"qkv train: {words}: {mend}. The options of a run stay: begin another with --out")
        return 1
    return 0


def run(options: argparse.Namespace, given: dict[str, Any], folder: Folder) -> None:
    """Everything after the options are known."""
    # Only here: --help and a mistyped option need no torch, which takes seconds.
    from qkv.commands.train.devices import join
    from qkv.commands.train.session import session

    if options.resume:
        options = folder.options(given, options)
    # The processes of one run share its folder, and the first is the one that writes there.
    with folder.held() if is_first() else nullcontext():
        if not options.resume:
            folder.check_new()
        with join(options.device, options.threads, options.bf16) as place:
            session(options, folder, place)


def mend_of(error: RuntimeError) -> str:
    """What helps against an error of torch; nothing where it would be a fault of ours."""
    kind = type(error)
    if kind.__name__ == "OutOfMemoryError":
        return "lower --max-tokens, and raise --accumulate by as much"
    if kind.__module__.startswith(("torch._dynamo", "torch._inductor")):
        return "leave out --compile, or install what it needs, a C++ compiler"
    return ""


def say(words: str) -> None:
    """On stderr, once where several processes say the same."""
    if is_first():
        print(escaped(words), file=sys.stderr)


def is_first() -> bool:
    """Whether this is the one process that speaks and writes, before torch could say."""
    return os.environ.get("RANK", "0") == "0"


def go_on(folder: Folder | None) -> str:
    """How to resume, if there is something to resume."""
    if folder is None or not folder.run.exists():
        return "Nothing was saved yet."
    try:
        step = Checkpoint.load(folder.last).facts.get("step") if folder.last.exists() else 0
    except (ValueError, OSError) as error:
        return str(error)
    return f"Go on from update {step} with: qkv train --resume --out {folder.path}"
