"""What training takes out of checkpoints: where to go on, and the average of the last few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from qkv.bridge import StateDict, copy_parameters
from qkv.checkpoint import Checkpoint
from qkv.torch import Adam, Transformer, average_checkpoints
from qkv.trainer.data import TranslationData
from qkv.trainer.run import TrainingRun
from qkv.trainer.state import TrainerState
from qkv.trainer.stored import StoredRun, check_unchanged

__all__ = ["average_parameters", "restore"]


def restore(
    run: TrainingRun,
    description: StoredRun,
    data: TranslationData,
    model: Transformer,
    optimizer: Adam,
) -> TrainerState:
    """Take parameters and optimizer from the last checkpoint of a run, if there is one.

    Args:
        run: to go on with.
        description: of the run as it would go on.
        data, model, optimizer: to train with, and to take the parameters and the state.
    Returns:
        Where training stood.
    Raises:
        ValueError: run or checkpoint is of another model or other data, or began otherwise.
    """
    stored = run.stored()
    for name in ("model", "training", "runtime"):
        check_unchanged(getattr(stored, name), asdict(getattr(description, name)))
    run.check_data(data)
    if not run.last.exists():
        return TrainerState()
    last = Checkpoint.load(run.last, optimizer=True)
    if last.config != model.config or last.optimizer is None:
        raise ValueError(
            f"Trainer: {run.last} is of a model of other sizes than this run's: bring the run's "
            "own back, or begin another run with `out`"
        )
    copy_parameters(last.parameters, model)
    optimizer.load_state_dict(last.optimizer)
    return TrainerState.from_metadata(last.metadata, str(run.last))


def average_parameters(paths: Sequence[Path]) -> StateDict:
    """The mean of the parameters of checkpoints, one by one."""
    states = [Checkpoint.load(path).parameters for path in paths]
    tensors = [{name: torch.from_numpy(x) for name, x in state.items()} for state in states]
    return {name: x.numpy() for name, x in average_checkpoints(tensors).items()}
