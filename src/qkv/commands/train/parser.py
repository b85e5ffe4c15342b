"""What can be typed after `qkv train`: a flag for each field of the configurations."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple, TypeVar

from qkv.commands.argument_types import ArgumentParser, number
from qkv.trainer.config import PATHS, DataConfig, ModelConfig, RuntimeConfig, TrainingConfig
from qkv.trainer.fields import Choice, FieldType, Interval, field_types

__all__ = ["Configs", "flag", "flags", "parser", "read"]

EXAMPLES = """examples:
  qkv train                                   the English-Korean grammar of the book
  qkv train --source a.de --target a.en       your sentence pairs, line 1 beside line 1
  qkv train --resume                          go on where it was interrupted
  qkv train --resume --epochs 8               go on with a run that had fewer
  torchrun --standalone --nproc-per-node 2 -m qkv.commands.train …     on two devices
"""
TEXT = {
    "source": "sentences, one a line; or .gz",
    "target": "their translations, line by line",
    "tsv": "both in one file, tabs between columns",
    "columns": "which columns of it",
    "valid_source": "sentences to validate with",
    "valid_target": "their translations",
    "valid_pairs": "without such files: how many pairs to hold back for that, at most a tenth",
    "split": "how the grammar's pairs are held back: by combinations of words that training never "
    "shows, or any",
    "validation_fraction": "share of the grammar's pairs that is held back",
    "vocab_size": "the most tokens; pieces of words, by BPE",
    "words": "whole words instead of pieces",
    "separate_vocabularies": "a vocabulary for each language, not one for both",
    "max_len": "the longest sentence in tokens, its end among them; longer ones are left out",
    "max_text": "the most text of a file in MiB, unpacked",
}
MODEL = {
    "d_model": "width",
    "n_heads": "heads of each attention",
    "d_ff": "width inside feed-forward",
    "n_layers": "layers of the encoder, and of the decoder",
    "n_decoder_layers": "of the decoder, if not as many",
    "dropout": "share of what each part adds that is left out",
    "norm_placement": "of the norms, before each part or after it",
    "norm": "which norm",
    "activation": "inside feed-forward",
    "positions": "how the model is told them",
    "tie": "which tables are one; all, or target with --separate-vocabularies",
}
TRAINING = {
    "epochs": "how often each pair is seen; 4 of the grammar, 10 of files; with --resume, more "
    "than before let the run go on",
    "steps": "how many steps, instead of epochs",
    "max_tokens": "the most tokens of a batch on either side, padding included, over all devices",
    "gradient_accumulation": "batches a step",
    "label_smoothing": "of the training loss",
    "max_grad_norm": "the longest gradient; a longer one is clipped",
    "schedule": "the rate rises, and then falls in a line to 0 at the end, or with the root of the "
    "step as in the paper",
    "learning_rate": "the highest rate, 0.002; or the factor of noam, 1",
    "warmup": "steps until the highest rate; a tenth of all, at most 4000",
    "optimizer": "which optimizer",
    "betas": "of the optimizer",
    "weight_decay": "of adamw, apart from the gradient; of adam, in it",
    "validate_every": "steps between validations, at each of which all is saved; a tenth of all, "
    "at most 1000",
    "average": "of how many last validations the average is tried at the end",
    "seed": "draws parameters, order and dropout, and which pairs are held back",
}
MACHINE = {
    "device": "auto, cpu, cuda, cuda:1, mps",
    "threads": "of the processor; with --resume, those that the run began with",
    "bf16": "compute in bfloat16, where the device has it",
    "compile": "by torch.compile",
}
GROUPS: tuple[tuple[str, Any, dict[str, str]], ...] = (
    ("text: the grammar of the book, unless files are given", DataConfig, TEXT),
    ("model", ModelConfig, MODEL),
    ("training", TrainingConfig, TRAINING),
    ("machine", RuntimeConfig, MACHINE),
)
METAVARS = {"columns": ("S", "T"), "betas": "BETA", "validate_every": "STEPS"}
Config = TypeVar("Config")


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
    for title, config, helps in GROUPS:
        group = result.add_argument_group(title)
        if config is RuntimeConfig:
            group.add_argument("--out", default="model", help="the folder of the run; model")
            resume = "go on with the run of that folder, by its own options"
            group.add_argument("--resume", action="store_true", help=resume)
        for name, field in field_types(config).items():
            if name in helps:
                _add(group, name, field, helps[name])
    return result


def _add(group: argparse._ArgumentGroup, name: str, field: FieldType, help_text: str) -> None:
    if field.rule is bool:
        group.add_argument(flag(name), action="store_true", help=help_text)
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
    group.add_argument(flag(name), help=f"{help_text}{shown(default)}", **options)


def shown(default: Any) -> str:
    """A default at the end of a help text."""
    if default is None:
        return ""
    values = default if isinstance(default, tuple) else (default,)
    return f"; {' '.join(f'{x:g}' if isinstance(x, float) else str(x) for x in values)}"


def read(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, dict[str, Any]]:
    """All options, and those of them that were given."""
    command_line = parser()
    options = command_line.parse_args(arguments)
    # What is set already, a parser's defaults leave alone.
    unset = argparse.Namespace(**dict.fromkeys(vars(options), ...))
    typed = vars(command_line.parse_args(arguments, unset))
    return options, {name: value for name, value in typed.items() if value is not ...}


def configs_of(options: argparse.Namespace) -> Configs:
    """The configurations that options say.

    Raises:
        ValueError: two do not go together.
    """
    data = _config(DataConfig, options)
    model = _config(ModelConfig, options).resolved(data.separate_vocabularies)
    return Configs(data, model, _config(TrainingConfig, options), _config(RuntimeConfig, options))


def _config(config: type[Config], options: argparse.Namespace) -> Config:
    names = [field.name for field in fields(config)]  # type: ignore[arg-type]
    return config(**{name: getattr(options, name) for name in names})


def flag(name: str) -> str:
    """The flag of a field."""
    return f"--{name.replace('_', '-')}"


def flags(name: str, value: Any) -> str:
    """A field and its value, as they are typed."""
    if isinstance(value, bool):
        return flag(name) if value else f"no {flag(name)}"
    return f"{flag(name)} {' '.join(map(str, value)) if isinstance(value, tuple) else value}"
