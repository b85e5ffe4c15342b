"""Other people's Transformers in the shape that `Trainer` takes, and the text they all learn."""

from baselines.models import NAMES, Peer, make
from baselines.text import (
    MODEL,
    RUNTIME,
    TRAINING,
    data_config,
    fields_in_words,
    folder_of,
)

__all__ = [
    "MODEL",
    "NAMES",
    "RUNTIME",
    "TRAINING",
    "Peer",
    "data_config",
    "fields_in_words",
    "folder_of",
    "make",
]
