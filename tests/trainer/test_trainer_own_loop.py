"""A training loop written from the public parts has the trainer's losses, digit for digit."""

from itertools import islice

import numpy as np
import pytest
import torch

from qkv.bridge import state_dict
from qkv.learning_rate_schedules import linear_schedule
from qkv.text import bucketed_batches
from qkv.torch import Adam, Transformer, clip_grad_norm
from qkv.trainer import (
    DataConfig,
    Runtime,
    RuntimeConfig,
    Trainer,
    TrainingConfig,
    TranslationData,
    TranslationLoss,
    batch_tensors,
    tune_malloc,
)
from tests.helpers.training import PAIRS, same

CPU = torch.device("cpu")
TRAINING = TrainingConfig(steps=6, max_tokens=60, warmup=2, learning_rate=0.01, max_grad_norm=0.5)


@pytest.mark.parametrize("bf16", [False, True])
def test_a_loop_of_the_public_parts_has_the_losses_of_the_trainer(bf16):
    data = TranslationData.from_pairs(PAIRS[3:], PAIRS[:3], DataConfig(words=True))
    sizes = data.model_config(d_model=12, n_heads=2, d_ff=8, n_layers=1, dropout=0.0)
    models = [Transformer(sizes, rng=torch.Generator().manual_seed(0)) for _ in range(2)]
    trainer = Trainer(models[0], data, TRAINING, Runtime(CPU, RuntimeConfig(bf16=bf16)))
    expected = [(result.loss, result.grad_norm) for result in trainer.steps()]

    tune_malloc()
    model = models[1]
    loss_function = TranslationLoss(model, TRAINING.label_smoothing).train()
    optimizer = Adam(model, betas=TRAINING.betas)
    first_epoch = np.random.default_rng([TRAINING.seed, 0])
    batches = bucketed_batches(data.training, TRAINING.max_tokens, rng=first_epoch)
    found = []
    for step, batch in enumerate(islice(batches, TRAINING.steps), start=1):
        tensors = batch_tensors(batch, CPU)
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss_sum = loss_function(*tensors)
        (loss_sum / len(tensors[-1])).backward()
        norm = clip_grad_norm(model, TRAINING.max_grad_norm)
        optimizer.step(linear_schedule(step, TRAINING.steps, TRAINING.warmup, 0.01))
        found.append((float(loss_sum.detach()) / len(tensors[-1]), float(norm)))
    assert len(found) == 6
    assert found == expected
    same(*map(state_dict, models))
