"""Read model.safetensors of a Hugging Face folder: names and shapes first, then the numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from numpy.typing import NDArray

from qkv.bridge import StateDict
from qkv.hugging_face.folder import SAVE
from qkv.shapes import check_state_dict

__all__ = ["Tensors"]

DTYPES = {"F16": "float32", "F32": "float32", "F64": "float64"}  # what each is computed in


class Tensors:
    """The tensors of a file under short names; the numbers are read once names and shapes fit.

    Args:
        call: whose refusals these are.
        path: of model.safetensors.
        shorten: a tensor's name without its prefix, in today's words; None for what is not needed.
    Raises:
        ValueError: it is no safetensors file, or two of its tensors have one name.
    """

    def __init__(self, call: str, path: Path, shorten: Callable[[str], str | None]) -> None:
        self.call, self.path = call, path
        self.file = _opened(call, path)
        self.names: dict[str, str] = {}
        for name in self.file.keys():  # noqa: SIM118 (it can be asked for keys, not walked through)
            short = shorten(name)
            if short in self.names:
                both = f"{self.names[short]} and {name}"
                raise ValueError(f"{call}: {path} must hold each tensor once, got {both}")
            if short is not None:
                self.names[short] = name

    def check_layers(self, prefix: str, setting: str, n_layers: int) -> None:
        """Refuse a file with another number of layers than config.json has."""
        numbers = {
            name.split(".")[prefix.count(".")] for name in self.names if name.startswith(prefix)
        }
        if len(numbers) != n_layers:
            raise ValueError(
                f"{self.call}: {self.path} must hold {setting} = {n_layers} layers, got "
                f"{len(numbers)}: config.json is of another model"
            )

    def read(self, shapes: Mapping[str, tuple[int, ...]], copies: Mapping[str, str]) -> StateDict:
        """All tensors by their short names, in float32, or in float64 where one of them is.

        Args:
            shapes: of the tensors that must be there.
            copies: names that may stand there too, each with that of which it is a copy.
        Raises:
            ValueError: one is missing, unknown, of another shape, of a dtype that NumPy lacks, or
                no copy of its other name.
        """
        expected = dict(shapes)
        expected |= {name: shapes[of] for name, of in copies.items() if name in self.names}
        slices = {short: self.file.get_slice(name) for short, name in self.names.items()}
        check_state_dict(
            f"{self.call}: {self.path}",
            expected,
            {short: tuple(part.get_shape()) for short, part in slices.items()},
        )
        dtype = self._dtype({short: part.get_dtype() for short, part in slices.items()})
        found: StateDict = {name: self._tensor(name, dtype) for name in shapes}
        for name, of in copies.items():
            if name in self.names and not np.array_equal(self._tensor(name, dtype), found[of]):
                raise ValueError(
                    f"{self.call}: {name} of {self.path} must equal {of}, got other numbers: the "
                    "two tables are not tied, as config.json says"
                )
        return found

    def _tensor(self, name: str, dtype: str) -> NDArray[Any]:
        tensor: NDArray[Any] = self.file.get_tensor(self.names[name])
        return tensor.astype(dtype, copy=False)

    def _dtype(self, dtypes: Mapping[str, str]) -> str:
        for name, dtype in dtypes.items():
            if dtype not in DTYPES:
                raise ValueError(
                    f"{self.call}: {name} of {self.path} must be one of {', '.join(DTYPES)}, got "
                    f"{dtype}: convert it with model.float() and {SAVE}"
                )
        return max(DTYPES[dtype] for dtype in dtypes.values())  # "float64" comes after "float32"


def _opened(call: str, path: Path) -> Any:
    """The file, mapped into memory: no tensor is read before it is asked for."""
    try:
        return safetensors.safe_open(path, framework="np")
    except safetensors.SafetensorError as error:
        hint = "it is cut short or of another kind; download it again"
        raise ValueError(f"{call}: {path} is no safetensors file: {hint} ({error})") from error
