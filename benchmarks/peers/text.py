"""Multi30k from the reader's own disk, and how it is learnt."""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
from datetime import date
from pathlib import Path

import torch

from qkv.commands.train.arguments import parser

__all__ = ["RECIPE", "arguments_of", "folder_of", "machine", "options_of"]

# What `qkv train` is given besides the files. All that is not here is its default.
RECIPE = (
    "--vocabulary 4000 --layers 3 --epochs 5 --max-tokens 800 --rate 0.003 --dropout 0 --bf16"
    " --threads 1 --device cpu --seed 0"
)
TEST = "test_2016_flickr"
WHERE = f"""Multi30k is not shipped: it rests on Flickr30k's terms, for research and education.
Take the folder data/task1/raw of github.com/multi30k/dataset (train, val and {TEST},
each as .de.gz and .en.gz) and name it, as an argument or in MULTI30K. Nothing was measured."""


def folder_of(arguments: list[str]) -> Path:
    """The folder with the text; without one, the program ends here, and not as a failure."""
    named = arguments[0] if arguments else os.environ.get("MULTI30K")
    if named is None:
        print(WHERE)
        sys.exit(0)
    folder = Path(named)
    for name in ("train", "val", TEST):
        for language in ("de", "en"):
            if not (folder / f"{name}.{language}.gz").exists():
                sys.exit(f"{folder} holds no {name}.{language}.gz. {WHERE}")
    return folder


def arguments_of(folder: Path) -> list[str]:
    """What is typed after `qkv train`."""
    files = [
        *("--source", str(folder / "train.de.gz"), "--target", str(folder / "train.en.gz")),
        *("--valid-source", str(folder / "val.de.gz"), "--valid-target", str(folder / "val.en.gz")),
    ]
    return [*files, *shlex.split(RECIPE)]


def options_of(folder: Path, *more: str) -> argparse.Namespace:
    """The recipe as `qkv train` understands it; later options win."""
    return parser().parse_args([*arguments_of(folder), *more])


def machine() -> dict[str, str]:
    """What is measured on."""
    info = Path("/proc/cpuinfo")
    names = info.read_text().splitlines() if info.exists() else []
    found = [line.partition(":")[2].strip() for line in names if line.startswith("model name")]
    return {
        "date": date.today().isoformat(),
        "machine": found[0] if found else platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
