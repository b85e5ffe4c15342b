"""One update of the parameters: some batches, their gradients, a step.

What is drawn, for the order of the pairs and for dropout, is drawn afresh from the seed and from
counters: a run that goes on after an interruption needs nothing else to be the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import count

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qkv.commands.train.data import Ids
from qkv.commands.train.devices import Place, narrow
from qkv.commands.train.finite import FiniteCheck
from qkv.commands.train.objective import tensors
from qkv.text import pad_batch, plan_batches
from qkv.torch import Adam, clip_gradients, linear_rate, noam_rate

__all__ = ["Update", "Updater", "plan", "rate_of"]

Places = NDArray[np.int64]


class Update:
    """Batches whose gradients are added up, as the places (B,) of their pairs."""

    def __init__(self, batches: Sequence[Places], lengths: Places) -> None:
        self.batches = batches
        self.words = int(sum(lengths[index, 1].sum() for index in batches))  # of the targets
        self.tokens = int(sum(lengths[index].sum() for index in batches))


def plan(
    lengths: Places, options: argparse.Namespace, epoch: int = 0, index: int = 0
) -> Iterator[tuple[int, int, Update]]:
    """All updates from one on, epoch after epoch: epoch, index in it, and what it takes."""
    for number in count(epoch):
        rng = np.random.default_rng([options.seed, number])
        batches = plan_batches(lengths, options.max_tokens, rng=rng)
        groups = range(0, len(batches), options.accumulate)
        for place, first in enumerate(groups):
            if number > epoch or place >= index:
                yield number, place, Update(batches[first : first + options.accumulate], lengths)


def rate_of(step: int, options: argparse.Namespace) -> float:
    """The learning rate of an update, counted from 1."""
    if options.schedule == "noam":
        return noam_rate(step, options.d_model, options.warmup, options.rate)
    return linear_rate(step, options.steps, options.warmup, options.rate)


class Updater:
    """Take the gradients of an update over all processes, and step along them."""

    def __init__(
        self,
        objective: nn.Module,
        optimizer: Adam,
        pairs: Sequence[Ids],
        options: argparse.Namespace,
        place: Place,
    ) -> None:
        self.objective, self.optimizer, self.pairs = objective, optimizer, pairs
        self.options, self.place = options, place
        self.finite = FiniteCheck(place.device)

    def __call__(self, update: Update, step: int) -> Tensor:
        """The loss of this process's part, summed over its words, still on the device.

        Raises:
            ValueError: training has diverged, as `FiniteCheck` says.
        """
        options, place = self.options, self.place
        # every number that is drawn from here on hangs on these three alone
        seeds = np.random.SeedSequence([options.seed, step, place.rank])
        torch.manual_seed(int(seeds.generate_state(1)[0]))
        for parameter in self.objective.parameters():
            parameter.grad = None
        total = torch.zeros((), device=place.device)
        for n, index in enumerate(update.batches):
            last = n == len(update.batches) - 1
            apart = nullcontext() if last or place.world == 1 else self.objective.no_sync()  # type: ignore[operator]
            with apart:
                loss = self._loss(index)
                # The mean over processes is what is left of the gradients, so multiply by `world`.
                torch.autograd.backward(loss * (place.world / update.words))
            total += loss.detach()
        norm = clip_gradients(self.objective, options.clip)
        self.optimizer.step(rate_of(step, options))
        self.finite.add(step, total, norm)
        return total

    def _loss(self, index: Places) -> Tensor:
        """Of the rows of a batch that fall to this process: every `world`-th, for equal lengths."""
        own = index[self.place.rank :: self.place.world]
        batch = tensors(pad_batch(self.pairs, own if len(own) else index[:1]), self.place.device)
        with narrow(self.place.device) if self.options.bf16 else nullcontext():
            loss: Tensor = self.objective(*batch)
        # A process without a row takes part with another's, which does not count.
        return loss if len(own) else loss * 0
