"""Serve the built book on this machine only, its cells live."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from qkv.commands.argument_types import ArgumentParser, number
from qkv.commands.messages import escaped

BOOK = Path("_build/html")
ORIGIN = re.compile(r"https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?")


def has_screen() -> bool:
    """Whether opening a browser would open a window, and not a text browser in this terminal."""
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )


def origin(text: str) -> str:
    """A type for argparse: an https origin, which is a scheme, a name and perhaps a port."""
    if not ORIGIN.fullmatch(text.lower()):
        raise argparse.ArgumentTypeError(
            f"{text} is no origin: give https:// and a name, and no path, "
            "such as https://NAME-8000.app.github.dev"
        )
    return text.lower()


def build_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(prog="qkv serve", description=__doc__)
    port = number(int, lambda n: 0 < n < 65536, "no port: give a number from 1 to 65535")
    minutes = number(float, lambda x: 0 < x <= 1e6, "no time: give minutes, more than 0")

    parser.add_argument("--port", type=port, default=0, help="unless told, one that is free")
    parser.add_argument("--folder", type=Path, default=BOOK, help=f"the built book; {BOOK}")
    parser.add_argument("--no-open", action="store_true", help="open no browser")
    parser.add_argument(
        "--address",
        choices=("localhost", "127.0.0.1"),
        default="",
        help="for a browser that does not find the book, as Safari: no name of its own for each "
        "run; only where you trust all users of this machine",
    )
    parser.add_argument("--origin", type=origin, help="address of a port forward")
    parser.add_argument(
        "--idle", type=minutes, default=20.0, help="minutes that a kernel outlives its page; 20"
    )
    count = number(int, lambda n: n > 0, "no number of kernels: give 1 or more")
    parser.add_argument(
        "--kernels", type=count, default=20, help="pages that may run Python at a time; 20"
    )
    return parser


def forget_jupyter_settings() -> None:
    """Take every JUPYTER_… out of the environment: a token, an address or a path set for another
    server would change this one."""
    for name in [name for name in os.environ if name.startswith("JUPYTER")]:
        del os.environ[name]


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    if not (options.folder / "index.html").exists():
        folder = escaped(str(options.folder))
        print(f"There is no book in {folder}: make html builds it.", file=sys.stderr)
        return 1
    forget_jupyter_settings()
    show = has_screen() and not options.no_open
    try:
        from qkv.live.data_folder import BookIsOpenError
        from qkv.live.origin import PortError
        from qkv.live.server import serve

        origin, address = options.origin or "", options.address
        idle, kernels = options.idle, options.kernels
        serve(options.folder, options.port, show, origin, idle, kernels, address)
    except ModuleNotFoundError as error:
        print(f"There is no {error.name} here: pip install 'qkv[live]' brings it.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass  # before the server took over Ctrl-C
    except BookIsOpenError as error:
        print(f"This book is open already: {error.link}")
        return 0
    except PortError as error:
        print(error, file=sys.stderr)
        return 1
    print("Closed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
