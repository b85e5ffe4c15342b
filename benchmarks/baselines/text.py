"""Multi30k from the reader's own disk, and how it is learnt."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from qkv.trainer import DataConfig, RuntimeConfig, TrainingConfig

__all__ = ["MODEL", "RUNTIME", "TRAINING", "data_config", "fields_in_words", "folder_of"]

# All that is not here is a default.
MODEL: dict[str, Any] = {"n_layers": 3, "dropout": 0.0}
TRAINING = TrainingConfig(epochs=5, max_tokens=800, learning_rate=0.003)
RUNTIME = RuntimeConfig(device="cpu", threads=1, bf16=True)
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


def data_config(folder: Path) -> DataConfig:
    """The text of this folder, in a vocabulary of 4,000 pieces for both languages."""
    return DataConfig(
        source=str(folder / "train.de.gz"),
        target=str(folder / "train.en.gz"),
        valid_source=str(folder / "val.de.gz"),
        valid_target=str(folder / "val.en.gz"),
        vocab_size=4000,
    )


def fields_in_words(*configs: Any) -> str:
    """What configurations say that is not a default, paths left out: name=value, …

    Args:
        configs: dataclasses, or the options of a model by name.
    """
    words = []
    for config in configs:
        values, defaults = config, {}
        if not isinstance(config, dict):
            values, defaults = asdict(config), asdict(type(config)())
        for name, value in values.items():
            said = name not in defaults or value != defaults[name]
            if said and not (isinstance(value, str) and os.sep in value):
                words.append(f"{name}={value}")
    return ", ".join(words)
