"""The base class of layers: an nn.Module whose state dict is checked by name."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import torch
from torch import nn

from qkv.shapes import check_state_dict
from qkv.torch.checks import check_shapes

__all__ = ["Layer"]


class Layer(nn.Module):
    """Base class of layers: an nn.Module that says which entry of a state dict does not fit."""

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Copy the values of a state into the parameters; nothing changes when it does not fit.

        As `qkv.numpy.Layer.load_state_dict`.
        """
        call = f"{type(self).__name__}.load_state_dict"
        check_shapes.check_library(call, "state_dict", state_dict.values())
        check_state_dict(
            call,
            {name: tuple(value.shape) for name, value in self.state_dict().items()},
            {name: tuple(value.shape) for name, value in state_dict.items()},
        )
        return super().load_state_dict(state_dict, strict, assign)

    @contextmanager
    def inference_mode(self) -> Iterator[Self]:
        """Eval mode inside a `with`: no dropout, no autograd graph; afterwards the modes of before.

        As `qkv.numpy.Layer.inference_mode`.
        """
        modes = [(module, module.training) for module in self.modules()]
        try:
            with torch.no_grad():
                yield self.eval()
        finally:
            for module, mode in modes:
                module.training = mode
