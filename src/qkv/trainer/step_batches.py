"""Batch sampler: the batches of each optimizer step, epoch by epoch, in an order from the seed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from qkv.text import bucket_by_length
from qkv.trainer.config import TrainingConfig

__all__ = ["StepBatches", "check_lengths", "plan_steps", "steps_per_epoch"]

Index = NDArray[np.int64]


class StepBatches:
    """Batches whose gradients are accumulated for one optimizer step.

    Args:
        batches: each as the indices (B,) of its pairs.
        lengths: (N, 2), S and T of every pair.
        epoch, index: the epoch, and the number of the step in it, both counted from 0.
    """

    def __init__(
        self, batches: Sequence[Index], lengths: Index, epoch: int = 0, index: int = 0
    ) -> None:
        self.batches, self.epoch, self.index = batches, epoch, index
        self.target_tokens = int(sum(lengths[indices, 1].sum() for indices in batches))
        self.tokens = int(sum(lengths[indices].sum() for indices in batches))


def plan_steps(
    lengths: Index, config: TrainingConfig, epoch: int = 0, index: int = 0
) -> Iterator[StepBatches]:
    """All steps from one on, without an end; the same at each call, from the seed alone.

    Args:
        lengths: (N, 2), S and T of each pair.
        epoch, index: where to begin.
    """
    for number in count(epoch):
        batches = _epoch(lengths, config, number)
        starts = range(0, len(batches), config.gradient_accumulation)
        for step_in_epoch, start in enumerate(starts):
            if number > epoch or step_in_epoch >= index:
                chosen = batches[start : start + config.gradient_accumulation]
                yield StepBatches(chosen, lengths, number, step_in_epoch)


def check_lengths(lengths: Index, config: TrainingConfig) -> None:
    """Refuse batches that have no room for the longest sentence.

    Raises:
        ValueError: they have none.
    """
    if (longest := int(lengths.max())) > config.max_tokens:
        raise ValueError(
            f"Trainer: a sentence has {longest} tokens, and a batch at most {config.max_tokens}: "
            "raise `max_tokens`, or lower `max_len`"
        )


def steps_per_epoch(lengths: Index, config: TrainingConfig) -> int:
    """How many optimizer steps the first epoch takes."""
    return math.ceil(len(_epoch(lengths, config, 0)) / config.gradient_accumulation)


def _epoch(lengths: Index, config: TrainingConfig, epoch: int) -> list[Index]:
    rng = np.random.default_rng([config.seed, epoch])
    return bucket_by_length(lengths, config.max_tokens, rng=rng)
