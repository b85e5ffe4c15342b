"""Make the model that ships with the package: train, measure, put it where `pretrained` looks."""

from __future__ import annotations

import argparse
import hashlib
import platform
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

from qkv.checkpoint import Checkpoint
from qkv.corpus import Pair, sentences, split_by_combination, split_random
from qkv.files import write_whole
from qkv.pretrained import alignment_accuracy, diagonal_accuracy, exact_match
from qkv.pretrained.load import MODEL
from qkv.translator import Translator

# What `qkv train` is told; the rest is its defaults. Small enough to read, and to ship.
RECIPE = shlex.split("""
    --words --separate --max-len 16
    --d-model 64 --heads 2 --d-ff 256 --layers 2 --decoder-layers 1 --placement post --dropout 0.1
    --steps 3000 --max-tokens 1024 --label-smoothing 0.1 --clip 1 --average 1
    --schedule linear --rate 0.003 --warmup 200
    --seed 0 --device cpu --threads 1
""")
HELD_BACK, SEED = 0.1, 0
DIGEST = MODEL.parent.with_name("digest.py")


def held_back(split: str) -> list[Pair]:
    """The pairs of the grammar that training never sees."""
    divide = split_random if split == "random" else split_by_combination
    return divide(sentences(), HELD_BACK, Random(SEED))[1]


def train(split: str, steps: int | None = None) -> Checkpoint:
    """The last checkpoint of one run: taking it, and not the best, looks at nothing held back.

    Args:
        split: "combination" or "random".
        steps: other than the recipe's, for a trial.
    Raises:
        RuntimeError: `qkv train` failed, and has said why.
    """
    from qkv.commands.train import main as qkv_train

    more = ["--split", split, "--held-back", str(HELD_BACK)]
    if steps is not None:
        count = str(steps)
        more += ["--steps", count, "--warmup", str(max(1, steps // 10)), "--validate-every", count]
    with tempfile.TemporaryDirectory() as folder:
        if qkv_train([*RECIPE, *more, "--out", folder]):
            raise RuntimeError("qkv train did not end well")
        return Checkpoint.load(Path(folder) / "last.json")


def figures(checkpoint: Checkpoint, pairs: Sequence[Pair]) -> dict[str, Any]:
    """What a model makes of pairs that it has not seen, by greedy and by beam search."""
    translator = Translator.from_checkpoint(checkpoint)
    greedy, wrong = exact_match(translator, pairs)
    return {
        "pairs": len(pairs),
        "exact match, greedy": round(greedy, 4),
        "exact match, beam 4": round(exact_match(translator, pairs, "beam")[0], 4),
        "wrong": [list(found) for found in wrong],
        "alignment": _rounded(alignment_accuracy(translator, pairs)),
        "diagonal": _rounded(diagonal_accuracy(pairs)),
    }


def make(path: Path, steps: int | None = None) -> Checkpoint:
    """Train, measure and write a model whose JSON file is `path`; gives back what was written."""
    start = time.process_time()
    trained = train("combination", steps)
    facts = {
        "command": "python -m qkv.commands.pretrain",
        "recipe": shlex.join(("qkv", "train", *RECIPE)),
        "steps": trained.facts["step"],
        "seconds": round(time.process_time() - start),
        "max_len": trained.facts["max_len"],
        "held back": "combination",
        "share": HELD_BACK,
        "seed": SEED,
        "figures": figures(trained, held_back("combination")),
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "torch")},
    }
    made = Checkpoint(trained.config, trained.parameters, trained.source, trained.target, facts)
    made.save(path)
    return made


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m qkv.commands.pretrain", description=__doc__)
    found.add_argument("--out", type=Path, default=MODEL.parent, help="folder; the package's own")
    found.add_argument("--steps", type=int, help="fewer than the recipe's, for a trial")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    path = options.out / MODEL.name
    try:
        options.out.mkdir(parents=True, exist_ok=True)  # what cannot be is said now, not at the end
        made = make(path, options.steps)
    except (OSError, RuntimeError) as error:
        print(f"There is no model: {error}.", file=sys.stderr)
        return 1
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if options.out.resolve() == MODEL.parent.resolve():
        words = DIGEST.read_text().partition("DIGEST")[0]
        write_whole(DIGEST, f'{words}DIGEST = "{digest}"\n'.encode())
    found = made.facts["figures"]
    print(f"{path}: SHA-256 {digest}")
    print(f"Exact match on {found['pairs']} pairs held back: {found['exact match, greedy']:.2%}")
    return 0


def _rounded(shares: dict[str, float]) -> dict[str, float]:
    return {name: round(share, 4) for name, share in shares.items()}


if __name__ == "__main__":
    sys.exit(main())
