"""A run from text to checkpoints, in one of its processes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from qkv.checkpoint import Checkpoint
from qkv.commands.messages import counted
from qkv.commands.train.data import Data, prepare
from qkv.commands.train.devices import Place
from qkv.commands.train.folder import Folder
from qkv.commands.train.keeper import Keeper, restore
from qkv.commands.train.loop import State, train
from qkv.commands.train.model import complete, config_of, make_model, make_optimizer
from qkv.commands.train.objective import Objective
from qkv.commands.train.progress import Progress
from qkv.config import parameter_count

__all__ = ["session"]


def session(options: argparse.Namespace, folder: Folder, place: Place) -> None:
    """Read, train, keep.

    Raises:
        ValueError, OSError, ImportError: whatever its parts refuse.
    """
    last = None
    if options.resume and folder.last.exists():
        last = Checkpoint.load(folder.last, optimizer=True)
    data = prepare(options, (last.source, last.target) if last else None)
    complete(options, data)
    model = make_model(config_of(options, data), options.seed, place.device)
    objective = Objective(model, options.label_smoothing, not options.compile)
    optimizer = make_optimizer(options, model)
    if options.resume:
        folder.check_text(data)
    state = State(**restore(folder, last, objective, optimizer)) if last else State()
    with Progress(options.steps, state.step, silent=not place.first) as progress:
        place.wait()  # all have looked at the folder before one writes to it
        if place.first and not options.resume:
            folder.begin(options, data, place.machine)
        introduce(options, data, folder, place, state, progress)
        keeper = Keeper(options, data, folder, objective, optimizer)
        train(options, data, objective, optimizer, state, place, keeper, progress)
        if place.first:
            keeper.finish(state, progress)
            progress.line(
                f"{state.seconds:.0f} s of training, {state.cpu_seconds:.0f} s of processor time. "
                f"The best model is {folder.best}."
            )
        place.wait()


def introduce(
    options: argparse.Namespace,
    data: Data,
    folder: Folder,
    place: Place,
    state: State,
    progress: Progress,
) -> None:
    """Say what is about to happen, and what is left out."""
    for n, what in zip(data.left_out, ("training", "validation"), strict=True):
        if n:
            words = f"more than --max-len {options.max_len} tokens, left out"
            progress.line(f"{counted(n, 'pair')} for {what} with {words}.")
    count = parameter_count(config_of(options, data))
    sizes = f"{len(data.source):,}" + f" and {len(data.target):,}" * options.separate
    many = f", {place.world} processes" if place.world > 1 else ""
    progress.line(
        f"{counted(len(data.training), 'pair')} to learn from, {len(data.validation):,} to "
        f"validate with; vocabulary {sizes}; {count:,} parameters; {place.device}{many}."
    )
    if options.resume:
        began, now = machine_words(folder.content()["machine"]), machine_words(place.machine)
        if began and began != now:
            progress.line(
                f"This run began on {began} and goes on with {now}: the last digits of its numbers "
                "may differ."
            )
    if state.step:
        progress.line(f"Going on from update {state.step:,} of {options.steps:,}.")
    else:
        progress.line(f"{counted(options.steps, 'update')}, saved in {folder.path}.")


def machine_words(machine: Mapping[str, Any]) -> str:
    """A machine as `Place.machine` gives it, in words; nothing where not all of it is known."""
    if None in machine.values():
        return ""
    processes, threads = counted(machine["processes"], "process"), machine["threads"]
    return f"{machine['device']} ({processes}, {counted(threads, 'thread')} each)"
