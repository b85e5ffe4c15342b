"""`qkv translate`: a checkpoint and text in, translations out."""

from qkv.commands.translate.command import main

__all__ = ["main"]
