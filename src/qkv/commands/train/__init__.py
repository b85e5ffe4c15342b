"""Train a model that translates: from a grammar or from files to a folder that `qkv` can use."""

from qkv.commands.train.command import main

__all__ = ["main"]
