"""Resume a training from its last checkpoint: counters, parameters and optimizer; the average."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from qkv.bridge import copy_parameters, state_dict
from qkv.checkpoint import Checkpoint
from qkv.numpy import average_checkpoints
from qkv.torch import Adam, Transformer
from qkv.trainer.data import TranslationData
from qkv.trainer.events import Scores
from qkv.trainer.stored_run import StoredRun, check_unchanged
from qkv.trainer.training_run import TrainingRun

__all__ = ["TrainerState", "averaged", "restore"]


@dataclass
class TrainerState:
    """Counters of a training, which its checkpoints keep; times are of training alone.

    Args:
        step: optimizer steps so far.
        epoch, index: the epoch, and the place in it of the next step.
        tokens: of source and target so far, without padding.
        seconds, cpu_seconds: spent so far.
        best: the best scores so far.
    """

    step: int = 0
    epoch: int = 0
    index: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    best: Scores | None = None

    def metadata(self) -> dict[str, Any]:
        """As a checkpoint keeps it."""
        return {**vars(self), "best": None if self.best is None else self.best.numbers()}

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any], name: str) -> Self:
        """Of a checkpoint of this name.

        Raises:
            ValueError: something is missing, or of another kind.
        """
        keys = [field.name for field in fields(cls)]
        for key in keys:
            if key not in metadata:
                raise ValueError(f"Trainer: {name} is of no run: it does not say its {key!r}")
            if not _fits(key, metadata[key]):
                raise ValueError(f"Trainer: {name} is of no run: its {key!r} is {metadata[key]!r}")
        best = metadata["best"]
        values = {key: metadata[key] for key in keys}
        return cls(**values | {"best": best and Scores(**best)})


def _fits(key: str, value: object) -> bool:
    """Whether a file may say this of a counter, a time or the best scores."""
    if key == "best":
        names = {"loss", "bleu", "exact"}
        if not isinstance(value, dict):
            return value is None
        return set(value) == names and all(_fits("", number) for number in value.values())
    if key in ("step", "epoch", "index", "tokens"):
        return type(value) is int and value >= 0
    return type(value) in (int, float)


def restore(
    run: TrainingRun,
    description: StoredRun,
    data: TranslationData,
    model: Transformer,
    optimizer: Adam,
) -> tuple[TrainerState, int]:
    """Load parameters and optimizer from the last checkpoint of a run, if there is one.

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
        check_unchanged(vars(getattr(stored, name)), vars(getattr(description, name)))
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
    copy_parameters(average_checkpoints(states), model)
    yield
    copy_parameters(last, model)
