"""Optimizers: Adam and AdamW."""

import math
from collections.abc import Mapping

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes
from qkv.numpy.layer import Layer
from qkv.shapes import check_range, check_state_dict
from qkv.shapes.training import check_optimizer

__all__ = ["Adam", "AdamW"]


class Adam:
    """Adam, gradient descent with adaptive moments: p −= lr · m̂ / (√v̂ + ε).

    The moving averages m of the gradient and v of its square forget at the rates β₁ and β₂, and
    begin at zero: m̂ = m / (1 − β₁ᵗ) corrects that bias.

    Args:
        layer: whose parameters move along their gradients; one that two places share moves once,
            a frozen one stays where it is, and so do its m and v and the t of its own.
        lr: learning rate, unless `step` is given another.
        betas: β₁ and β₂, in [0, 1).
        eps: ε, keeps a step finite where there has been no gradient.
        weight_decay: λ; adds λ p to the gradient, an L2 penalty.
    Raises:
        ValueError: the layer has no parameters, or a constant is out of its range.
    Source: Kingma and Ba 2015, algorithm 1.
    """

    def __init__(
        self,
        layer: Layer,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        check_optimizer(type(self).__name__, layer, lr, betas, eps, weight_decay)
        self.layer = layer
        self.lr, self.eps, self.weight_decay = float(lr), float(eps), float(weight_decay)
        self.betas = float(betas[0]), float(betas[1])
        self.steps = 0
        self.steps_of = {name: 0 for name, _ in layer.named_parameters()}
        self.m = {name: np.zeros_like(value) for name, value in layer.named_parameters()}
        self.v = {name: np.zeros_like(value) for name, value in layer.named_parameters()}

    def decay(self, parameter: Floats, gradient: Floats, lr: float) -> Floats:
        """Apply weight decay; returns the gradient to step along."""
        return gradient + self.weight_decay * parameter if self.weight_decay else gradient

    def step(self, lr: float | None = None) -> None:
        """Update every parameter that is not frozen, in place; the gradients stay.

        Args:
            lr: of this step alone, such as `noam_schedule` gives; None is the one of the start.
        """
        lr = self.lr if lr is None else lr
        check_range(f"{type(self).__name__}.step", "a number of at least 0", lr=lr)
        lr = float(lr)
        self.steps += 1
        beta1, beta2 = self.betas
        gradients = dict(self.layer.named_gradients())
        for name, parameter in self.layer.named_parameters():
            if name not in gradients:
                continue
            self.steps_of[name] += 1
            t = self.steps_of[name]
            correction1, correction2 = 1 - beta1**t, 1 - beta2**t
            gradient = self.decay(parameter, gradients[name], lr)
            m, v = self.m[name], self.v[name]
            m *= beta1
            m += (1 - beta1) * gradient
            v *= beta2
            v += (1 - beta2) * gradient * gradient
            root = np.sqrt(v)
            root /= math.sqrt(correction2)
            root += self.eps
            parameter -= (lr / correction1) * m / root

    def state_dict(self) -> dict[str, Floats]:
        """Copies of "step", "m.NAME" and "v.NAME": all that resuming needs beside the parameters.

        One that was frozen for a while has a "step.NAME" of its own.
        """
        state: dict[str, Floats] = {"step": np.array(float(self.steps))}
        for moment, averages in (("m", self.m), ("v", self.v)):
            state |= {f"{moment}.{name}": value.copy() for name, value in averages.items()}
        for name, steps in self.steps_of.items():
            if steps != self.steps:
                state[f"step.{name}"] = np.array(float(steps))
        return state

    def load_state_dict(self, state: Mapping[str, Floats]) -> None:
        """Resume where another optimizer of the same parameters stopped.

        Raises:
            ValueError: something is missing, unknown, or of another shape; it is named.
        """
        call = f"{type(self).__name__}.load_state_dict"
        check_shapes.check_library(call, "state", state.values())
        check_state_dict(
            call,
            self._required_shapes(self.state_dict()),
            self._required_shapes(state),
        )
        self.steps = int(state["step"])
        self.steps_of = {name: int(state.get(f"step.{name}", self.steps)) for name in self.steps_of}
        for moment, averages in (("m", self.m), ("v", self.v)):
            for name, value in averages.items():
                value[...] = state[f"{moment}.{name}"]

    def _required_shapes(self, state: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Shapes of the entries that every state has: all but "step.NAME"."""
        return {
            name: tuple(value.shape)
            for name, value in state.items()
            if name.removeprefix("step.") not in self.steps_of
        }


class AdamW(Adam):
    """Adam with decoupled weight decay: first p −= lr · λ · p, then the step.

    Args:
        layer, lr, betas, eps: as for Adam.
        weight_decay: λ.
    Source: Loshchilov and Hutter 2019, algorithm 2.
    """

    def __init__(
        self,
        layer: Layer,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(layer, lr, betas, eps, weight_decay)

    def decay(self, parameter: Floats, gradient: Floats, lr: float) -> Floats:
        parameter *= 1 - lr * self.weight_decay
        return gradient


OPTIMIZERS = {"adam": Adam, "adamw": AdamW}
