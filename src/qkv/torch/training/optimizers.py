"""Optimizers: Adam and AdamW."""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qkv.shapes import check_range, check_state_dict
from qkv.shapes.training import check_optimizer

__all__ = ["Adam", "AdamW"]


class Adam:
    """Adam, gradient descent with adaptive moments: p −= lr · m̂ / (√v̂ + ε).

    As `qkv.numpy.Adam`.

    The steps are those of torch.optim, which stands ready as `optimizer`.
    """

    optimizer_class: type[torch.optim.Adam] | type[torch.optim.AdamW] = torch.optim.Adam

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
        parameters = list(self.parameters.values())
        # One pass over each parameter instead of ten: a tenth of a small model's time on a CPU.
        fused = all(p.device.type == "cpu" and p.is_floating_point() for p in parameters)
        self.optimizer = self.optimizer_class(
            parameters,
            float(lr),
            (float(betas[0]), float(betas[1])),
            float(eps),
            float(weight_decay),
            fused=fused or None,
        )

    def step(self, lr: float | None = None) -> None:
        """Update every parameter that is not frozen, in place; the gradients stay.

        As `qkv.numpy.Adam.step`.
        """
        lr = self.lr if lr is None else lr
        check_range(f"{type(self).__name__}.step", "a number of at least 0", lr=lr)
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
        """Copies of "step", "m.NAME" and "v.NAME": all that resuming needs beside the parameters.

        One that was frozen for a while has a "step.NAME" of its own.
        """
        state = {"step": torch.tensor(float(self.steps), dtype=torch.float64)}
        for moment, torch_name in (("m", "exp_avg"), ("v", "exp_avg_sq")):
            for name, parameter in self.parameters.items():
                moments = self.optimizer.state.get(parameter, {})
                value = moments.get(torch_name, torch.zeros_like(parameter))
                state[f"{moment}.{name}"] = value.detach().clone()
        for name, parameter in self.parameters.items():
            steps = float(self.optimizer.state.get(parameter, {}).get("step", 0))
            if steps != self.steps:
                state[f"step.{name}"] = torch.tensor(steps, dtype=torch.float64)
        return state

    def load_state_dict(self, state: Mapping[str, Tensor | NDArray[Any]]) -> None:
        """Resume where another optimizer of the same parameters stopped.

        Args:
            state: what `state_dict` gave, as tensors, or as the arrays that a checkpoint holds.
        Raises:
            ValueError: something is missing, unknown, or of another shape; it is named.
        """
        check_state_dict(
            f"{type(self).__name__}.load_state_dict",
            self._required_shapes(self.state_dict()),
            self._required_shapes(state),
        )
        self.steps = int(state["step"])
        for name, parameter in self.parameters.items():
            steps = float(state.get(f"step.{name}", self.steps))
            moments: dict[str, Tensor] = {"step": torch.tensor(steps)}
            for moment, torch_name in (("m", "exp_avg"), ("v", "exp_avg_sq")):
                value = torch.as_tensor(state[f"{moment}.{name}"])
                moments[torch_name] = torch.empty_like(parameter).copy_(value).detach()
            self.optimizer.state[parameter] = moments

    def _required_shapes(
        self, state: Mapping[str, Tensor | NDArray[Any]]
    ) -> dict[str, tuple[int, ...]]:
        """Shapes of the entries that every state has: all but "step.NAME"."""
        return {
            name: tuple(value.shape)
            for name, value in state.items()
            if name.removeprefix("step.") not in self.parameters
        }


class AdamW(Adam):
    """Adam with decoupled weight decay: first p −= lr · λ · p, then the step.

    As `qkv.numpy.AdamW`.
    """

    optimizer_class = torch.optim.AdamW

    def __init__(
        self,
        layer: nn.Module,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(layer, lr, betas, eps, weight_decay)


OPTIMIZERS = {"adam": Adam, "adamw": AdamW}
