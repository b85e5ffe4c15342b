"""Parameters and gradients from room to room, parameters to a file and back, by dotted names.

A *state* is a dict from dotted names to NumPy arrays, in the layout of the NumPy room: a matrix is
(d_in, d_out). torch's nn.Linear holds it the other way round, so it is turned on its way. torch is
needed only where a torch module comes in, and safetensors only for files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qkv.files import read_whole, write_whole
from qkv.numpy.layer import Layer
from qkv.shapes import check_state, kind

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = [
    "State",
    "copy_gradients",
    "load_state",
    "pack_state",
    "save_state",
    "state_of",
    "to_array",
    "to_numpy",
    "to_torch",
    "unpack_state",
]

State = dict[str, NDArray[Any]]
NUMBERS = "biuf"  # what NumPy calls bool, int, uint and float


def state_of(model: Layer | nn.Module | Mapping[str, NDArray[Any]]) -> State:
    """Copies of all parameters of a layer, of a torch module, or of a state.

    A parameter that is shared stands under its first name. bfloat16, which NumPy lacks, becomes
    float32.

    Raises:
        ValueError: model is none of these, or a state holds what is no array of numbers.
    """
    if isinstance(model, Layer):
        return model.state_dict()
    if _is_module(model):
        return {name: to_array(p.T if turned else p) for name, p, turned in _parameters(model)}
    if not isinstance(model, Mapping):
        mend = "pass a layer, a torch module or a dict of arrays"
        raise ValueError(
            f"state_of: model must have parameters, got {type(model).__name__}: {mend}"
        )
    for name, value in model.items():
        if not isinstance(name, str):
            raise ValueError(f"state_of: names must be text, got {name!r}")
        if not isinstance(value, np.ndarray) or value.dtype.kind not in NUMBERS:
            mend = "convert it first; a torch module can be passed whole"
            raise ValueError(
                f"state_of: {name} must be an array of numbers, got {kind(value)}: {mend}"
            )
    # Row by row: safetensors writes memory as it lies, and so would mix up a turned array.
    return {name: value.copy(order="C") for name, value in model.items()}


def to_torch(layer: Layer | Mapping[str, NDArray[Any]], module: nn.Module) -> None:
    """Copy all parameters of a layer, or of a state, into the torch module of the same names.

    They take the module's dtypes and devices. Nothing changes when one does not fit.

    Raises:
        ValueError: a parameter is missing, unknown, or of another shape; it is named.
    """
    if not _is_module(module):
        got = type(module).__name__
        raise ValueError(f"to_torch: module must be a torch module, got {got}: it comes second")
    import torch

    state, own = state_of(layer), list(_parameters(module))
    check_state(
        "to_torch",
        {name: tuple((p.T if turned else p).shape) for name, p, turned in own},
        {name: value.shape for name, value in state.items()},
    )
    with torch.no_grad():
        for name, parameter, turned in own:
            parameter.copy_(torch.from_numpy(_native(state[name], turned)))


def to_numpy(module: nn.Module, layer: Layer) -> None:
    """Copy all parameters of a torch module into the layer of the same names.

    They take the layer's dtype. Nothing changes when one does not fit.

    Raises:
        ValueError: a parameter is missing, unknown, or of another shape; it is named.
    """
    if not isinstance(layer, Layer):
        got = type(layer).__name__
        raise ValueError(
            f"to_numpy: layer must be a layer of qkv.numpy, got {got}: it comes second"
        )
    layer.load_state_dict(state_of(module))


def copy_gradients(source: Layer | nn.Module, target: Layer | nn.Module) -> None:
    """Copy all gradients of a model into one of the same parameters, in either room.

    They take the target's dtypes and devices, and the place of the gradients that it has. What has
    no gradient in the source, because it is frozen or nothing came back to it, gets zeros; what is
    frozen in the target stays as it is. Nothing changes when a shape does not fit.

    Raises:
        ValueError: source or target is no model, a parameter is missing, unknown or of another
            shape, or a call of a NumPy layer had no backward.
    """
    for name, model in (("source", source), ("target", target)):
        if not isinstance(model, Layer) and not _is_module(model):
            came = type(model).__name__
            raise ValueError(
                f"copy_gradients: {name} must be a layer or a torch module, got {came}"
            )
    found, own = _gradients(source), _gradients(target)
    check_state(
        "copy_gradients",
        {name: value.shape for name, value in own.items()},
        {name: value.shape for name, value in found.items()},
    )
    if isinstance(target, Layer):
        for name, gradient in target.named_gradients():
            gradient[...] = found[name]
        return
    import torch

    for name, parameter, turned in _parameters(target):
        if parameter.requires_grad:
            value = torch.from_numpy(_native(found[name], turned))
            parameter.grad = torch.empty_like(parameter).copy_(value)


def _gradients(model: Any) -> State:
    """Copies of all gradients, in the NumPy room's layout; zeros where there is none."""
    if isinstance(model, Layer):
        found = {name: value.copy() for name, value in model.named_gradients()}
        return {
            name: found.get(name, np.zeros_like(value)) for name, value in model.named_parameters()
        }
    state: State = {}
    for name, parameter, turned in _parameters(model):
        there = parameter.grad is not None and parameter.requires_grad
        gradient = to_array(parameter.grad if there else parameter.new_zeros(parameter.shape))
        state[name] = gradient.T if turned else gradient
    return state


