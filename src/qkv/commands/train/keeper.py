"""Validations, and the checkpoints that each of them leaves."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch

from qkv.bridge import State as Parameters
from qkv.bridge import state_of, to_torch
from qkv.checkpoint import Checkpoint, sweep
from qkv.commands.train.data import Data
from qkv.commands.train.evaluation import TELLING, Scores, better, evaluate
from qkv.commands.train.folder import Folder
from qkv.commands.train.objective import Objective
from qkv.commands.train.progress import Progress
from qkv.torch import Adam, average_checkpoints

if TYPE_CHECKING:
    from qkv.commands.train.loop import State

__all__ = ["Keeper", "restore"]


class Keeper:
    """Say how good the model is, and keep it: the last, the best, and those to be averaged."""

    def __init__(
        self,
        options: argparse.Namespace,
        data: Data,
        folder: Folder,
        objective: Objective,
        optimizer: Adam,
    ) -> None:
        self.options, self.data, self.folder = options, data, folder
        self.objective, self.optimizer = objective, optimizer

    def validate(
        self, state: State, epoch: int, loss: float, rate: float, progress: Progress
    ) -> None:
        """One line in the log and in the terminal; then best.json and last.json."""
        scores, signature = self._scores()
        row = {
            "step": state.step,
            "epoch": epoch + 1,
            "rate": rate,
            "tokens": state.tokens,
            "seconds": round(state.seconds, 3),
            "cpu_seconds": round(state.cpu_seconds, 3),
            "training_loss": loss,
            **scores,
        }
        state.rows.append(row)
        best = state.best is None or better(scores, state.best)
        if best:
            state.best = scores
        progress.line(
            f"step {state.step:,} of {self.options.steps:,}, epoch {epoch + 1}: "
            f"loss {loss:.3f}; validation {said(scores)}{', the best so far' if best else ''}"
        )
        kept = {name: value for name, value in vars(state).items() if name != "rows"}
        facts = {**kept, **self._facts(scores, signature)}
        if len(state.rows) == 1:
            progress.line(
                f"BLEU is sacreBLEU's, {signature}. The best model is the one of the highest BLEU; "
                f"while that is below {TELLING:g}, of the lowest loss."
            )
        parameters = state_of(self.objective.model)
        moment = self._checkpoint(parameters, facts)
        self.folder.add_moment(state.step, moment, self.options.average)
        if best:
            moment.save(self.folder.best)
        self.folder.write_rows(state.rows)
        moments = self.optimizer.state_dict()
        self._checkpoint(parameters, facts, moments).save(self.folder.last)

    def finish(self, state: State, progress: Progress) -> None:
        """Average the last few models, and keep the average as the best if it is."""
        moments = self.folder.moments()
        if len(moments) > 1:
            states = [Checkpoint.load(path).parameters for path in moments]
            tensors = [{n: torch.from_numpy(x) for n, x in own.items()} for own in states]
            average = {n: x.numpy() for n, x in average_checkpoints(tensors).items()}
            to_torch(average, self.objective.model)
            scores, signature = self._scores()
            facts = {"step": state.step, "averaged": len(moments), **self._facts(scores, signature)}
            checkpoint = self._checkpoint(average, facts)
            checkpoint.save(self.folder.average)
            assert state.best is not None  # for the type checker: there was a validation
            wins = better(scores, state.best)
            if wins:
                checkpoint.save(self.folder.best)
            words = (
                "better than each, so it is best.json now" if wins else "no better than the best"
            )
            progress.line(f"average of the last {len(moments)}: {said(scores)}; {words}")
        for path in moments:
            path.unlink()
        sweep(self.folder.path)

    def _scores(self) -> tuple[Scores, str]:
        return evaluate(self.objective, self.data)

    def _facts(self, scores: Scores, signature: str) -> dict[str, Any]:
        own = {"max_len": self.options.max_len, "options": vars(self.options)}
        return {"scores": scores, "signature": signature, **own}

    def _checkpoint(
        self,
        parameters: Parameters,
        facts: dict[str, Any],
        optimizer: Mapping[str, Any] | None = None,
    ) -> Checkpoint:
        config, data = self.objective.model.config, self.data
        return Checkpoint(config, parameters, data.source, data.target, facts, optimizer)


def said(scores: Scores) -> str:
    return f"loss {scores['loss']:.3f}, BLEU {scores['bleu']:.2f}, {scores['exact']:.1f} % exact"


def restore(
    folder: Folder, last: Checkpoint, objective: Objective, optimizer: Adam
) -> dict[str, Any]:
    """Take parameters and optimizer from a checkpoint; the rest of what training needs to go on.

    Raises:
        ValueError: it is of another model, or of another run.
    """
    model = objective.model
    if last.config != model.config or last.optimizer is None:
        raise ValueError(
            f"{folder.last} is of a model of other sizes than this run's: bring the run's own "
            "back, or begin another run with --out"
        )
    to_torch(last.parameters, model)
    optimizer.load_state_dict(last.optimizer)
    state: dict[str, Any] = {}
    for name, fits in FACTS.items():
        if name not in last.facts:
            raise ValueError(f"{folder.last} is of no run: it does not say its {name!r}")
        state[name] = last.facts[name]
        if not fits(state[name]):
            raise ValueError(f"{folder.last} is of no run: its {name!r} is {state[name]!r}")
    return {**state, "rows": folder.rows(state["step"])}


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _is_scores(value: object) -> bool:
    names = {"loss", "bleu", "exact"}
    return value is None or (
        isinstance(value, dict) and set(value) == names and all(map(_is_number, value.values()))
    )


# What a run needs of its last checkpoint to go on, and what it has to look like.
FACTS: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(("step", "epoch", "index", "tokens"), _is_count),
    **dict.fromkeys(("seconds", "cpu_seconds"), _is_number),
    "best": _is_scores,
}
