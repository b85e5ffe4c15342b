"""A small Transformer trained for some hundred steps, as several experiments train it."""

from __future__ import annotations

from typing import Any

import torch

from qkv.torch import Transformer
from qkv.trainer import Trainer, TrainingConfig, TranslationData

__all__ = ["SIZES", "train_translator"]

SIZES: dict[str, Any] = {
    "d_model": 32,
    "n_heads": 4,
    "d_k": 8,
    "d_v": 8,
    "d_ff": 128,
    "n_layers": 2,
    "dropout": 0.1,
    "norm_first": False,
    "positions": "sinusoidal",
}


def train_translator(
    data: TranslationData,
    *,
    steps: int,
    seed: int,
    label_smoothing: float = 0.1,
    **changes: Any,
) -> Trainer:
    """Train a model to the last step.

    Args:
        seed: draws the parameters, the order of the pairs and dropout. Models of one seed and of
            the same sizes begin alike, and all models of one seed see the same batches.
        changes: fields of `TransformerConfig` other than in `SIZES`.
    Returns:
        The trainer, which holds the model and validates it.
    """
    config = data.model_config(**SIZES | changes)
    model = Transformer(config, rng=torch.Generator().manual_seed(seed))
    training = TrainingConfig(
        steps=steps,
        learning_rate=0.005,
        warmup=max(1, steps // 10),
        max_tokens=512,
        label_smoothing=label_smoothing,
        seed=seed,
    )
    trainer = Trainer(model, data, training)
    for _ in trainer.steps():
        pass
    return trainer
