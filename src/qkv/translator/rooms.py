"""The two rooms as a translator uses them: model, search functions, arrays from and to NumPy.

torch is imported only where a model of its room comes in, or is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import qkv.numpy as qn
from qkv.bridge import StateDict, copy_parameters, to_array
from qkv.config import TransformerConfig, parameter_count
from qkv.shapes import check_choice

if TYPE_CHECKING:
    import qkv.torch as qt

__all__ = ["Model", "Room", "build_model", "find_device", "find_room"]

Model: TypeAlias = "qn.Transformer | qt.Transformer"
ROOMS = ("numpy", "torch")


class Room:
    """The NumPy room, with one of its models."""

    functions: Any = qn

    def __init__(self, model: Model) -> None:
        self.model: Any = model

    def from_numpy(self, array: NDArray[Any]) -> Any:
        """Convert a NumPy array into what the model takes."""
        return array

    def to_numpy(self, array: Any) -> NDArray[Any]:
        """Convert what the model returned into a NumPy array."""
        return np.asarray(array)


class TorchRoom(Room):
    """The torch room, with one of its models, on the model's device."""

    def __init__(self, model: Model) -> None:
        import qkv.torch as qt

        super().__init__(model)
        self.functions = qt

    def from_numpy(self, array: NDArray[Any]) -> Any:
        import torch

        return torch.as_tensor(array, device=next(self.model.parameters()).device)

    def to_numpy(self, array: Any) -> NDArray[Any]:
        return to_array(array)


def find_room(model: Model) -> Room:
    """The room that a Transformer belongs to.

    Raises:
        ValueError: it is none.
    """
    if isinstance(model, qn.Transformer):
        return Room(model)
    if hasattr(model, "named_modules"):
        import qkv.torch as qt

        if isinstance(model, qt.Transformer):
            return TorchRoom(model)
    got = f"{type(model).__module__}.{type(model).__name__}"
    hint = "one with encoder and decoder"
    raise ValueError(
        f"Translator: model must be a Transformer of qkv.numpy or qkv.torch, got {got}: {hint}"
    )


def build_model(
    config: TransformerConfig, parameters: StateDict, room: str, device: str | None = None
) -> Model:
    """Build a model with these parameters in inference mode: float32, or float64 where these are.

    Raises:
        ValueError: the room or the device is unknown, or the parameters are of another model.
        ImportError: torch is asked for and not installed.
    """
    check_choice("Translator.from_checkpoint", "room", room, ROOMS)
    expected, size = parameter_count(config), sum(value.size for value in parameters.values())
    if expected != size:  # before anything of these sizes is built
        raise ValueError(
            f"Translator.from_checkpoint: the parameters must be {expected:,} numbers, as the "
            f"model's sizes say, got {size:,}: they are of another model"
        )
    dtype = np.result_type(np.float32, *{value.dtype for value in parameters.values()})
    if room == "numpy":
        if device is not None:
            raise ValueError(
                f"Translator.from_checkpoint: device must be None in the NumPy room, got "
                f"{device!r}: devices are torch's"
            )
        numpy_model = qn.Transformer(config, rng=np.random.default_rng(0), dtype=dtype)
        numpy_model.load_state_dict(parameters)
        return numpy_model.eval()

    import torch

    import qkv.torch as qt

    target_device = find_device(device)
    rng = torch.Generator().manual_seed(0)  # of its own: the reader's is left as it is
    torch_model = qt.Transformer(config, rng=rng, dtype=getattr(torch, dtype.name))
    copy_parameters(parameters, torch_model)
    return torch_model.to(target_device).eval()


def find_device(name: str | None) -> Any:
    """The torch device of this name, after a number went there and back; None is the CPU.

    Raises:
        ValueError: there is none of that name here.
    """
    import torch

    try:
        device = torch.device(name or "cpu")
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"device {name!r} cannot be had here: pass cpu, or cuda where there is a GPU ({reason})"
        ) from error
    return device
