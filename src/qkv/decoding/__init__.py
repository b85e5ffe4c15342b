"""Decoding without arrays: the rules of the searches, which both rooms share."""

from qkv.decoding.beam_scorer import BeamScorer
from qkv.decoding.group_rows import group_rows
from qkv.decoding.hypotheses import BeamHypotheses, best_sentences
from qkv.decoding.length_normalization import length_normalizer
from qkv.decoding.step_function import fill_id, keeps_cache

__all__ = [
    "BeamHypotheses",
    "BeamScorer",
    "best_sentences",
    "fill_id",
    "group_rows",
    "keeps_cache",
    "length_normalizer",
]
