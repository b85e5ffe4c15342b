"""Adam: steps as long as the gradient has been steady, for every parameter its own."""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qkv.shapes import check_number, check_optimizer, check_state

__all__ = ["Adam", "AdamW"]


class Adam:
    """Step along the mean gradient m over the root of its mean square v: p −= lr · m̂ / (√v̂ + ε).

    Both means forget at the rates β₁ and β₂, and begin at zero: m̂ = m / (1 − β₁ᵗ) sets that right.
    The steps are those of torch.optim, which stands ready as `optimizer`.

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

    kind: type[torch.optim.Adam] | type[torch.optim.AdamW] = torch.optim.Adam

    def __init__(
        self,
        layer: nn.Module,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        check_optimizer(type(self).__name__, layer, lr, betas, eps, weight_decay)
        self.lr = lr
        self.steps = 0
        self.parameters = dict(layer.named_parameters())
        moved = list(self.parameters.values())
        # One pass over each parameter instead of ten: a tenth of a small model's time on a CPU.
        fused = all(p.device.type == "cpu" and p.is_floating_point() for p in moved)
        self.optimizer = self.kind(
            moved,
            float(lr),
            (float(betas[0]), float(betas[1])),
            float(eps),
            float(weight_decay),
            fused=fused or None,
        )

    def step(self, lr: float | None = None) -> None:
        """Move every parameter that is not frozen once, in place; the gradients stay.

        Args:
            lr: of this step alone, such as `noam_rate` gives; None is the one of the start.
        """
        lr = self.lr if lr is None else lr
        check_number(f"{type(self).__name__}.step", "lr", lr)
        lr = float(lr)
        self.steps += 1
        for parameter in self.parameters.values():
            # torch.optim leaves out what has no gradient, and that alone: here it means 0.
            if not parameter.requires_grad:
                parameter.grad = None
            elif parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()

    def state_dict(self) -> dict[str, Tensor]:
        """Copies of "step", "m.NAME" and "v.NAME": with the parameters, all that goes on needs.

        One that was frozen for a while has a "step.NAME" of its own.
        """
        state = {"step": torch.tensor(float(self.steps), dtype=torch.float64)}
        for short, long in (("m", "exp_avg"), ("v", "exp_avg_sq")):
            for name, parameter in self.parameters.items():
                means = self.optimizer.state.get(parameter, {})
                value = means.get(long, torch.zeros_like(parameter))
                state[f"{short}.{name}"] = value.detach().clone()
        for name, parameter in self.parameters.items():
            taken = float(self.optimizer.state.get(parameter, {}).get("step", 0))
            if taken != self.steps:
                state[f"step.{name}"] = torch.tensor(taken, dtype=torch.float64)
        return state

    def load_state_dict(self, state: Mapping[str, Tensor | NDArray[Any]]) -> None:
        """Go on where another of the same parameters stopped.

        Args:
            state: what `state_dict` gave, as tensors, or as the arrays that a checkpoint holds.
        Raises:
            ValueError: something is missing, unknown, or of another shape; it is named.
        """
        check_state(
            f"{type(self).__name__}.load_state_dict",
            self._always(self.state_dict()),
            self._always(state),
        )
        self.steps = int(state["step"])
        for name, parameter in self.parameters.items():
            taken = float(state.get(f"step.{name}", self.steps))
            means: dict[str, Tensor] = {"step": torch.tensor(taken)}
            for short, long in (("m", "exp_avg"), ("v", "exp_avg_sq")):
                value = torch.as_tensor(state[f"{short}.{name}"])
                means[long] = torch.empty_like(parameter).copy_(value).detach()
            self.optimizer.state[parameter] = means

    def _always(self, state: Mapping[str, Tensor | NDArray[Any]]) -> dict[str, tuple[int, ...]]:
        """The shapes of what stands in every state: all but a "step.NAME"."""
        return {
            name: tuple(value.shape)
            for name, value in state.items()
            if name.removeprefix("step.") not in self.parameters
        }


class AdamW(Adam):
    """Adam whose weights shrink beside the step, not through it: first p −= lr · λ · p.

    Args:
        layer, lr, betas, eps: as for Adam.
        weight_decay: λ.
    Source: Loshchilov and Hutter 2019, algorithm 2.
    """

    kind = torch.optim.AdamW

    def __init__(
        self,
        layer: nn.Module,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(layer, lr, betas, eps, weight_decay)
