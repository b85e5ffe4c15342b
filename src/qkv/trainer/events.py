"""What training reports: each optimizer step, each validation, and how good a model is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "TELLING_BLEU",
    "AverageResult",
    "Event",
    "FitStart",
    "OnEvent",
    "Scores",
    "StepResult",
    "ValidationResult",
]

TELLING_BLEU = 1.0  # below, models that say nothing right differ by chance


@dataclass(frozen=True)
class Scores:
    """How good a model is on pairs that it does not learn from.

    Args:
        loss: cross-entropy per token in nats, without label smoothing.
        bleu: of greedy translations, from 0 to 100.
        exact: share of them that are their reference, in percent.
        signature: how BLEU was computed; "" where that is not known.
    """

    loss: float
    bleu: float
    exact: float
    signature: str = ""

    def better_than(self, other: Scores) -> bool:
        """By BLEU; of equals, and while BLEU is below 1, by loss."""
        mine, theirs = (
            (scores.bleu if scores.bleu >= TELLING_BLEU else 0.0, -scores.loss)
            for scores in (self, other)
        )
        return mine > theirs

    def numbers(self) -> dict[str, float]:
        """Loss, BLEU and exact matches, as a log has them."""
        return {"loss": self.loss, "bleu": self.bleu, "exact": self.exact}


@dataclass(frozen=True, eq=False)
class StepResult:
    """One optimizer step. Loss and norm stay on the device: to read either waits for it.

    Args:
        step: the number of the step, counted from 1.
        epoch, index: the epoch, from 1, and the number of the step in it, from 0.
        learning_rate: of this step.
        tokens: of source and target over all processes, without padding.
        target_tokens: those of the target, which the loss is a mean over.
        loss_sum: of this process's part of the batches, a tensor without axes.
        norm: length of the gradient before clipping, a tensor without axes.
        processes: how many share the batches.
    """

    step: int
    epoch: int
    index: int
    learning_rate: float
    tokens: int
    target_tokens: int
    loss_sum: Tensor
    norm: Tensor
    processes: int = 1

    @property
    def loss(self) -> float:
        """Training loss per target token, as if the other processes had the same; waits."""
        return float(self.loss_sum) * self.processes / self.target_tokens

    @property
    def grad_norm(self) -> float:
        """Length of the gradient before clipping; waits."""
        return float(self.norm)


@dataclass(frozen=True)
class FitStart:
    """Training begins, or goes on after `step` of `steps`; a run may have been to have fewer.

    Args:
        step, steps: how many are taken, and how many there will be.
        before: how many the run was to have when it was left; 0 of a new one.
    """

    step: int
    steps: int
    before: int = 0


@dataclass(frozen=True)
class ValidationResult:
    """One validation.

    Args:
        step: after which it was; `epoch` counts from 1.
        learning_rate: of that step.
        tokens: of source and target since training began, without padding.
        seconds, cpu_seconds: of training alone since it began.
        training_loss: per target token, mean since the validation before.
        scores: on the pairs for validation.
        best: whether no validation before was better.
        pause: seconds that it took, with saving.
    """

    step: int
    epoch: int
    learning_rate: float
    tokens: int
    seconds: float
    cpu_seconds: float
    training_loss: float
    scores: Scores
    best: bool = False
    pause: float = 0.0

    def row(self) -> dict[str, float]:
        """As a line of a log."""
        row = asdict(self)
        for name in ("scores", "best", "pause"):
            del row[name]
        return {**row, **self.scores.numbers()}

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> ValidationResult:
        """Of a line of a log.

        Raises:
            KeyError, TypeError: it is none.
        """
        fields = dict(row)
        scores = Scores(*(fields.pop(name) for name in ("loss", "bleu", "exact")))
        return cls(**fields, scores=scores)


@dataclass(frozen=True)
class AverageResult:
    """The average of the parameters after the last few validations.

    Args:
        count: of how many.
        scores: of the average.
        best: whether it is better than each validation's model.
    """

    count: int
    scores: Scores
    best: bool


Event: TypeAlias = FitStart | StepResult | ValidationResult | AverageResult
OnEvent: TypeAlias = Callable[[Event], None]
