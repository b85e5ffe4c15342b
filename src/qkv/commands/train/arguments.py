"""What can be said after `qkv train`."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

from qkv.commands.numbers import number
from qkv.shapes.add_norm import NORMS, PLACEMENTS
from qkv.shapes.feed_forward import ACTIVATIONS
from qkv.shapes.transformer import POSITIONS, TIES

EXAMPLES = """examples:
  qkv train                                   the English-Korean grammar of the book
  qkv train --source a.de --target a.en       your sentence pairs, line 1 beside line 1
  qkv train --resume                          go on where it was interrupted
  torchrun --standalone --nproc-per-node 2 -m qkv.commands.train …     on two devices
"""
# What may differ when a run goes on: the machine, not the model.
FREE = {"out", "resume", "device", "threads"}
PATHS = {"source", "target", "tsv", "valid_source", "valid_target"}


def whole(least: int) -> Callable[[str], float]:
    """A type for argparse: whole numbers of at least so much."""
    return number(int, lambda n: n >= least, f"no whole number of at least {least}")


def real(least: float = 0.0, below: float = math.inf) -> Callable[[str], float]:
    """A type for argparse: numbers from `least` to less than `below`."""
    bound = f"of at least {least:g}" + (f" and below {below:g}" if below < math.inf else "")
    return number(float, lambda x: least <= x < below, f"no number {bound}")


def parser(
    kind: type[argparse.ArgumentParser] = argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    made = kind(
        prog="qkv train",
        description="Train a Transformer to translate, and keep it in a folder.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    share = real(0.0, 1.0)

    text = made.add_argument_group("text: the grammar of the book, unless files are given")
    text.add_argument("--source", type=os.path.abspath, help="sentences, one a line; or .gz")
    text.add_argument("--target", type=os.path.abspath, help="their translations, line by line")
    text.add_argument("--tsv", type=os.path.abspath, help="both in one file, tabs between columns")
    text.add_argument(
        "--columns",
        type=whole(1),
        nargs=2,
        default=[1, 2],
        metavar=("S", "T"),
        help="which columns of it; 1 2",
    )
    text.add_argument("--valid-source", type=os.path.abspath, help="sentences to validate with")
    text.add_argument("--valid-target", type=os.path.abspath, help="their translations")
    text.add_argument(
        "--valid-pairs",
        type=whole(1),
        default=500,
        help="without such files: how many pairs to hold back for that, at most a tenth; 500",
    )
    text.add_argument(
        "--split",
        choices=["combination", "random"],
        default="combination",
        help="how the grammar's pairs are held back: by combinations of words that "
        "training never shows, or any; combination",
    )
    text.add_argument(
        "--held-back",
        type=share,
        default=0.1,
        metavar="SHARE",
        help="share of the grammar's pairs that is held back; 0.1",
    )
    text.add_argument(
        "--vocabulary",
        type=whole(8),
        default=4000,
        help="the most tokens; pieces of words, by BPE; 4000",
    )
    text.add_argument("--words", action="store_true", help="whole words instead of pieces")
    text.add_argument(
        "--separate", action="store_true", help="a vocabulary for each language, not one for both"
    )
    text.add_argument(
        "--max-len",
        type=whole(2),
        default=128,
        help="the longest sentence in tokens, its end among them; longer ones are left out; 128",
    )

    model = made.add_argument_group("model")
    model.add_argument("--d-model", type=whole(1), default=128, help="width; 128")
    model.add_argument("--heads", type=whole(1), default=4, help="heads of each attention; 4")
    model.add_argument("--d-ff", type=whole(1), default=512, help="width inside feed-forward; 512")
    model.add_argument(
        "--layers", type=whole(1), default=3, help="of the encoder, and of the decoder; 3"
    )
    model.add_argument("--decoder-layers", type=whole(1), help="of the decoder, if not as many")
    model.add_argument("--dropout", type=share, default=0.1, help="0.1")
    model.add_argument(
        "--placement",
        choices=PLACEMENTS,
        default="pre",
        help="of the norms, before each part or after it; pre",
    )
    model.add_argument("--norm", choices=list(NORMS), default="layer", help="layer")
    model.add_argument("--activation", choices=list(ACTIVATIONS), default="relu", help="relu")
    model.add_argument(
        "--positions", choices=list(POSITIONS), default="sinusoidal", help="sinusoidal"
    )
    model.add_argument(
        "--tie", choices=list(TIES), help="which tables are one; all, or target with --separate"
    )

    learn = made.add_argument_group("training")
    learn.add_argument(
        "--epochs",
        type=number(float, lambda x: x > 0, "no number above 0"),
        help="how often each pair is seen; 4 of the grammar, 10 of files",
    )
    learn.add_argument("--steps", type=whole(1), help="how many updates, instead of epochs")
    learn.add_argument(
        "--max-tokens",
        type=whole(1),
        default=1024,
        help="the most tokens of a batch on either side, padding included, over all devices; 1024",
    )
    learn.add_argument("--accumulate", type=whole(1), default=1, help="batches an update; 1")
    learn.add_argument("--label-smoothing", type=share, default=0.1, help="0.1")
    learn.add_argument("--clip", type=real(1e-12), default=1.0, help="the longest gradient; 1")
    learn.add_argument(
        "--schedule",
        choices=["linear", "noam"],
        default="linear",
        help="the rate rises, and then falls in a line to 0 at the end, or with the "
        "root of the step as in the paper; linear",
    )
    learn.add_argument(
        "--rate", type=real(0.0), help="the highest rate, 0.002; or the factor of noam, 1"
    )
    learn.add_argument(
        "--warmup",
        type=whole(1),
        help="updates until the highest rate; a tenth of all, at most 4000",
    )
    learn.add_argument("--optimizer", choices=["adam", "adamw"], default="adam", help="adam")
    learn.add_argument(
        "--betas", type=share, nargs=2, default=[0.9, 0.98], metavar="BETA", help="0.9 0.98"
    )
    learn.add_argument("--weight-decay", type=real(0.0), default=0.0, help="0")
    learn.add_argument(
        "--validate-every",
        type=whole(1),
        metavar="STEPS",
        help="updates between validations, at each of which all is saved; a tenth "
        "of all, at most 1000",
    )
    learn.add_argument(
        "--average",
        type=whole(1),
        default=5,
        help="of how many last validations the average is tried at the end; 5",
    )
    learn.add_argument("--seed", type=whole(0), default=0, help="0")

    machine = made.add_argument_group("machine")
    machine.add_argument(
        "--out", type=os.path.abspath, default="model", help="the folder of the run; model"
    )
    machine.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run of that folder, by its own options",
    )
    machine.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps; auto")
    machine.add_argument(
        "--threads",
        type=whole(1),
        help="of the processor; with --resume, those that the run began with",
    )
    machine.add_argument(
        "--bf16", action="store_true", help="compute in bfloat16, where the device has it"
    )
    machine.add_argument("--compile", action="store_true", help="by torch.compile")
    return made


def read(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, dict[str, Any]]:
    """All options, and those of them that were given.

    Raises:
        ValueError: two do not go together.
    """
    made = parser()
    options = made.parse_args(arguments)
    # What is set already, a parser's defaults leave alone.
    unset = argparse.Namespace(**dict.fromkeys(vars(options), ...))
    typed = vars(made.parse_args(arguments, unset))
    given = {name: value for name, value in typed.items() if value is not ...}
    check(options)
    return options, given


def check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together."""

    def refuse(words: str) -> None:
        raise ValueError(f"{words}. qkv train --help says more")

    for one, other in (("source", "target"), ("valid_source", "valid_target")):
        if (getattr(options, one) is None) != (getattr(options, other) is None):
            names = [f"--{name.replace('_', '-')}" for name in (one, other)]
            refuse(f"{names[0]} and {names[1]} go together: line 1 of one stands beside line 1")
    if options.tsv and options.source:
        refuse("--tsv and --source are two places for the same text: give one")
    if options.separate and options.tie == "all":
        refuse("--tie all needs one vocabulary for both languages: leave out --separate")


def flags(name: str, value: Any) -> str:
    """An option as it is typed."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return flag if value else f"no {flag}"
    return f"{flag} {' '.join(map(str, value)) if isinstance(value, list) else value}"
