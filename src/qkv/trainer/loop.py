"""The training loop: gradient accumulation, clipping, optimizer step, validation; its schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import torch
from torch import nn

from qkv.learning_rate_schedules import SCHEDULES
from qkv.text import collate
from qkv.torch import Adam, clip_grad_norm
from qkv.torch.training.optimizers import OPTIMIZERS
from qkv.trainer.config import TrainingConfig
from qkv.trainer.data import Ids
from qkv.trainer.events import StepResult
from qkv.trainer.loss import batch_tensors
from qkv.trainer.runtime import Runtime
from qkv.trainer.step_batches import StepBatches

__all__ = ["learning_rate_schedule", "make_optimizer", "training_loop"]


def make_optimizer(config: TrainingConfig, model: nn.Module) -> Adam:
    """The optimizer that a configuration names."""
    optimizer = OPTIMIZERS[config.optimizer]
    return optimizer(model, betas=config.betas, weight_decay=config.weight_decay)


def learning_rate_schedule(config: TrainingConfig, d_model: int) -> Callable[[int], float]:
    """The learning rate of each step, counted from 1.

    Args:
        config: with its defaults resolved.
        d_model: width of the model, which "noam" takes.
    """
    steps, warmup, highest = config.steps, config.warmup, config.learning_rate
    assert steps is not None  # for the type checker, as the other two: they are resolved
    assert warmup is not None
    assert highest is not None
    schedule = SCHEDULES[config.schedule]
    return lambda step: schedule(step, steps, warmup, highest, d_model)


def training_loop(
    loss_function: nn.Module,
    optimizer: Adam,
    pairs: Sequence[Ids],
    plan: Iterable[StepBatches],
    config: TrainingConfig,
    runtime: Runtime,
    learning_rate: Callable[[int], float],
    start: int = 1,
    validate: Callable[[StepResult, float], None] | None = None,
) -> Iterator[StepResult]:
    """Train: one optimizer step for each entry of a plan, given when its result is on its way.

    Args:
        loss_function: sums over the tokens of a batch, as `TranslationLoss`, in DDP if need be.
        optimizer: of its parameters.
        pairs, plan: token ids; the indices of each step's batches.
        config: says seed and clipping, and when to validate.
        runtime: where it runs.
        learning_rate: of each step, counted from 1.
        start: number of the first of them.
        validate: called with a step, and with the mean loss since it was called before.
    """
    losses, tokens = torch.zeros((), device=runtime.device), 0  # since the last validation
    for step, batches in enumerate(plan, start):
        # What dropout draws hangs on these three alone: a resumed run needs nothing else.
        seeds = np.random.SeedSequence([config.seed, step, runtime.rank])
        torch.manual_seed(int(seeds.generate_state(1)[0]))
        loss_function.zero_grad()
        loss_sum, target_tokens = torch.zeros((), device=runtime.device), batches.target_tokens
        for n, indices in enumerate(batches.batches, start=1):
            rows = indices[runtime.rank :: runtime.world_size]  # every n-th, for equal lengths
            batch = collate(pairs, rows if len(rows) else indices[:1])
            with runtime.gradient_sync(loss_function, last=n == len(batches.batches)):
                with runtime.autocast():
                    loss = loss_function(*batch_tensors(batch, runtime.device))
                if not len(rows):  # it takes part with another process's row, which does not count
                    loss = loss * 0
                # What is left of the gradients is their mean over processes, hence world_size.
                torch.autograd.backward(loss * (runtime.world_size / target_tokens))
            loss_sum += loss.detach()
        norm = clip_grad_norm(loss_function, config.max_grad_norm)
        rate = learning_rate(step)
        optimizer.step(rate)

        epoch, index, n_tokens = batches.epoch + 1, batches.index, batches.tokens
        result = StepResult(
            step, epoch, index, rate, n_tokens, target_tokens, loss_sum, norm, runtime.world_size
        )
        yield result
        losses += loss_sum
        tokens += target_tokens
        if validate and (step == config.steps or step % (config.validate_every or 1) == 0):
            validate(result, float(runtime.all_reduce(losses)) / tokens)
            losses, tokens = torch.zeros_like(losses), 0
