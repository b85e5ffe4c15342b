"""A trained model that comes with the package: the grammar of `qkv.corpus`, English to Korean."""

from qkv.pretrained.load import pretrained
from qkv.pretrained.scores import alignment_accuracy, exact_match, positional_accuracy

__all__ = ["alignment_accuracy", "exact_match", "positional_accuracy", "pretrained"]
