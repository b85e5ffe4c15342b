"""Text in, text out: a model of either room with its vocabularies, and what it looked at."""

from qkv.translator.looks import KINDS, Looks
from qkv.translator.translator import Translator

__all__ = ["KINDS", "Looks", "Translator"]
