"""Decoding without arrays: the rules of the searches, which both rooms share."""

from qkv.decoding.beam_scorer import BeamScorer
from qkv.decoding.hypotheses import BeamHypotheses, best_sentences
from qkv.decoding.kv_cache import has_kv_cache, undo_repeat_interleave
from qkv.decoding.length_normalization import length_normalizer
from qkv.decoding.padding import resolve_pad_id

__all__ = [
    "BeamHypotheses",
    "BeamScorer",
    "best_sentences",
    "has_kv_cache",
    "length_normalizer",
    "resolve_pad_id",
    "undo_repeat_interleave",
]
