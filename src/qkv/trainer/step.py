"""One optimizer step: gradients of its batches, accumulated over all processes, clipped, applied.

What is drawn for dropout is drawn afresh from the seed and from counters: a run that goes on after
an interruption needs nothing else to be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qkv.text import collate
from qkv.torch import Adam, AdamW, clip_grad_norm, linear_schedule, noam_schedule
from qkv.trainer.config import TrainingConfig
from qkv.trainer.data import Ids
from qkv.trainer.events import StepResult
from qkv.trainer.loss import batch_tensors
from qkv.trainer.runtime import Runtime
from qkv.trainer.step_batches import StepBatches

__all__ = ["OptimizerStep", "learning_rate_schedule", "make_optimizer"]


def make_optimizer(config: TrainingConfig, model: nn.Module) -> Adam:
    """The optimizer that a configuration names."""
    kind = Adam if config.optimizer == "adam" else AdamW
    return kind(model, betas=config.betas, weight_decay=config.weight_decay)


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
    if config.schedule == "noam":
        return lambda step: noam_schedule(step, d_model, warmup, highest)
    return lambda step: linear_schedule(step, steps, warmup, highest)


class OptimizerStep:
    """Call it with the batches of a step, and the parameters move.

    Args:
        loss: sums over the tokens of a batch, as `TranslationLoss`; several processes wrap it in
            DistributedDataParallel.
        optimizer: moves the parameters of `loss`.
        pairs: what the batches hold indices of.
        config: of the training; says seed and clipping.
        runtime: where it runs.
        learning_rate: of each step.
    """

    def __init__(
        self,
        loss: nn.Module,
        optimizer: Adam,
        pairs: Sequence[Ids],
        config: TrainingConfig,
        runtime: Runtime,
        learning_rate: Callable[[int], float],
    ) -> None:
        self.loss, self.optimizer, self.pairs = loss, optimizer, pairs
        self.config, self.runtime, self.learning_rate = config, runtime, learning_rate

    def __call__(self, batches: StepBatches, step: int) -> StepResult:
        """Take one step; what it reports is still on the device."""
        runtime, target_tokens = self.runtime, batches.target_tokens
        # every number that is drawn from here on hangs on these three alone
        seeds = np.random.SeedSequence([self.config.seed, step, runtime.rank])
        torch.manual_seed(int(seeds.generate_state(1)[0]))
        for parameter in self.loss.parameters():
            parameter.grad = None
        total = torch.zeros((), device=runtime.device)
        for n, indices in enumerate(batches.batches):
            last = n == len(batches.batches) - 1
            single = last or runtime.world_size == 1
            with nullcontext() if single else self.loss.no_sync():  # type: ignore[operator]
                loss = self._batch_loss(indices)
                # What is left of the gradients is their mean over processes, hence world_size.
                torch.autograd.backward(loss * (runtime.world_size / target_tokens))
            total += loss.detach()
        norm = clip_grad_norm(self.loss, self.config.max_grad_norm)
        learning_rate = self.learning_rate(step)
        self.optimizer.step(learning_rate)
        return StepResult(
            step,
            batches.epoch + 1,
            batches.index,
            learning_rate,
            batches.tokens,
            target_tokens,
            total,
            norm,
            runtime.world_size,
        )

    def _batch_loss(self, indices: NDArray[np.int64]) -> Tensor:
        """Of the rows of a batch that fall to this process: every n-th, for equal lengths."""
        rows = indices[self.runtime.rank :: self.runtime.world_size]
        batch = collate(self.pairs, rows if len(rows) else indices[:1])
        tensors = batch_tensors(batch, self.runtime.device)
        with self.runtime.autocast():
            loss: Tensor = self.loss(*tensors)
        # A process without a row takes part with another's, which does not count.
        return loss if len(rows) else loss * 0
