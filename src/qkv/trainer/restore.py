"""What training takes out of checkpoints: where to go on, and the average of the last few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from qkv.bridge import copy_parameters, state_dict
from qkv.checkpoint import Checkpoint
from qkv.torch import average_checkpoints
from qkv.trainer.events import Scores
from qkv.trainer.fields import LATER_END
from qkv.trainer.run import TrainingRun
from qkv.trainer.state import TrainerState
from qkv.trainer.stored import FREE, check_unchanged

if TYPE_CHECKING:
    from qkv.trainer.trainer import Trainer

__all__ = ["restore", "validate_average"]


def restore(run: TrainingRun, trainer: Trainer) -> tuple[TrainerState, int]:
    """Take parameters and optimizer from the last checkpoint of a run, if there is one.

    Args:
        run: to go on with.
        trainer: whose model and optimizer take what was saved.
    Returns:
        Where training stood, and how many steps the run was to have.
    Raises:
        ValueError: run or checkpoint is of another model or other data, or began otherwise.
    """
    stored, description = run.stored(), trainer.description
    for name in ("model", "training", "runtime"):
        given = asdict(getattr(description, name))
        check_unchanged(getattr(stored, name), given, ignore=(*FREE, *LATER_END))
    stored.training.extended(steps=description.training.steps)
    run.check_data(trainer.data)
    before = stored.training.steps or 0
    if not run.last.exists():
        return TrainerState(), before
    last = Checkpoint.load(run.last, optimizer=True)
    if last.config != trainer.model.config or last.optimizer is None:
        raise ValueError(
            f"Trainer: {run.last} is of a model of other sizes than this run's: bring the run's "
            "own back, or begin another run with `out`"
        )
    copy_parameters(last.parameters, trainer.model)
    trainer.optimizer.load_state_dict(last.optimizer)
    state = TrainerState.from_metadata(last.metadata, str(run.last))
    if description.training.steps != before and run.best.exists():
        # What is best at the end of a run may be an average, better than every validation.
        metadata = {**last.metadata, "best": Checkpoint.load(run.best).metadata.get("scores")}
        at_end = TrainerState.from_metadata(metadata, str(run.best)).best
        if at_end and state.best and at_end.better_than(state.best):
            state.best = at_end
    return state, before


def validate_average(trainer: Trainer, paths: Sequence[Path]) -> tuple[Checkpoint, Scores]:
    """The mean of the parameters of checkpoints, and how good it is; the model stays as it is."""
    last = state_dict(trainer.model)
    states = [Checkpoint.load(path).parameters for path in paths]
    tensors = [{name: torch.from_numpy(x) for name, x in state.items()} for state in states]
    average = {name: x.numpy() for name, x in average_checkpoints(tensors).items()}
    copy_parameters(average, trainer.model)
    scores = trainer.validate()
    checkpoint = trainer.checkpoint(scores, step=trainer.state.step, averaged=len(paths))
    copy_parameters(last, trainer.model)
    return checkpoint, scores
