"""`qkv train`: from a grammar or from files of sentence pairs to a folder that `qkv` can use."""

from qkv.commands.train.command import main

__all__ = ["main"]
