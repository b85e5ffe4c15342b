"""Make the model that ships with the package: train, measure, put it where `pretrained` looks.

Early checkpoints of the same run are written beside it.

python tools/train_pretrained.py
python tools/train_pretrained.py --out FOLDER --steps 300      a trial
"""

from __future__ import annotations

import argparse
import hashlib
import json
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
from qkv.config import ModelConfig
from qkv.corpus import Pair, sentences, split_by_combination, split_random
from qkv.files import atomic_write
from qkv.pretrained import (
    alignment_accuracy,
    antecedent_attention,
    exact_match,
    positional_accuracy,
)
from qkv.pretrained.load import MODEL
from qkv.torch import Transformer
from qkv.trainer import (
    DataConfig,
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
    norm_first=False,
    tie_word_embeddings="target",
)
# The seed was chosen among 0, 1 and 2 after short trials, measured on pairs held back: by it,
# heads of the encoder look from *it* at the noun that it means; by seed 0 none does, and pronouns
# are translated as well. So it shows what training can find, and not what it must.
TRAINING = TrainingConfig(steps=3000, learning_rate=0.003, warmup=200, average=1, seed=2)
EARLY = (1, 100, 300, 600, 1000)  # steps after which a checkpoint is kept
RUNTIME = RuntimeConfig(device="cpu", threads=1)
DIGEST = MODEL.parent.with_name("checkpoint_digests.py")


def held_back(split: str) -> list[Pair]:
    """The pairs of the grammar that training never sees."""
    divide = split_random if split == "random" else split_by_combination
    return divide(sentences(), DATA.validation_fraction, Random(DATA.seed))[1]


def train(split: str, steps: int | None = None) -> dict[int, Checkpoint]:
    """The early checkpoints, and last the model itself, by step.

    It is the model after the last step: taking that, and not the best, looks at nothing held back.

    Args:
        split: "combination" or "random".
        steps: other than the recipe's, for a trial.
    Raises:
        ValueError: training has diverged.
    """
    training = TRAINING
    if steps is not None:
        training = replace(training, steps=steps, warmup=max(1, steps // 10))
    found = {}
    with open_runtime(RUNTIME) as runtime:
        data = TranslationData.from_config(replace(DATA, split=split))
        rng = torch.Generator().manual_seed(training.seed)
        model = Transformer(data.model_config(**asdict(SIZES)), rng=rng)
        trainer = Trainer(model, data, training, runtime)
        for result in trainer.steps():
            if result.step % 300 == 0:
                print(f"step {result.step} of {trainer.total_steps}: loss {result.loss:.3f}")
            if result.step in EARLY or result.step == trainer.total_steps:
                found[result.step] = _copied(trainer.checkpoint())
    return found


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
        "pronouns": pronoun_figures(translator, pairs),
    }


def pronoun_figures(translator: Translator, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Exact match for the pairs with a reason alone, and where encoder heads look from *it*."""
    reasons = [pair for pair in pairs if pair.features.reason is not None]
    groups = {
        role: [pair for pair in reasons if pair.features.reason_of == role]
        for role in ("subject", "object", "place")
    }
    attention = antecedent_attention(translator, reasons)
    return {
        "pairs": len(reasons),
        "exact match, greedy": round(exact_match(translator, reasons)[0], 4),
        "by antecedent": {
            role: {"pairs": len(group), "exact match": round(exact_match(translator, group)[0], 4)}
            for role, group in groups.items()
            if group
        },
        "attention of it": {head: _rounded(shares) for head, shares in attention.items()},
    }


def early_figures(checkpoint: Checkpoint, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Exact match of an early checkpoint, by greedy search."""
    translator = Translator.from_checkpoint(checkpoint)
    reasons = [pair for pair in pairs if pair.features.reason is not None]
    return {
        "pairs": len(pairs),
        "exact match, greedy": round(exact_match(translator, pairs)[0], 4),
        "exact match of pronouns, greedy": round(exact_match(translator, reasons)[0], 4),
    }


def make(path: Path, steps: int | None = None) -> dict[int, Path]:
    """Train, measure and write a model whose JSON file is `path`, and early checkpoints beside it.

    Returns:
        The JSON files by step.
    """
    start = time.process_time()
    *early, (last, trained) = train("combination", steps).items()
    seconds = round(time.process_time() - start)
    pairs = held_back("combination")
    common = {
        "command": "python tools/train_pretrained.py",
        "recipe": {"data": asdict(DATA), "model": asdict(SIZES), "training": asdict(TRAINING)},
        "max_len": trained.metadata["max_len"],
        "held back": "combination",
        "share": DATA.validation_fraction,
        "seed": TRAINING.seed,
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "torch")},
    }
    for old in path.parent.glob("step-*.json"):
        old.unlink()
    paths = {}
    for step, checkpoint in early:
        half = {name: value.astype("float16") for name, value in checkpoint.parameters.items()}
        found = replace(checkpoint, parameters=half)
        whole = {name: value.astype("float32") for name, value in half.items()}
        scores = early_figures(replace(checkpoint, parameters=whole), pairs)
        paths[step] = path.with_name(f"step-{step}.json")
        own = {"steps": step, "stored as": "float16", "figures": scores}
        replace(found, metadata=common | own).save(paths[step])
    own = {"steps": last, "seconds": seconds, "figures": figures(trained, pairs)}
    replace(trained, metadata=common | own).save(path)
    return paths | {last: path}


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
        paths = make(path, options.steps)
    except (OSError, ValueError) as error:
        print(f"There is no model: {error}.", file=sys.stderr)
        return 1
    digests = {step: hashlib.sha256(file.read_bytes()).hexdigest() for step, file in paths.items()}
    if options.out.resolve() == MODEL.parent.resolve():
        docstring = DIGEST.read_text().partition("DIGESTS")[0]
        lines = "".join(f'    {step}: "{digest}",\n' for step, digest in digests.items())
        atomic_write(DIGEST, f"{docstring}DIGESTS = {{\n{lines}}}\n".encode())
    for step, file in paths.items():
        scores = json.loads(file.read_text())["metadata"]["figures"]
        print(f"{file}: SHA-256 {digests[step]}")
        print(
            f"Exact match on {scores['pairs']} pairs held back: {scores['exact match, greedy']:.2%}"
        )
    return 0


def _copied(checkpoint: Checkpoint) -> Checkpoint:
    """With parameters of its own, which training does not go on to change."""
    parameters = {name: value.copy() for name, value in checkpoint.parameters.items()}
    return replace(checkpoint, parameters=parameters)


def _rounded(shares: dict[str, float]) -> dict[str, float]:
    return {name: round(share, 4) for name, share in shares.items()}


if __name__ == "__main__":
    sys.exit(main())
