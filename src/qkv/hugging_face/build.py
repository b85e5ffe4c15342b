"""Build a model of either room with the parameters of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.bridge import StateDict, copy_parameters
from qkv.config import TransformerConfig

__all__ = ["ROOMS", "build"]

ROOMS = ("numpy", "torch")


def build(room: str, name: str, config: TransformerConfig, state: StateDict, **options: Any) -> Any:
    """A model in eval mode, of the dtype of its parameters.

    Args:
        room: "numpy" or "torch".
        name: of its class, which both rooms have.
        config, options: what the class takes.
        state: the parameters, in the layout of the NumPy room.
    Raises:
        ImportError: the room is "torch", and torch is not installed.
    """
    dtype = next(iter(state.values())).dtype.name
    if room == "numpy":
        rng = np.random.default_rng(0)
        model = getattr(qn, name)(config, **options, rng=rng, dtype=dtype)
    else:
        import torch

        import qkv.torch as qt

        own = {"rng": torch.Generator().manual_seed(0), "dtype": getattr(torch, dtype)}
        model = getattr(qt, name)(config, **options, **own)
    copy_parameters(state, model)
    return model.eval()
