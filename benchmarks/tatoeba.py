"""Korean to English on Tatoeba: how far 3,000 pairs go. The score, and what stands beside it.

    python benchmarks/tatoeba.py FILE      or TATOEBA=FILE make bench

FILE has tabs between its columns: English, Korean, whose they are. Many of Tatoeba's sentences have
several translations, so pairs that share a sentence stay in one part of the split; else the test
would ask for what was learnt by heart. Prints some translations, which stay with the reader: the
sentences are not ours. Without the file nothing is measured. Writes results/tatoeba.json and
results/tatoeba.md beside this file.
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path

import torch
from baselines import fields_in_words
from results import Figures, save_results

from qkv.bleu import bleu_scorer
from qkv.corpus import read_tsv
from qkv.torch import Transformer
from qkv.trainer import (
    DataConfig,
    Event,
    RuntimeConfig,
    Trainer,
    TrainingConfig,
    TrainingRun,
    TranslationData,
    ValidationResult,
    open_runtime,
)
from qkv.translator import Translator

Pairs = list[tuple[str, str]]

# All that is not here is a default.
DATA = DataConfig(vocab_size=3000)
MODEL = {"n_layers": 2, "dropout": 0.3}
TRAINING = TrainingConfig(epochs=40, max_tokens=512)
RUNTIME = RuntimeConfig(device="cpu", threads=1)
SIZES = {"test": 350, "val": 250}  # pairs at least
SHOWN = 10
WHERE = """Tatoeba's pairs are not shipped. Take kor-eng from manythings.org/anki (tatoeba.org,
CC BY 2.0 FR) and name its kor.txt, as an argument or in TATOEBA. Nothing was measured."""


def split(pairs: Pairs) -> dict[str, Pairs]:
    """Test, validation and training, without a sentence that stands in two of them."""
    groups = _connected(pairs)
    random.Random(0).shuffle(groups)
    parts: dict[str, Pairs] = {"test": [], "val": [], "train": []}
    for group in groups:
        small = (name for name, size in SIZES.items() if len(parts[name]) < size)
        parts[next(small, "train")] += group
    return parts


def _connected(pairs: Pairs) -> list[Pairs]:
    """Pairs that are joined by a sentence of either language, case and punctuation aside."""
    parents: dict[str, str] = {}

    def find(name: str) -> str:
        while parents.setdefault(name, name) != name:
            name = parents[name]
        return name

    for korean, english in pairs:
        parents[find("ko " + plain(korean))] = find("en " + plain(english))
    groups: dict[str, Pairs] = {}
    for pair in pairs:
        groups.setdefault(find("en " + plain(pair[1])), []).append(pair)
    return list(groups.values())


def plain(text: str) -> str:
    return re.sub(r"[^\w]+", " ", text.casefold()).strip()


def nearest(text: str, known: list[tuple[set[str], str]]) -> str:
    """The translation of the sentence that shares most pairs of letters with a text."""
    own = bigrams(text)
    return max(known, key=lambda entry: len(own & entry[0]) / len(own | entry[0]))[1]


def bigrams(text: str) -> set[str]:
    padded = f" {plain(text)} "
    return {padded[i : i + 2] for i in range(len(padded) - 1)}


def measure(path: Path) -> Figures:
    score = bleu_scorer()  # before there is anything to lose
    parts = split(list(dict.fromkeys(read_tsv(path, source=2, target=1))))
    with tempfile.TemporaryDirectory() as folder, open_runtime(RUNTIME) as runtime:
        start = time.process_time()
        data = TranslationData.from_pairs(parts["train"], parts["val"], DATA)
        rng = torch.Generator().manual_seed(TRAINING.seed)
        model = Transformer(data.model_config(**MODEL), rng=rng)
        run = TrainingRun(folder)
        Trainer(model, data, TRAINING, runtime).fit(run, show)
        minutes = (time.process_time() - start) / 60
        translator = Translator.from_checkpoint(run.best)
    texts, references = map(list, zip(*parts["test"], strict=True))
    known = [(bigrams(korean), english) for korean, english in parts["train"]]
    found = {
        "greedy": translator.translate(texts),
        "beam 4": translator.translate(texts, "beam", beam_size=4),
        "the nearest sentence learnt from": [nearest(text, known) for text in texts],
    }
    for at in range(0, len(texts), len(texts) // SHOWN):
        print(f"{texts[at]}\n  {references[at]}\n  qkv: {found['beam 4'][at]}")
    scores = {name: score(said, references) for name, said in found.items()}
    return {
        "recipe": fields_in_words(DATA, MODEL, TRAINING, RUNTIME),
        "minutes": minutes,
        "pairs": {part: len(pairs) for part, pairs in parts.items()},
        "signature": scores["greedy"][1],
        "bleu": {name: bleu for name, (bleu, _) in scores.items()},
        "exact": {
            name: sum(map(str.__eq__, said, references)) / len(references)
            for name, said in found.items()
        },
    }


def show(event: Event) -> None:
    """How far it is, at each validation."""
    if isinstance(event, ValidationResult):
        print(f"step {event.step}: BLEU {event.scores.bleu:.2f}", flush=True)


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    pairs = figures["pairs"]
    lines = [
        "# Korean to English on Tatoeba",
        "",
        f"{pairs['train']:,} pairs to learn from, {pairs['val']:,} to choose the"
        f" checkpoint by, {pairs['test']:,} to test with; no sentence stands in two of these.",
        f"Trained with `{figures['recipe']}`: {figures['minutes']:.1f} minutes of processor time."
        f" BLEU: `{figures['signature']}`.",
        "",
        "| translation | BLEU | exact |",
        "|---|--:|--:|",
        *(
            f"| {name} | {bleu:.1f} | {figures['exact'][name]:.1%} |"
            for name, bleu in figures["bleu"].items()
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    named = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TATOEBA")
    if named is None:
        print(WHERE)
        return
    if not Path(named).exists():
        sys.exit(f"There is no {named}. {WHERE}")
    figures = measure(Path(named))
    save_results("tatoeba", table(figures), figures)


if __name__ == "__main__":
    main()
