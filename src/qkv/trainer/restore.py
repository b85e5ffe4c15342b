"""What training takes out of checkpoints: where to go on, and the average of the last few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import torch

from qkv.bridge import copy_parameters, state_dict
from qkv.checkpoint import Checkpoint
from qkv.torch import Adam, Transformer, average_checkpoints
from qkv.trainer.data import TranslationData
from qkv.trainer.fields import LATER_END
from qkv.trainer.run import TrainingRun
from qkv.trainer.state import TrainerState
from qkv.trainer.stored import FREE, StoredRun, check_unchanged

__all__ = ["averaged", "restore"]


def restore(
    run: TrainingRun,
    description: StoredRun,
    data: TranslationData,
    model: Transformer,
    optimizer: Adam,
) -> tuple[TrainerState, int]:
    """Take parameters and optimizer from the last checkpoint of a run, if there is one.

    Args:
        run: to go on with.
        description: of the run as it would go on.
        data, model, optimizer: to train with, and to take the parameters and the state.
    Returns:
        Where training stood, and how many steps the run was to have.
    Raises:
        ValueError: run or checkpoint is of another model or other data, or began otherwise.
    """
    stored = run.stored()
    for name in ("model", "training", "runtime"):
        given = asdict(getattr(description, name))
        check_unchanged(getattr(stored, name), given, ignore=(*FREE, *LATER_END))
    stored.training.extended(steps=description.training.steps)
    run.check_data(data)
    before = stored.training.steps or 0
    if not run.last.exists():
        return TrainerState(), before
    last = Checkpoint.load(run.last, optimizer=True)
    if last.config != model.config or last.optimizer is None:
        raise ValueError(
            f"Trainer: {run.last} is of a model of other sizes than this run's: bring the run's "
            "own back, or begin another run with `out`"
        )
    copy_parameters(last.parameters, model)
    optimizer.load_state_dict(last.optimizer)
    state = TrainerState.from_metadata(last.metadata, str(run.last))
    if description.training.steps != before and run.best.exists():
        # What is best at the end of a run may be an average, better than every validation.
        metadata = {**last.metadata, "best": Checkpoint.load(run.best).metadata.get("scores")}
        at_end = TrainerState.from_metadata(metadata, str(run.best)).best
        if at_end and state.best and at_end.better_than(state.best):
            state.best = at_end
    return state, before


@contextmanager
def averaged(model: Transformer, paths: Sequence[Path]) -> Iterator[None]:
    """Let the model have the mean of the parameters of checkpoints, and its own afterwards."""
    last = state_dict(model)
    states = [Checkpoint.load(path).parameters for path in paths]
    tensors = [{name: torch.from_numpy(x) for name, x in state.items()} for state in states]
    average = {name: x.numpy() for name, x in average_checkpoints(tensors).items()}
    copy_parameters(average, model)
    yield
    copy_parameters(last, model)
