"""What the terminal knows as `qkv`: one module a command."""

from __future__ import annotations

import importlib
import sys

import qkv

COMMANDS = {
    "export": "a trained model as ONNX, to be run without qkv",
    "serve": "the built book on this machine, its cells live",
    "train": "a model that translates, from a grammar or from your sentence pairs",
    "translate": "text by a trained model; draws who looked at whom",
}


def main() -> int:
    """Run the command that is named first; the exit status."""
    name, *rest = sys.argv[1:] or ["--help"]
    if name in COMMANDS:
        return int(importlib.import_module(f"qkv.commands.{name}").main(rest))
    known = "\n".join(f"  qkv {command:10} {what}" for command, what in COMMANDS.items())
    if name in ("-h", "--help"):
        print(f"{known}\n\nqkv COMMAND --help says more, qkv --version which one this is.")
        return 0
    if name in ("-V", "--version"):
        print(f"qkv {qkv.__version__}")
        return 0
    print(f"There is no command {name!r}. There are:\n{known}", file=sys.stderr)
    return 2
