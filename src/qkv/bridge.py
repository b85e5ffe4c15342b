"""Copy parameters and gradients between NumPy and torch models, and save them as safetensors.

A *state dict* maps dotted names to NumPy arrays, in the layout of the NumPy room: a matrix is
(d_in, d_out). torch's nn.Linear holds (d_out, d_in), so it is transposed on its way. torch is
needed only where a torch module comes in, and safetensors only for files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qkv.files import atomic_write, read_regular_file
from qkv.numpy.layer import Layer
from qkv.shapes import check_state_dict, dtype_name

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = [
    "StateDict",
    "copy_gradients",
    "copy_parameters",
    "from_bytes",
    "load_state_dict",
    "save_state_dict",
    "state_dict",
    "to_array",
    "to_bytes",
]

StateDict = dict[str, NDArray[Any]]
NUMBERS = "biuf"  # what NumPy calls bool, int, uint and float


def state_dict(model: Layer | nn.Module | Mapping[str, NDArray[Any]]) -> StateDict:
    """State dict of a layer or a torch module: copies of its parameters as NumPy arrays.

    A state dict that is passed is copied. A parameter that is shared stands under its first name.
    bfloat16, which NumPy lacks, becomes float32.

    Raises:
        ValueError: model is none of these, or a state dict holds what is no array of numbers.
    """
    if isinstance(model, Layer):
        return model.state_dict()
    if _is_module(model):
        return {
            name: to_array(p.T if is_linear else p) for name, p, is_linear in _parameters(model)
        }
    if not isinstance(model, Mapping):
        hint = "pass a layer, a torch module or a dict of arrays"
        raise ValueError(
            f"state_dict: model must have parameters, got {type(model).__name__}: {hint}"
        )
    for name, value in model.items():
        if not isinstance(name, str):
            raise ValueError(f"state_dict: names must be text, got {name!r}")
        if not isinstance(value, np.ndarray) or value.dtype.kind not in NUMBERS:
            hint = "convert it first; a torch module can be passed whole"
            raise ValueError(
                f"state_dict: {name} must be an array of numbers, got {dtype_name(value)}: {hint}"
            )
    # Row by row: safetensors writes memory as it lies, and so would mix up a transposed array.
    return {name: value.copy(order="C") for name, value in model.items()}


def copy_parameters(
    source: Layer | nn.Module | Mapping[str, NDArray[Any]], target: Layer | nn.Module
) -> None:
    """Copy all parameters of a model or state dict into a model of either room, in place.

    They take the target's dtypes and devices. Nothing changes when one does not fit.

    Raises:
        ValueError: target is no model; a parameter is missing, unknown, or of another shape: it is
            named.
    """
    _check_is_model("copy_parameters", "target", target)
    values = state_dict(source)
    if isinstance(target, Layer):
        target.load_state_dict(values)
        return
    import torch

    parameters = list(_parameters(target))
    check_state_dict(
        "copy_parameters",
        {name: tuple((p.T if is_linear else p).shape) for name, p, is_linear in parameters},
        {name: value.shape for name, value in values.items()},
    )
    with torch.no_grad():
        for name, parameter, is_linear in parameters:
            parameter.copy_(torch.from_numpy(_native(values[name], is_linear)))


def copy_gradients(source: Layer | nn.Module, target: Layer | nn.Module) -> None:
    """Copy all gradients of a model into one with the same parameters, in either room.

    They take the target's dtypes and devices, and replace the gradients that it has. What has no
    gradient in the source, because it is frozen or nothing came back to it, gets zeros; what is
    frozen in the target stays as it is. Nothing changes when a shape does not fit.

    Raises:
        ValueError: source or target is no model, a parameter is missing, unknown or of another
            shape, or a call of a NumPy layer had no backward.
    """
    _check_is_model("copy_gradients", "source", source)
    _check_is_model("copy_gradients", "target", target)
    gradients, replaced = _gradients(source), _gradients(target)
    check_state_dict(
        "copy_gradients",
        {name: value.shape for name, value in replaced.items()},
        {name: value.shape for name, value in gradients.items()},
    )
    if isinstance(target, Layer):
        for name, gradient in target.named_gradients():
            gradient[...] = gradients[name]
        return
    import torch

    for name, parameter, is_linear in _parameters(target):
        if parameter.requires_grad:
            value = torch.from_numpy(_native(gradients[name], is_linear))
            parameter.grad = torch.empty_like(parameter).copy_(value)


def _gradients(model: Any) -> StateDict:
    """Copies of all gradients, in the NumPy room's layout; zeros where there is none."""
    if isinstance(model, Layer):
        computed = {name: value.copy() for name, value in model.named_gradients()}
        return {
            name: computed.get(name, np.zeros_like(value))
            for name, value in model.named_parameters()
        }
    gradients: StateDict = {}
    for name, parameter, is_linear in _parameters(model):
        has_gradient = parameter.grad is not None and parameter.requires_grad
        zeros = parameter.new_zeros(parameter.shape)
        gradient = to_array(parameter.grad if has_gradient else zeros)
        gradients[name] = gradient.T if is_linear else gradient
    return gradients


