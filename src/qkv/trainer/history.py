"""The course of a training: loss, learning rate and gradient norm of each step; validations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qkv.trainer.events import StepResult, ValidationResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["History"]


@dataclass(repr=False)
class History:
    """What a `Trainer` has seen since it was made, step by step, as plain numbers.

    Args:
        steps: numbers of the steps, counted from 1.
        losses: training loss per target token, of this process's part.
        learning_rates, grad_norms: of these steps; norms are from before clipping.
        validations: those of a resumed run too.
    """

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)
    grad_norms: list[float] = field(default_factory=list)
    validations: list[ValidationResult] = field(default_factory=list)

    def add(self, step: StepResult, loss_sum: float, norm: float) -> None:
        """Note a step, whose numbers were read off the device."""
        self.steps.append(step.step)
        self.losses.append(loss_sum * step.processes / step.target_tokens)
        self.learning_rates.append(step.learning_rate)
        self.grad_norms.append(norm)

    def __repr__(self) -> str:
        """What a cell shows that ends in `fit()`: the numbers themselves are long lists."""
        losses = f", loss {self.losses[0]:.2f} → {self.losses[-1]:.2f}" if self.losses else ""
        return f"History({len(self.steps)} steps{losses}, {len(self.validations)} validations)"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the training loss step by step, and the loss at each validation.

        Label smoothing and dropout are in the training loss alone, so it may be the higher one. In
        a script, `matplotlib.pyplot.show()` opens the window.

        Args:
            ax: where to draw; None makes a figure.
        Raises:
            ImportError: matplotlib is not installed.
        """
        from matplotlib import pyplot

        from qkv.plot import loss_curve

        ax = pyplot.subplots()[1] if ax is None else ax
        validations = [(result.step, result.scores.loss) for result in self.validations]
        loss_curve(ax, self.steps, self.losses, validations)
        return ax