def save_state(
    path: str | os.PathLike[str], model: Layer | nn.Module | Mapping[str, NDArray[Any]]
) -> None:
    """Write all parameters to a safetensors file, at once: whoever looks finds the old or the new.

    Raises:
        ValueError: model holds what is no array of numbers.
        ImportError: safetensors is not installed.
    """
    write_whole(path, pack_state(model))


def load_state(path: str | os.PathLike[str]) -> State:
    """Read a state from a safetensors file, which can hold numbers and no code.

    Raises:
        ValueError: the file is cut short, of another kind, or of a dtype that NumPy lacks.
        OSError: it cannot be read.
        ImportError: safetensors is not installed.
    """
    return unpack_state(read_whole(path), path)


def pack_state(model: Layer | nn.Module | Mapping[str, NDArray[Any]]) -> bytes:
    """All parameters as what stands in a safetensors file; as `save_state`."""
    _, safetensors_numpy = _safetensors()
    packed: bytes = safetensors_numpy.save(state_of(model))
    return packed


def unpack_state(data: bytes, path: str | os.PathLike[str]) -> State:
    """The state in the content of a safetensors file; `path` is for the message of an error."""
    safetensors, safetensors_numpy = _safetensors()
    try:
        found = safetensors_numpy.load(data)
    except safetensors.SafetensorError as error:
        mend = "it is cut short or of another kind; write it again with save_state"
        raise ValueError(f"load_state: {path} is no safetensors file: {mend} ({error})") from error
    except (KeyError, TypeError, AttributeError) as error:
        mend = "save it as float32"
        raise ValueError(
            f"load_state: {path} has a dtype that NumPy lacks: {mend} ({error})"
        ) from error
    return {name: np.array(value) for name, value in found.items()}


def _safetensors() -> tuple[Any, Any]:
    """The library, asked for only where a file is read or written."""
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise ImportError(
            "files of parameters need safetensors: pip install safetensors"
        ) from error
    return safetensors, safetensors.numpy


def _is_module(model: object) -> bool:
    """Whether this is a torch module, asked without torch."""
    return hasattr(model, "named_modules") and hasattr(model, "named_parameters")


def _parameters(module: Any) -> Iterator[tuple[str, Tensor, bool]]:
    """Every parameter by its name, and whether it is the matrix of an nn.Linear, (d_out, d_in)."""
    from torch import nn

    matrices = {id(m.weight) for m in module.modules() if isinstance(m, nn.Linear)}
    for name, parameter in module.named_parameters():
        yield name, parameter, id(parameter) in matrices


def _native(value: NDArray[Any], turned: bool) -> NDArray[Any]:
    """A copy as torch takes it: in this machine's order of bytes, a matrix of nn.Linear turned."""
    return np.array(value.T if turned else value, value.dtype.newbyteorder("="))


def to_array(parameter: Any) -> NDArray[Any]:
    """A copy of a torch tensor as NumPy holds it; bfloat16, which NumPy lacks, becomes float32."""
    value = parameter.detach().cpu()
    wide = value.float() if kind(value) == "bfloat16" else value
    return np.array(wide.numpy(), order="C")
