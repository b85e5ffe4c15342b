"""Serve the built book on this machine only: `python tools/serve.py [--port 8000] [--open]`."""

from __future__ import annotations

import argparse
import functools
import os
import socket
import sys
import webbrowser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HOST = "127.0.0.1"
BOOK = Path(__file__).resolve().parent.parent / "_build" / "html"


class Handler(SimpleHTTPRequestHandler):
    """Files of the book; quiet, and never stale after a new build."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the address."""


def refusal(port: int) -> str:
    """Why the port cannot be had; empty when it can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            return os.strerror(error.errno or 0)
    return ""


def has_screen() -> bool:
    """Whether opening a browser would open a window, and not a text browser in this terminal."""
    return sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )


def port_number(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text} is no port: give a number from 1 to 65535")
    return int(text)


def serve(folder: Path, port: int, show: bool) -> None:
    """Serve until Ctrl-C."""
    handler = functools.partial(Handler, directory=str(folder))
    with ThreadingHTTPServer((HOST, port), handler) as server:
        address = f"http://{HOST}:{port}/"
        print(f"The book is at {address} (Ctrl-C ends).", flush=True)
        if show and has_screen():
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nClosed.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=port_number, default=8000)
    parser.add_argument("--folder", type=Path, default=BOOK)
    parser.add_argument("--open", action="store_true", help="open a browser where there is one")
    parser.add_argument("--probe", action="store_true", help="only say whether the port is free")
    options = parser.parse_args()
    if reason := refusal(options.port):
        print(
            f"Port {options.port} cannot be had ({reason}). Choose another: make book PORT=8123",
            file=sys.stderr,
        )
        return 1
    if options.probe:
        return 0
    if not (options.folder / "index.html").exists():
        print(f"There is no book in {options.folder}: make html builds it.", file=sys.stderr)
        return 1
    serve(options.folder, options.port, options.open)
    return 0


if __name__ == "__main__":
    sys.exit(main())
