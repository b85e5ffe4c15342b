"""The model that ships, trained again from other seeds: do its pictures come back?"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from random import Random
from typing import Any

import torch

from qkv.config import ModelConfig
from qkv.corpus import Pair, sentences, split_by_combination
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import alignment_accuracy, antecedent_attention, exact_match, pretrained
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

__all__ = ["check", "measure", "train"]

RECIPE: dict[str, dict[str, Any]] = json.loads(MODEL.read_text())["metadata"]["recipe"]


def train(seed: int, steps: int, threads: int = 1, until: int | None = None) -> Translator:
    """Train by the recipe of the model that ships, from another seed.

    Args:
        until: the step after which it is left, with the schedule of `steps`; None is the last.
    """
    data_options = RECIPE["data"] | {"columns": tuple(RECIPE["data"]["columns"])}
    sizes = ModelConfig(**RECIPE["model"])
    options = RECIPE["training"] | {"betas": tuple(RECIPE["training"]["betas"])}
    warmup = min(options["warmup"], max(1, steps // 10))  # a trial of few steps has a short one
    training = replace(TrainingConfig(**options), seed=seed, steps=steps, warmup=warmup)
    with open_runtime(RuntimeConfig(device="cpu", threads=threads)) as runtime:
        data = TranslationData.from_config(DataConfig(**data_options))
        rng = torch.Generator().manual_seed(seed)
        model = Transformer(data.model_config(**asdict(sizes)), rng=rng)
        trainer = Trainer(model, data, training, runtime)
        for result in trainer.steps():
            if result.step == until:
                break
        return Translator.from_checkpoint(trainer.checkpoint())


def scores(translator: Translator, pairs: list[Pair]) -> dict[str, Any]:
    """On pairs that were held back: exact match, alignment, and where heads look from *it*."""
    pronouns = [pair for pair in pairs if pair.features.reason is not None]
    looked = antecedent_attention(translator, pronouns)
    return {
        "right": [round(exact_match(translator, group)[0], 4) for group in (pairs, pronouns)],
        "alignment": round(alignment_accuracy(translator, pairs)["mean"], 3),
        "antecedent": {head: round(shares["antecedent"], 3) for head, shares in looked.items()},
    }


def measure(small: bool = False) -> dict[str, Any]:
    """Models of two other seeds, and last the one that ships, which was chosen for its pictures."""
    _, held_back = split_by_combination(
        list(sentences()), RECIPE["data"]["validation_fraction"], Random(RECIPE["data"]["seed"])
    )
    steps = 3 if small else RECIPE["training"]["steps"]
    pairs = held_back[::100] if small else held_back
    trained = {seed: train(seed, steps) for seed in (0, 1)}
    models = trained | {RECIPE["training"]["seed"]: pretrained()}
    runs = [{"seed": seed, **scores(translator, pairs)} for seed, translator in models.items()]
    return {"steps": steps, "pairs": len(pairs), "runs": runs}


def check(figures: dict[str, Any]) -> None:
    """Of models that translate equally well, one has a head on the noun meant, another none."""
    *_, shipped = figures["runs"]
    assert shipped["seed"] == 2
    assert shipped["antecedent"]["layer 1, head 0"] > 0.95
    if figures["steps"] == RECIPE["training"]["steps"]:
        for run in figures["runs"]:
            assert min(run["right"]) > 0.98
            assert run["alignment"] > 0.85
        assert max(figures["runs"][0]["antecedent"].values()) < 0.01


if __name__ == "__main__":
    run_and_store("results_seeds", measure)
