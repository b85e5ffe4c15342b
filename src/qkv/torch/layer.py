"""What every layer of the torch room is: an nn.Module, with a state that is checked by name."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import torch
from torch import Tensor, nn

from qkv.shapes import check_input, check_state, check_width

__all__ = ["Layer"]


class Layer(nn.Module):
    """An nn.Module whose state is refused in the words of the NumPy room."""

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Copy the values of a state into the parameters; nothing changes when it does not fit.

        Raises:
            ValueError: a parameter is missing, unknown, or of another shape; it is named.
        """
        check_state(
            f"{type(self).__name__}.load_state_dict",
            {name: tuple(value.shape) for name, value in self.state_dict().items()},
            {name: tuple(value.shape) for name, value in state_dict.items()},
        )
        return super().load_state_dict(state_dict, strict, assign)

    @contextmanager
    def evaluating(self) -> Iterator[Self]:
        """Eval mode inside a `with`: no dropout, no graph kept; afterwards all is as it was.

        with model.evaluating():
            loss = cross_entropy(model(source, target), words)
        """
        modes = [(module, module.training) for module in self.modules()]
        try:
            with torch.no_grad():
                yield self.eval()
        finally:
            for module, mode in modes:
                module.training = mode


def check_layer_input(call: str, x: Tensor, symbol: str, parameter: Tensor) -> None:
    """`check_input`, but for the dtype under autocast, which converts what it is given.

    Raises:
        ValueError: x is not as wide as the parameter's first axis, or of another float type.
    """
    if converts(x):
        check_width(call, x, symbol, parameter.shape[0])
    else:
        check_input(call, x, symbol, parameter)


def converts(x: object) -> bool:
    """Whether autocast is on where x is; on "meta" there is none to ask about."""
    return isinstance(x, Tensor) and not x.is_meta and torch.is_autocast_enabled(x.device.type)
