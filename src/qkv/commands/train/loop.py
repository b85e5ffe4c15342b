"""A run from its first update, or from where it was interrupted, to its last."""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, field

import torch

from qkv.commands.train.data import Data
from qkv.commands.train.devices import Place
from qkv.commands.train.evaluation import Scores
from qkv.commands.train.folder import Row
from qkv.commands.train.keeper import Keeper
from qkv.commands.train.model import lengths_of
from qkv.commands.train.objective import Objective
from qkv.commands.train.progress import Progress
from qkv.commands.train.updates import Updater, plan, rate_of
from qkv.torch import Adam

__all__ = ["State", "train"]


@dataclass
class State:
    """Where a run stands, besides parameters and optimizer; times are of training alone."""

    step: int = 0
    epoch: int = 0
    index: int = 0  # of the next update in its epoch
    tokens: int = 0  # useful ones so far, of source and target
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    best: Scores | None = None
    rows: list[Row] = field(default_factory=list)


def train(
    options: argparse.Namespace,
    data: Data,
    objective: Objective,
    optimizer: Adam,
    state: State,
    place: Place,
    keeper: Keeper,
    progress: Progress,
) -> None:
    """Go on from `state` to the last update; validate and save now and then.

    Raises:
        ValueError: training has diverged.
        OSError: a checkpoint cannot be written.
    """
    update = Updater(parallel(objective, options, place), optimizer, data.training, options, place)
    losses = torch.zeros((), device=place.device)  # since the last validation, and words with them
    words, shown = 0, (0.0, 0)
    began, cpu_began = time.monotonic(), time.process_time()
    for epoch, index, chosen in plan(lengths_of(data), options, state.epoch, state.index):
        if state.step >= options.steps:
            return
        losses += update(chosen, state.step + 1)
        state.step, state.epoch, state.index = state.step + 1, epoch, index + 1
        state.tokens, words = state.tokens + chosen.tokens, words + chosen.words
        if progress.due(chosen.tokens):
            sum_now = float(losses) * place.world  # as if the others had the same
            progress.update(state.step, (sum_now - shown[0]) / (words - shown[1]))
            shown = sum_now, words
        if state.step % options.validate_every and state.step < options.steps:
            continue

        update.finite.read()
        loss = float(place.total(losses)) / words
        state.seconds += time.monotonic() - began
        state.cpu_seconds += time.process_time() - cpu_began
        if not math.isfinite(loss):
            raise ValueError(
                f"the loss is {loss} by update {state.step:,}: begin another run with a lower rate "
                "(--rate), or with a longer warm-up (--warmup)"
            )
        if place.first:
            paused = time.monotonic()
            keeper.validate(state, epoch, loss, rate_of(state.step, options), progress)
            progress.pause(time.monotonic() - paused)
        losses, words, shown = torch.zeros_like(losses), 0, (0.0, 0)
        began, cpu_began = time.monotonic(), time.process_time()


def parallel(objective: Objective, options: argparse.Namespace, place: Place) -> torch.nn.Module:
    """The objective in training mode, compiled if asked for, and one of several if there are."""
    module: torch.nn.Module = objective.train()
    if options.compile:
        module.compile(dynamic=True)
    if place.world > 1:
        ids = [place.device.index] if place.device.type == "cuda" else None
        module = torch.nn.parallel.DistributedDataParallel(module, device_ids=ids)
    return module
