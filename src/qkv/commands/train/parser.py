"""The options of `qkv train`: a flag for each field of the configurations, with its docstring."""

from __future__ import annotations

import argparse
import inspect
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from qkv.commands.argument_types import ArgumentParser, number
from qkv.config import ModelConfig
from qkv.shapes.choices import TIES
from qkv.shapes.fields import Choice, FieldType, Interval, field_types
from qkv.trainer.config import PATHS, DataConfig, RuntimeConfig, TrainingConfig, check_tie

__all__ = ["Configs", "argument_docs", "flag", "flags", "parser", "read", "with_flags"]

EXAMPLES = """examples:
  qkv train                                   the English-Korean grammar of the book
  qkv train --source a.de --target a.en       your sentence pairs, line 1 beside line 1
  qkv train --resume                          go on where it was interrupted
  qkv train --resume --epochs 8               go on with a run that had fewer
  torchrun --standalone --nproc-per-node 2 -m qkv.commands.train …     on two devices
"""
GROUPS: dict[str, Any] = {
    "text: the grammar of the book, unless files are given": DataConfig,
    "model": ModelConfig,
    "training": TrainingConfig,
    "machine": RuntimeConfig,
}
METAVARS = {"columns": ("S", "T"), "betas": "BETA", "validate_every": "STEPS"}
ARGUMENT = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*(?:\n {8}.*)*)", re.MULTILINE)
FIELD = re.compile(r"`([a-z_0-9]+)`")
ON_BY_DEFAULT = {
    name
    for config in GROUPS.values()
    for name, field in field_types(config).items()
    if field.default is True
}
FORMER_FLAGS = {
    "--norm-placement pre": "--norm-first",
    "--norm-placement post": "--no-norm-first",
    **{f"--tie {word}": f"--tie-word-embeddings {word}" for word in TIES},
}


class Configs(NamedTuple):
    """What was typed, as the library takes it."""

    data: DataConfig
    model: ModelConfig
    training: TrainingConfig
    runtime: RuntimeConfig


def parser() -> argparse.ArgumentParser:
    result = ArgumentParser(
        prog="qkv train",
        description="Train a Transformer to translate, and keep it in a folder.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for title, config in GROUPS.items():
        group = result.add_argument_group(title)
        if config is RuntimeConfig:
            group.add_argument("--out", default="model", help="the folder of the run; model")
            resume = "go on with the run of that folder, by its own options"
            group.add_argument("--resume", action="store_true", help=resume)
        docs = argument_docs(config)
        for name, field in field_types(config).items():
            if (config, name) != (DataConfig, "seed"):  # one flag for both seeds
                _add(group, name, field, docs.get(name, ""))
    return result


def argument_docs(documented: type) -> dict[str, str]:
    """What the docstring of a class says of each of its arguments, by name."""
    entries = ARGUMENT.findall(inspect.getdoc(documented) or "")
    return {
        name: " ".join(text.split()).removesuffix(".")
        for names, text in entries
        for name in names.split(", ")
    }


def _add(group: argparse._ArgumentGroup, name: str, field: FieldType, text: str) -> None:
    text = with_flags(text.replace("None means", "by default")).replace("%", "%%")
    if field.rule is bool:
        action = argparse.BooleanOptionalAction if field.default else "store_true"
        group.add_argument(flag(name), action=action, default=field.default, help=text)
        return
    rule, default = field.rule, field.default
    options: dict[str, Any] = {"default": default}
    if isinstance(rule, Choice):
        options["choices"] = rule.words
    elif isinstance(rule, Interval):
        options["type"] = number(rule.kind, rule.holds, f"no {rule}")
    elif name in PATHS:
        options["type"] = os.path.abspath
    if field.length:
        options["nargs"] = field.length
    if name in METAVARS:
        options["metavar"] = METAVARS[name]
    group.add_argument(flag(name), help=f"{text}{shown(default)}", **options)


def shown(default: Any) -> str:
    """A default at the end of a help text."""
    if default is None:
        return ""
    values = default if isinstance(default, tuple) else (default,)
    return f"; {' '.join(f'{x:g}' if isinstance(x, float) else str(x) for x in values)}"


def read(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, dict[str, Any]]:
    """All options, and those of them that were given."""
    command_line = parser()
    arguments = with_current_flags(sys.argv[1:] if arguments is None else arguments)
    options = command_line.parse_args(arguments)
    # What is set already, a parser's defaults leave alone.
    unset = argparse.Namespace(**dict.fromkeys(vars(options), ...))
    typed = vars(command_line.parse_args(arguments, unset))
    return options, {name: value for name, value in typed.items() if value is not ...}


def with_current_flags(arguments: Sequence[str]) -> list[str]:
    """Arguments with the flags of former versions replaced; a line on stderr names the new ones."""
    found: list[str] = []
    for argument in arguments:
        former = f"{found[-1]} {argument}" if found else ""
        former = argument.replace("=", " ", 1) if argument.startswith("--") else former
        if former not in FORMER_FLAGS:
            found.append(argument)
            continue
        print(f"qkv train: {former} is {FORMER_FLAGS[former]} now", file=sys.stderr)
        if not argument.startswith("--"):
            found.pop()
        found += FORMER_FLAGS[former].split()
    return found


def configs_of(options: argparse.Namespace) -> Configs:
    """The configurations that options say.

    Raises:
        ValueError: two do not go together.
    """
    configs = Configs(*(_config(config, options) for config in GROUPS.values()))
    check_tie(configs.model, configs.data)
    return configs


def _config(config: Any, options: argparse.Namespace) -> Any:
    return config(**{name: getattr(options, name) for name in field_types(config)})


def flag(name: str) -> str:
    """The flag of a field."""
    return f"--{name.replace('_', '-')}"


def flags(name: str, value: Any) -> str:
    """A field and its value, as they are typed."""
    if isinstance(value, bool):
        off = flag(f"no_{name}") if name in ON_BY_DEFAULT else f"no {flag(name)}"
        return flag(name) if value else off
    return f"{flag(name)} {' '.join(map(str, value)) if isinstance(value, tuple) else value}"


def with_flags(text: str) -> str:
    """Text of the library in the words of the command line: `max_len` is --max-len."""
    return FIELD.sub(lambda match: flag(match[1]), text)
