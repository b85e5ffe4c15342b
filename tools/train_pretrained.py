"""Make the model that ships with the package: train, measure, put it where `pretrained` looks.

python tools/train_pretrained.py
python tools/train_pretrained.py --out FOLDER --steps 300      a trial
"""

from __future__ import annotations

import argparse
import hashlib
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import torch

from qkv.checkpoint import Checkpoint
from qkv.corpus import Pair, sentences, split_by_combination, split_random
from qkv.files import atomic_write
from qkv.pretrained import alignment_accuracy, exact_match, positional_accuracy
from qkv.pretrained.load import MODEL
from qkv.torch import Transformer
from qkv.trainer import (
    DataConfig,
    ModelConfig,
    RuntimeConfig,
    Trainer,
    TrainingConfig,
    TranslationData,
    open_runtime,
)
from qkv.translator import Translator

# Small enough to read, and to ship; the rest is as in `qkv train`.
DATA = DataConfig(words=True, separate_vocabularies=True, max_len=16, validation_fraction=0.1)
SIZES = ModelConfig(
    d_model=64,
    n_heads=2,
    d_ff=256,
    n_layers=2,
    n_decoder_layers=1,
    norm_placement="post",
    tie="target",
)
TRAINING = TrainingConfig(steps=3000, learning_rate=0.003, warmup=200, average=1)
RUNTIME = RuntimeConfig(device="cpu", threads=1)
DIGEST = MODEL.parent.with_name("digest.py")


def held_back(split: str) -> list[Pair]:
    """The pairs of the grammar that training never sees."""
    divide = split_random if split == "random" else split_by_combination
    return divide(sentences(), DATA.validation_fraction, Random(DATA.seed))[1]


def train(split: str, steps: int | None = None) -> Checkpoint:
    """The model after the last step: taking it, and not the best, looks at nothing held back.

    Args:
        split: "combination" or "random".
        steps: other than the recipe's, for a trial.
    Raises:
        ValueError: training has diverged.
    """
    training = TRAINING
    if steps is not None:
        training = replace(training, steps=steps, warmup=max(1, steps // 10))
    with open_runtime(RUNTIME) as runtime:
        data = TranslationData.from_config(replace(DATA, split=split))
        rng = torch.Generator().manual_seed(training.seed)
        model = Transformer(data.model_config(**asdict(SIZES)), rng=rng)
        trainer = Trainer(model, data, training, runtime)
        for result in trainer.steps():
            if result.step % 300 == 0:
                print(f"step {result.step} of {trainer.total_steps}: loss {result.loss:.3f}")
        return trainer.checkpoint()


def figures(checkpoint: Checkpoint, pairs: Sequence[Pair]) -> dict[str, Any]:
    """What a model makes of pairs that it has not seen, by greedy and by beam search."""
    translator = Translator.from_checkpoint(checkpoint)
    greedy, wrong = exact_match(translator, pairs)
    return {
        "pairs": len(pairs),
        "exact match, greedy": round(greedy, 4),
        "exact match, beam 4": round(exact_match(translator, pairs, "beam")[0], 4),
        "wrong": [list(pair) for pair in wrong],
        "alignment": _rounded(alignment_accuracy(translator, pairs)),
        "diagonal": _rounded(positional_accuracy(pairs)),
    }


def make(path: Path, steps: int | None = None) -> Checkpoint:
    """Train, measure and write a model whose JSON file is `path`; gives back what was written."""
    start = time.process_time()
    trained = train("combination", steps)
    metadata = {
        "command": "python tools/train_pretrained.py",
        "recipe": {"data": asdict(DATA), "model": asdict(SIZES), "training": asdict(TRAINING)},
        "steps": trained.metadata["step"],
        "seconds": round(time.process_time() - start),
        "max_len": trained.metadata["max_len"],
        "held back": "combination",
        "share": DATA.validation_fraction,
        "seed": TRAINING.seed,
        "figures": figures(trained, held_back("combination")),
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "torch")},
    }
    checkpoint = Checkpoint(
        trained.config, trained.parameters, trained.source, trained.target, metadata
    )
    checkpoint.save(path)
    return checkpoint


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=MODEL.parent, help="folder; the package's own")
    parser.add_argument("--steps", type=int, help="fewer than the recipe's, for a trial")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    path = options.out / MODEL.name
    try:
        options.out.mkdir(parents=True, exist_ok=True)  # what cannot be is said now, not at the end
        checkpoint = make(path, options.steps)
    except (OSError, ValueError) as error:
        print(f"There is no model: {error}.", file=sys.stderr)
        return 1
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if options.out.resolve() == MODEL.parent.resolve():
        docstring = DIGEST.read_text().partition("DIGEST")[0]
        atomic_write(DIGEST, f'{docstring}DIGEST = "{digest}"\n'.encode())
    scores = checkpoint.metadata["figures"]
    print(f"{path}: SHA-256 {digest}")
    print(f"Exact match on {scores['pairs']} pairs held back: {scores['exact match, greedy']:.2%}")
    return 0


def _rounded(shares: dict[str, float]) -> dict[str, float]:
    return {name: round(share, 4) for name, share in shares.items()}


if __name__ == "__main__":
    sys.exit(main())
