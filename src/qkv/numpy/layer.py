"""The base class of layers: parameters, gradients, state dict, and what forward saves for backward.

`layer(x)` keeps what its backward needs; `layer.backward(dout)` takes the latest of it and *adds*
to the gradients. So a layer may be called several times before its backwards, which then come in
the opposite order, and a table that stands in two places collects the gradients of both.

A layer is in training mode at first, where it keeps every call. A call that needs no backward, such
as one for validation, belongs into `with layer.inference_mode():`. Elsewhere it would be the latest
call, which the next backward takes; one call is then left without a backward. So gradients are
refused, to an optimizer and to whoever asks for them all, while a call is left.
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes
from qkv.shapes import check_state_dict

__all__ = ["Layer"]

MAX_SAVED = 32  # calls that wait for a backward: more than one model shares a layer for


class Layer:
    """Base class of layers; its sub-layers are its attributes: a Layer, or a list of Layers.

    `layer.requires_grad[name] = False` freezes a parameter, `layer.requires_grad_(False)` all of
    them: optimizers, `clip_grad_norm` and `named_gradients` leave it out. A backward still computes
    its gradient, in `layer.grads`.
    """

    def __init__(self) -> None:
        self.params: dict[str, Floats] = {}
        self.grads: dict[str, Floats] = {}
        self.requires_grad: dict[str, bool] = {}
        self.training = True
        self._saved: list[tuple[Any, ...]] = []

    def register_parameter(self, name: str, value: Floats) -> None:
        """Register an array as a parameter; its gradient begins at zero."""
        self.params[name] = value
        self.grads[name] = np.zeros_like(value)
        self.requires_grad[name] = True

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, "Layer"]]:
        """Every layer by its dotted name, this one first, each once: a shared one by its first."""
        seen: set[int] = set()
        to_visit: list[tuple[str, Layer]] = [(prefix, self)]
        while to_visit:
            name, layer = to_visit.pop(0)
            if id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer
                to_visit[:0] = [
                    (f"{name}.{child}" if name else child, sublayer)
                    for child, sublayer in _sublayers(layer)
                ]

    def named_parameters(self) -> Iterator[tuple[str, Floats]]:
        """Every parameter by its dotted name, such as "layers.0.self_attention.w_q.weight"."""
        for name, layer in self.named_modules():
            for short, value in layer.params.items():
                yield f"{name}.{short}" if name else short, value

    def named_gradients(self) -> Iterator[tuple[str, Floats]]:
        """Gradients of all parameters that are not frozen, in their order and under their names.

        Raises:
            ValueError: a call of this layer, or of one below it, had no backward: the gradients
                may be those of another call than was meant.
        """
        for name, layer in self.named_modules():
            if layer._saved:
                n_saved, layer_name = len(layer._saved), name or type(layer).__name__
                raise ValueError(
                    f"{type(self).__name__}.named_gradients: every call must have had its "
                    f"backward, got {n_saved} of {layer_name} without, so a backward may have gone "
                    "through the wrong call: put calls for validation into "
                    "`with layer.inference_mode():`, and begin again with zero_grad()"
                )
        for name, layer in self.named_modules():
            for short in layer.params:
                if layer.requires_grad[short]:
                    yield f"{name}.{short}" if name else short, layer.grads[short]

    def state_dict(self) -> dict[str, Floats]:
        """Copies of all parameters by dotted name."""
        return {name: value.copy() for name, value in self.named_parameters()}

    def load_state_dict(self, state: Mapping[str, Floats]) -> None:
        """Copy the values of a state into the parameters; nothing changes when it does not fit.

        Raises:
            ValueError: a parameter is missing, unknown, or of another shape; it is named.
        """
        parameters = dict(self.named_parameters())
        call = f"{type(self).__name__}.load_state_dict"
        check_shapes.check_library(call, "state", state.values())
        check_state_dict(
            call,
            {name: value.shape for name, value in parameters.items()},
            {name: tuple(value.shape) for name, value in state.items()},
        )
        for name, value in parameters.items():
            value[...] = state[name]

    def zero_grad(self) -> None:
        """Set every gradient to zero, and drop what calls without a backward have saved."""
        for _, layer in self.named_modules():
            layer._saved.clear()
            for gradient in layer.grads.values():
                gradient.fill(0)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Freeze every parameter of this layer and its sub-layers with False; True unfreezes."""
        for _, layer in self.named_modules():
            layer.requires_grad = dict.fromkeys(layer.params, requires_grad)
        return self

    def train(self, mode: bool = True) -> Self:
        """Training mode, with dropout and with calls saved for backward; False is eval mode."""
        for _, layer in self.named_modules():
            layer.training = mode
        return self

    def eval(self) -> Self:
        """Eval mode: no dropout, and nothing saved for backward."""
        return self.train(False)

    @contextmanager
    def inference_mode(self) -> Iterator[Self]:
        """Eval mode inside a `with`: no dropout, nothing saved; afterwards the modes of before.

        with model.inference_mode():
            loss = cross_entropy(model(source, target_inputs), targets)
        """
        modes = [(layer, layer.training) for _, layer in self.named_modules()]
        try:
            yield self.eval()
        finally:
            for layer, mode in modes:
                layer.training = mode

    def save_for_backward(self, *values: Any) -> None:
        """Push what the backward of this call needs; in eval mode, nothing."""
        if not self.training:
            return
        self._saved.append(values)
        if len(self._saved) == MAX_SAVED:
            warnings.warn(
                f"{type(self).__name__}: {MAX_SAVED} calls are kept in memory for their backwards: "
                "where none will come, call the layer inside `with layer.inference_mode():`",
                stacklevel=3,
            )

    def pop_saved(self) -> tuple[Any, ...]:
        """Pop what the latest call without a backward has saved.

        Raises:
            ValueError: there is none, or the layer is in eval mode, where the latest call is none
                of those that were kept.
        """
        name = type(self).__name__
        if not self.training:
            raise ValueError(
                f"{name}.backward: the {name} must be in training mode, got eval mode, which keeps "
                "no call to go back through: call train() before the call"
            )
        if not self._saved:
            raise ValueError(
                f"{name}.backward: there is no call of this {name} left to go back through: "
                "call it first, in training mode, once for each backward"
            )
        return self._saved.pop()


def _sublayers(layer: Layer) -> Iterator[tuple[str, Layer]]:
    """The sub-layers by name, in the order in which they were assigned."""
    for name, value in vars(layer).items():
        if isinstance(value, Layer):
            yield name, value
        elif isinstance(value, list):
            layers = ((i, item) for i, item in enumerate(value) if isinstance(item, Layer))
            yield from ((f"{name}.{i}", item) for i, item in layers)
