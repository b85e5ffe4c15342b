"""Adam: steps as long as the gradient has been steady, for every parameter its own."""

import math
from collections.abc import Mapping

import numpy as np

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.layer import Layer
from qkv.shapes import check_number, check_optimizer, check_state

__all__ = ["Adam", "AdamW"]


class Adam:
    """Step along the mean gradient m over the root of its mean square v: p −= lr · m̂ / (√v̂ + ε).

    Both means forget at the rates β₁ and β₂, and begin at zero: m̂ = m / (1 − β₁ᵗ) sets that right.

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
        self.taken = {name: 0 for name, _ in layer.named_parameters()}  # steps of each
        self.m = {name: np.zeros_like(value) for name, value in layer.named_parameters()}
        self.v = {name: np.zeros_like(value) for name, value in layer.named_parameters()}

    def decay(self, parameter: Floats, gradient: Floats, lr: float) -> Floats:
        """Let the weights shrink; returns the gradient to step along."""
        return gradient + self.weight_decay * parameter if self.weight_decay else gradient

    def step(self, lr: float | None = None) -> None:
        """Move every parameter that is not frozen once, in place; the gradients stay.

        Args:
            lr: of this step alone, such as `noam_rate` gives; None is the one of the start.
        """
        lr = self.lr if lr is None else lr
        check_number(f"{type(self).__name__}.step", "lr", lr)
        lr = float(lr)
        self.steps += 1
        beta1, beta2 = self.betas
        gradients = dict(self.layer.named_gradients())
        for name, parameter in self.layer.named_parameters():
            if name not in gradients:
                continue
            self.taken[name] += 1
            unbias1, unbias2 = 1 - beta1 ** self.taken[name], 1 - beta2 ** self.taken[name]
            gradient = self.decay(parameter, gradients[name], lr)
            m, v = self.m[name], self.v[name]
            m *= beta1
            m += (1 - beta1) * gradient
            v *= beta2
            v += (1 - beta2) * gradient * gradient
            root = np.sqrt(v)
            root /= math.sqrt(unbias2)
            root += self.eps
            parameter -= (lr / unbias1) * m / root

    def state_dict(self) -> dict[str, Floats]:
        """Copies of "step", "m.NAME" and "v.NAME": with the parameters, all that goes on needs.

        One that was frozen for a while has a "step.NAME" of its own.
        """
        state: dict[str, Floats] = {"step": np.array(float(self.steps))}
        for short, means in (("m", self.m), ("v", self.v)):
            state |= {f"{short}.{name}": value.copy() for name, value in means.items()}
        late = {name: taken for name, taken in self.taken.items() if taken != self.steps}
        return state | {f"step.{name}": np.array(float(taken)) for name, taken in late.items()}

    def load_state_dict(self, state: Mapping[str, Floats]) -> None:
        """Go on where another of the same parameters stopped.

        Raises:
            ValueError: something is missing, unknown, or of another shape; it is named.
        """
        check_state(
            f"{type(self).__name__}.load_state_dict",
            self._always(self.state_dict()),
            self._always(state),
        )
        self.steps = int(state["step"])
        self.taken = {name: int(state.get(f"step.{name}", self.steps)) for name in self.taken}
        for short, means in (("m", self.m), ("v", self.v)):
            for name, value in means.items():
                value[...] = state[f"{short}.{name}"]

    def _always(self, state: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """The shapes of what stands in every state: all but a "step.NAME"."""
        return {
            name: tuple(value.shape)
            for name, value in state.items()
            if name.removeprefix("step.") not in self.taken
        }


class AdamW(Adam):
    """Adam whose weights shrink beside the step, not through it: first p −= lr · λ · p.

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
