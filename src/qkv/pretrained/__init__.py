"""A trained model that comes with the package: the grammar of `qkv.corpus`, English to Korean.

A second, of two layers, is in `induction`.
"""

from qkv.pretrained.examples import EXAMPLES
from qkv.pretrained.load import STEPS, pretrained
from qkv.pretrained.scores import (
    alignment_accuracy,
    antecedent_attention,
    exact_match,
    positional_accuracy,
)

__all__ = [
    "EXAMPLES",
    "STEPS",
    "alignment_accuracy",
    "antecedent_attention",
    "exact_match",
    "positional_accuracy",
    "pretrained",
]
