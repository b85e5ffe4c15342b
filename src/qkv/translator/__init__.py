"""Translate text by a trained model of either room, and look at its attention maps."""

from qkv.translator.attention_maps import KINDS, AttentionMaps, attention_page
from qkv.translator.translator import Translator

__all__ = ["KINDS", "AttentionMaps", "Translator", "attention_page"]
