"""The model of a run and what moves its parameters, made as the options say."""

from __future__ import annotations

import argparse
import math

import numpy as np
import torch

from qkv.commands.train.data import Data
from qkv.commands.train.updates import Places
from qkv.config import TransformerConfig
from qkv.text import PAD, plan_batches
from qkv.torch import Adam, AdamW, Dropout, Transformer

__all__ = ["complete", "config_of", "lengths_of", "make_model", "make_optimizer"]


def lengths_of(data: Data) -> Places:
    """(N, 2), S and T of each pair for training."""
    return np.array([(len(s), len(t) - 1) for s, t in data.training])


def complete(options: argparse.Namespace, data: Data) -> None:
    """Fill in what follows from the others and from how much text there is."""
    if options.epochs is None:
        options.epochs = 10.0 if options.source or options.tsv else 4.0
    if options.steps is None:
        rng = np.random.default_rng([options.seed, 0])
        batches = len(plan_batches(lengths_of(data), options.max_tokens, rng=rng))
        options.steps = max(1, round(options.epochs * math.ceil(batches / options.accumulate)))
    if options.warmup is None:
        options.warmup = min(4000, max(1, options.steps // 10))
    options.warmup = min(options.warmup, options.steps)
    if options.rate is None:
        options.rate = 2e-3 if options.schedule == "linear" else 1.0
    if options.validate_every is None:
        options.validate_every = min(1000, math.ceil(options.steps / 10))
    if options.tie is None:
        options.tie = "target" if options.separate else "all"


def config_of(options: argparse.Namespace, data: Data) -> TransformerConfig:
    """The sizes and choices of the model.

    Raises:
        ValueError: they do not go together.
    """
    return TransformerConfig(
        vocab_size=len(data.source),
        target_vocab_size=len(data.target) if options.separate else None,
        d_model=options.d_model,
        n_heads=options.heads,
        d_ff=options.d_ff,
        n_layers=options.layers,
        n_decoder_layers=options.decoder_layers,
        dropout=options.dropout,
        activation=options.activation,
        norm=options.norm,
        placement=options.placement,
        positions=options.positions,
        max_len=options.max_len + 1,
        tie=options.tie,
        pad_id=PAD,
    )


def make_model(config: TransformerConfig, seed: int, device: torch.device) -> Transformer:
    """A model whose first parameters hang on the seed alone, not on the device."""
    model = Transformer(config, rng=torch.Generator().manual_seed(seed))
    for module in model.modules():
        if isinstance(module, Dropout):
            module.rng = None  # it draws on the device, from what each update seeds
    return model.to(device)


def make_optimizer(options: argparse.Namespace, model: Transformer) -> Adam:
    kind = Adam if options.optimizer == "adam" else AdamW
    beta_1, beta_2 = options.betas
    return kind(model, betas=(beta_1, beta_2), weight_decay=options.weight_decay)
