"""German to English on Multi30k by `qkv train` on one GPU: BLEU, and minutes by the clock.

    python benchmarks/multi30k_gpu.py FOLDER      or MULTI30K=FOLDER make bench

A larger model than that of multi30k.py, with dropout, for more epochs; the checkpoint is chosen by
BLEU on the validation set. Without an NVIDIA GPU, or without the folder, nothing is measured.
Writes results/multi30k_gpu.json and results/multi30k_gpu.md beside this file.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from baselines import data_config, fields_in_words, folder_of
from baselines.text import TEST
from results import Figures, save_results

from qkv.bleu import bleu_scorer
from qkv.config import parameter_count
from qkv.corpus import read_pairs
from qkv.torch import Transformer
from qkv.trainer import (
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

# All that is not here is a default.
MODEL: dict[str, Any] = {"d_model": 256, "d_ff": 1024, "n_layers": 4, "dropout": 0.3}
TRAINING = TrainingConfig(epochs=40, max_tokens=4096)
RUNTIME = RuntimeConfig(device="cuda", bf16=True)
VOCABULARY = 8000
AIM = 40.0
WITHOUT = "There is no NVIDIA GPU here. Nothing was measured."


def measure(
    folder: Path,
    model_options: dict[str, Any] = MODEL,
    config: TrainingConfig = TRAINING,
    runtime_config: RuntimeConfig = RUNTIME,
) -> Figures:
    """Train with the files of a folder, and translate its test set."""
    score = bleu_scorer()  # before there is anything to lose
    names = [folder / f"{TEST}.{language}.gz" for language in ("de", "en")]
    texts, references = map(list, zip(*read_pairs(*names), strict=True))
    curve: list[dict[str, float]] = []

    def keep(event: Event) -> None:
        if isinstance(event, ValidationResult):
            curve.append({"step": event.step, "bleu": event.scores.bleu})
            print(f"step {event.step}: BLEU {event.scores.bleu:.2f}", flush=True)

    with tempfile.TemporaryDirectory() as parent, open_runtime(runtime_config) as runtime:
        data = TranslationData.from_config(replace(data_config(folder), vocab_size=VOCABULARY))
        rng = torch.Generator().manual_seed(config.seed)
        model = Transformer(data.model_config(**model_options), rng=rng)
        start, run = time.perf_counter(), TrainingRun(parent)
        Trainer(model, data, config, runtime).fit(run, keep)
        minutes = (time.perf_counter() - start) / 60
        translator = Translator.from_checkpoint(run.best, "torch", runtime.device.type)
        found = {
            "greedy": score(translator.translate(texts), references),
            "beam 4": score(translator.translate(texts, "beam", beam_size=4), references),
        }
    return {
        "recipe": fields_in_words(data.config, model_options, config, runtime_config),
        "parameters": parameter_count(model.config),
        "minutes": minutes,
        "signature": found["greedy"][1],
        "bleu": {name: bleu for name, (bleu, _) in found.items()},
        "validation": curve,
    }


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    lines = [
        "# German to English on Multi30k, on one GPU",
        "",
        f"{figures['parameters']:,} parameters, trained with `{figures['recipe']}`:"
        f" {figures['minutes']:.1f} minutes by the clock, validations among them. Aim: {AIM:g}."
        f" BLEU on {TEST}, `{figures['signature']}`.",
        "",
        "| decoding | BLEU |",
        "|---|--:|",
        *(f"| {name} | {bleu:.2f} |" for name, bleu in figures["bleu"].items()),
        "",
        "| step | BLEU on the validation set |",
        "|--:|--:|",
        *(f"| {point['step']} | {point['bleu']:.2f} |" for point in figures["validation"]),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    folder = folder_of(sys.argv[1:])
    if not torch.cuda.is_available():
        print(WITHOUT)
        return
    figures = measure(folder)
    save_results("multi30k_gpu", table(figures), figures)
    print(table(figures))


if __name__ == "__main__":
    main()
