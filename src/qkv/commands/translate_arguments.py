"""The command line of `qkv translate`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from qkv.commands.argument_types import ArgumentParser, number
from qkv.shapes.choices import LENGTH_FORMULAS
from qkv.text.lines import MAX_TEXT
from qkv.translator.generation import METHODS, MOST

__all__ = ["SHIPPED", "parse", "search_options"]

SHIPPED = "pretrained"  # instead of a path
DESCRIPTION = """Translate text, one sentence a line, by a model that qkv train has saved.

An empty line gives an empty line, so that files stay line-aligned."""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line and choose the room; what is wrong with it ends the program."""
    parser = _parser()
    options = parser.parse_intermixed_args(arguments)  # the text may stand behind the options
    for method, (_, names) in METHODS.items():
        given = [name for name in names if getattr(options, name) is not None]
        if given and method != options.method:
            parser.error(f"--{given[0].replace('_', '-')} goes with --method {method}")
    if options.beam_size and options.beam_size > options.max_tokens:
        parser.error(
            f"--beam-size must be at most {options.max_tokens:,} here: a batch holds no more tokens"
        )
    if options.room is None:
        options.room = "torch" if options.device or find_spec("torch") else "numpy"
    if options.device and options.room == "numpy":
        parser.error("--device goes with --room torch")
    return options


def search_options(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `Translator.translate` among them."""
    names = (*METHODS[options.method][1], "max_new_tokens", "max_tokens", "truncate")
    values = {name: getattr(options, name) for name in names}
    return {"method": options.method} | {k: v for k, v in values.items() if v is not None}


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="qkv translate",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    count = number(
        int, lambda n: 1 <= n < MOST, f"no count: give a whole number from 1 on, below {MOST:,}"
    )
    whole = number(int, lambda n: n >= 0, "no seed: give a whole number from 0 on")
    penalty = number(float, lambda x: -20 <= x <= 20, "no number from -20 to 20")
    above = number(float, lambda x: x > 0, "no temperature: give a number above 0")
    share = number(float, lambda x: 0 < x <= 1, "no share: give a number above 0, at most 1")

    parser.add_argument(
        "checkpoint",
        metavar="CHECKPOINT",
        help=f'its JSON file or folder; "{SHIPPED}" is the English-Korean model of the book',
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default="-",
        help="text in UTF-8, plain or .gz; standard input unless given, each line answered at once",
    )
    parser.add_argument(
        "--list-words", action="store_true", help="show the words, or their pieces, that it reads"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="written whole, at the end")
    parser.add_argument(
        "--reference", metavar="FILE", help="right translations, line by line: prints BLEU"
    )
    parser.add_argument(
        "--attention", type=Path, metavar="FILE.html", help="draw who looked at whom, as one page"
    )
    parser.add_argument("--room", choices=("numpy", "torch"), help="torch where it is installed")
    parser.add_argument("--device", help="cpu, cuda, cuda:1 …; cuda where it is there")
    parser.add_argument(
        "--truncate", action="store_true", help="cut what is too long for the model"
    )
    parser.add_argument(
        "--max-new-tokens", "--max-len", type=count, help="the most tokens of a translation"
    )
    parser.add_argument(
        "--max-tokens", type=count, default=4096, help="of a batch, padding included; 4096"
    )
    parser.add_argument(
        "--max-text",
        type=count,
        default=MAX_TEXT,
        metavar="MIB",
        help=f"the most text of FILE in MiB, unpacked; {MAX_TEXT}",
    )
    parser.add_argument(
        "--method", choices=tuple(METHODS), default="greedy", help="greedy unless given"
    )
    beam = parser.add_argument_group("with --method beam")
    beam.add_argument("--beam-size", type=count, help="unfinished sentences kept; 4")
    beam.add_argument("--length-penalty", type=penalty, help="the larger, the longer; 1.0")
    beam.add_argument("--length-formula", choices=LENGTH_FORMULAS, help="power")
    sample = parser.add_argument_group("with --method sample")
    sample.add_argument("--temperature", type=above, help="below 1 sharpens, above 1 flattens; 1.0")
    sample.add_argument("--top-k", type=count, help="draw from the k likeliest tokens")
    sample.add_argument("--top-p", type=share, help="draw from the likeliest of this mass together")
    sample.add_argument("--seed", type=whole, help="the same seed draws the same translations")
    return parser