def save_state_dict(
    path: str | os.PathLike[str], model: Layer | nn.Module | Mapping[str, NDArray[Any]]
) -> None:
    """Save all parameters as a safetensors file, written atomically.

    Raises:
        ValueError: model holds what is no array of numbers.
        ImportError: safetensors is not installed.
    """
    atomic_write(path, to_bytes(model))


def load_state_dict(path: str | os.PathLike[str]) -> StateDict:
    """Load a state dict from a safetensors file, which can hold numbers and no code.

    Raises:
        ValueError: the file is cut short, of another kind, or of a dtype that NumPy lacks.
        OSError: it cannot be read.
        ImportError: safetensors is not installed.
    """
    return from_bytes(read_regular_file(path), path)


def to_bytes(
    model: Layer | nn.Module | Mapping[str, NDArray[Any]],
    metadata: dict[str, str] | None = None,
) -> bytes:
    """Serialize all parameters: the bytes of a safetensors file; raises as `save_state_dict`.

    Args:
        metadata: texts by name that stand in the file's header.
    """
    _, safetensors_numpy = _safetensors()
    data: bytes = safetensors_numpy.save(state_dict(model), metadata)
    return data


def from_bytes(data: bytes, path: str | os.PathLike[str]) -> StateDict:
    """Deserialize a safetensors file that was read from `path`; raises as `load_state_dict`."""
    safetensors, safetensors_numpy = _safetensors()
    try:
        tensors = safetensors_numpy.load(data)
    except safetensors.SafetensorError as error:
        hint = "it is cut short or of another kind; write it again with save_state_dict"
        raise ValueError(
            f"load_state_dict: {path} is no safetensors file: {hint} ({error})"
        ) from error
    except (KeyError, TypeError, AttributeError) as error:
        hint = "save it as float32"
        raise ValueError(
            f"load_state_dict: {path} has a dtype that NumPy lacks: {hint} ({error})"
        ) from error
    return {name: np.array(value) for name, value in tensors.items()}


def _safetensors() -> tuple[Any, Any]:
    """The library, imported only where a file is read or written."""
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise ImportError(
            "files of parameters need safetensors: pip install safetensors"
        ) from error
    return safetensors, safetensors.numpy


def _check_is_model(call: str, name: str, model: object) -> None:
    if not isinstance(model, Layer) and not _is_module(model):
        got = type(model).__name__
        raise ValueError(f"{call}: {name} must be a layer or a torch module, got {got}")


def _is_module(model: object) -> bool:
    """Whether this is a torch module, found out without importing torch."""
    return hasattr(model, "named_modules") and hasattr(model, "named_parameters")


def _parameters(module: Any) -> Iterator[tuple[str, Tensor, bool]]:
    """Each parameter: its name, itself, and whether it is the weight of an nn.Linear."""
    from torch import nn

    matrices = {id(m.weight) for m in module.modules() if isinstance(m, nn.Linear)}
    for name, parameter in module.named_parameters():
        yield name, parameter, id(parameter) in matrices


def _native(value: NDArray[Any], is_linear: bool) -> NDArray[Any]:
    """A copy as torch takes it: in native byte order, transposed for the weight of an nn.Linear."""
    return np.array(value.T if is_linear else value, value.dtype.newbyteorder("="))


def to_array(tensor: Any) -> NDArray[Any]:
    """Copy a torch tensor into a NumPy array; bfloat16, which NumPy lacks, becomes float32."""
    value = tensor.detach().cpu()
    upcast = value.float() if dtype_name(value) == "bfloat16" else value
    return np.array(upcast.numpy(), order="C")
