"""What every layer of the reference has: parameters, their gradients, a memory of its calls.

`layer(x)` keeps what its backward needs; `layer.backward(dout)` takes the latest of it and *adds*
to the gradients. So a layer may be called several times before its backwards, which then come in
the opposite order, and a table that stands in two places collects the gradients of both.

A layer is in training mode at first, where it keeps every call. A call that needs no backward, such
as one for validation, belongs into `with layer.evaluating():`. Elsewhere it would be the latest
call, which the next backward takes; one call is then left without a backward. So gradients are
refused, to an optimizer and to whoever asks for them all, while a call is left.
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from qkv.numpy.attention.softmax import Floats
from qkv.shapes import check_state

__all__ = ["Layer"]

MANY = 32  # calls of a layer that wait for a backward: more than one model shares a layer for


class Layer:
    """A part of a model. Its sub-layers are its attributes: a Layer, or a list of Layers.

    `layer.requires_grad[name] = False` freezes a parameter, `layer.requires_grad_(False)` all of
    them: optimizers, `clip_gradients` and `named_gradients` leave it out. A backward still computes
    its gradient, in `layer.grads`.
    """

    def __init__(self) -> None:
        self.params: dict[str, Floats] = {}
        self.grads: dict[str, Floats] = {}
        self.requires_grad: dict[str, bool] = {}
        self.training = True
        self._calls: list[tuple[Any, ...]] = []

    def add(self, name: str, value: Floats) -> None:
        """Make an array a parameter; its gradient begins at zero."""
        self.params[name] = value
        self.grads[name] = np.zeros_like(value)
        self.requires_grad[name] = True

    def named_layers(self, prefix: str = "") -> Iterator[tuple[str, "Layer"]]:
        """This layer and all below it, each once: a shared one under its first name."""
        seen: set[int] = set()
        waiting: list[tuple[str, Layer]] = [(prefix, self)]
        while waiting:
            name, layer = waiting.pop(0)
            if id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer
                waiting[:0] = [(f"{name}.{part}" if name else part, x) for part, x in _parts(layer)]

    def named_parameters(self) -> Iterator[tuple[str, Floats]]:
        """Every parameter by its dotted name, such as "layers.0.self_attention.w_q.weight"."""
        for name, layer in self.named_layers():
            for short, value in layer.params.items():
                yield f"{name}.{short}" if name else short, value

    def named_gradients(self) -> Iterator[tuple[str, Floats]]:
        """The gradients of what is not frozen, in the order and under the names of the parameters.

        Raises:
            ValueError: a call of this layer, or of one below it, had no backward: the gradients
                may be those of another call than was meant.
        """
        for name, layer in self.named_layers():
            if layer._calls:
                n, where = len(layer._calls), name or type(layer).__name__
                raise ValueError(
                    f"{type(self).__name__}.named_gradients: every call must have had its "
                    f"backward, got {n} of {where} without, so a backward may have gone through "
                    "the wrong call: put calls for validation into `with layer.evaluating():`, and "
                    "begin again with zero_grad()"
                )
        for name, layer in self.named_layers():
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
        own = dict(self.named_parameters())
        check_state(
            f"{type(self).__name__}.load_state_dict",
            {name: value.shape for name, value in own.items()},
            {name: tuple(value.shape) for name, value in state.items()},
        )
        for name, value in own.items():
            value[...] = state[name]

    def zero_grad(self) -> None:
        """Clear every gradient, and forget the calls that had no backward."""
        for _, layer in self.named_layers():
            layer._calls.clear()
            for gradient in layer.grads.values():
                gradient.fill(0)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Freeze every parameter of this layer and all below it with False; True lets them move."""
        for _, layer in self.named_layers():
            layer.requires_grad = dict.fromkeys(layer.params, requires_grad)
        return self

    def train(self, mode: bool = True) -> Self:
        """Drop out and remember calls for backward; `train(False)` does neither."""
        for _, layer in self.named_layers():
            layer.training = mode
        return self

    def eval(self) -> Self:
        return self.train(False)

    @contextmanager
    def evaluating(self) -> Iterator[Self]:
        """Eval mode inside a `with`: no dropout, no call kept; afterwards all is as it was.

        with model.evaluating():
            loss = cross_entropy(model(source, target), words)
        """
        modes = [(layer, layer.training) for _, layer in self.named_layers()]
        try:
            yield self.eval()
        finally:
            for layer, mode in modes:
                layer.training = mode

    def save(self, *values: Any) -> None:
        """Keep what the backward of this call needs."""
        if not self.training:
            return
        self._calls.append(values)
        if len(self._calls) == MANY:
            warnings.warn(
                f"{type(self).__name__}: {MANY} calls are kept in memory for their backwards: "
                "where none will come, call the layer inside `with layer.evaluating():`",
                stacklevel=3,
            )

    def saved(self) -> tuple[Any, ...]:
        """What the latest call without a backward kept.

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
        if not self._calls:
            raise ValueError(
                f"{name}.backward: there is no call of this {name} left to go back through: "
                "call it first, in training mode, once for each backward"
            )
        return self._calls.pop()


def _parts(layer: Layer) -> Iterator[tuple[str, Layer]]:
    """The sub-layers by name, in the order in which they were assigned."""
    for name, value in vars(layer).items():
        if isinstance(value, Layer):
            yield name, value
        elif isinstance(value, list):
            yield from ((f"{name}.{i}", x) for i, x in enumerate(value) if isinstance(x, Layer))
