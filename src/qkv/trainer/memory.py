"""How much memory the training of a model takes, known before anything of it is built."""

from __future__ import annotations

import os

from qkv.config import TransformerConfig, parameter_count

__all__ = ["check_memory", "training_bytes"]

PARAMETER_BYTES = 16  # float32: itself, its gradient, and the two means of Adam
LAYER_BYTES = 100_000  # the modules of a layer, however narrow it is


def training_bytes(config: TransformerConfig) -> int:
    """The bytes that parameters, gradients and optimizer take; what a batch takes is not in it."""
    layers = config.n_layers + config.decoder_layers
    return PARAMETER_BYTES * parameter_count(config) + LAYER_BYTES * layers


def check_memory(config: TransformerConfig) -> None:
    """Refuse a model that this machine's memory cannot hold, where the system says how much it is.

    Raises:
        ValueError: it takes more than there is.
    """
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows; a name that is not known
        return
    needed = training_bytes(config)
    if needed > memory > 0:
        raise ValueError(
            f"Trainer: to train {parameter_count(config):,} parameters takes "
            f"{needed / 2**30:,.1f} GiB or more, and this machine has {memory / 2**30:,.1f} GiB: "
            "lower `d_model`, `d_ff` or `n_layers`"
        )
