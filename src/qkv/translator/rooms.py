"""What a translator needs of a room: its functions, and NumPy's arrays there and back.

torch is imported only where a model of its room comes in, or is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import qkv.numpy as qn
from qkv.bridge import State, to_torch
from qkv.config import TransformerConfig, parameter_count
from qkv.shapes import check_choice

if TYPE_CHECKING:
    import qkv.torch as qt

__all__ = ["Model", "Room", "build", "find_device", "room_of"]

Model: TypeAlias = "qn.Transformer | qt.Transformer"
ROOMS = ("numpy", "torch")


class Room:
    """The NumPy room, around a model."""

    functions: Any = qn

    def __init__(self, model: Model) -> None:
        self.model: Any = model

    def put(self, array: NDArray[Any]) -> Any:
        """An array of NumPy as the model takes it."""
        return array

    def get(self, array: Any) -> NDArray[Any]:
        """What the model gave, as NumPy holds it."""
        return np.asarray(array)


class TorchRoom(Room):
    """The torch room, on the model's device."""

    def __init__(self, model: Model) -> None:
        import qkv.torch as qt

        super().__init__(model)
        self.functions = qt

    def put(self, array: NDArray[Any]) -> Any:
        import torch

        return torch.as_tensor(array, device=next(self.model.parameters()).device)

    def get(self, array: Any) -> NDArray[Any]:
        wide = array.float() if str(array.dtype) == "torch.bfloat16" else array
        return np.asarray(wide.cpu())


def room_of(model: Model) -> Room:
    """The room that a Transformer is of.

    Raises:
        ValueError: it is none.
    """
    if isinstance(model, qn.Transformer):
        return Room(model)
    if hasattr(model, "named_modules"):
        import qkv.torch as qt

        if isinstance(model, qt.Transformer):
            return TorchRoom(model)
    came = f"{type(model).__module__}.{type(model).__name__}"
    mend = "one with encoder and decoder"
    raise ValueError(
        f"Translator: model must be a Transformer of qkv.numpy or qkv.torch, got {came}: {mend}"
    )


def build(
    config: TransformerConfig, parameters: State, room: str, device: str | None = None
) -> Model:
    """A model with these parameters, ready to translate: float32, or float64 where these are.

    Raises:
        ValueError: the room or the device is unknown, or the parameters are of another model.
        ImportError: torch is asked for and not installed.
    """
    check_choice("Translator.from_checkpoint", "room", room, ROOMS)
    sizes, held = parameter_count(config), sum(value.size for value in parameters.values())
    if sizes != held:  # before anything of these sizes is built
        raise ValueError(
            f"Translator.from_checkpoint: the parameters must be {sizes:,} numbers, as the model's "
            f"sizes say, got {held:,}: they are of another model"
        )
    dtype = np.result_type(np.float32, *{value.dtype for value in parameters.values()})
    if room == "numpy":
        if device is not None:
            raise ValueError(
                f"Translator.from_checkpoint: device must be None in the NumPy room, got "
                f"{device!r}: devices are torch's"
            )
        ours = qn.Transformer(config, rng=np.random.default_rng(0), dtype=dtype)
        ours.load_state_dict(parameters)
        return ours.eval()

    import torch

    import qkv.torch as qt

    where = find_device(device)
    rng = torch.Generator().manual_seed(0)  # of its own: the reader's is left as it is
    theirs = qt.Transformer(config, rng=rng, dtype=getattr(torch, dtype.name))
    to_torch(parameters, theirs)
    return theirs.to(where).eval()


def find_device(name: str | None) -> Any:
    """A device of torch that numbers can be sent to and had back from; None is the CPU.

    Raises:
        ValueError: there is none of that name here.
    """
    import torch

    try:
        device = torch.device(name or "cpu")
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        words = str(error).partition("\n")[0]
        raise ValueError(
            f"device {name!r} cannot be had here: pass cpu, or cuda where there is a GPU ({words})"
        ) from error
    return device
