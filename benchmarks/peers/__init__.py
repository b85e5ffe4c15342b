"""Other people's Transformers in the shape that `qkv train` takes, and the text they all learn."""

from peers.models import NAMES, Peer, make
from peers.text import RECIPE, arguments_of, folder_of, machine, options_of

__all__ = [
    "NAMES",
    "RECIPE",
    "Peer",
    "arguments_of",
    "folder_of",
    "machine",
    "make",
    "options_of",
]
