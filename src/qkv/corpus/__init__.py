"""Parallel corpora: a small English → Korean grammar with word alignment, and files of real text.

The grammar is closed and every word of it was written for this book, so that what a model ought to
say, and which word it ought to look at, is known; so are the trees of its English sentences, which
`score_trees` compares with those that a parser writes. `read_pairs` and `read_tsv` bring anybody's
text.
"""

from qkv.corpus.clause import Features, Pair
from qkv.corpus.files import read_pairs, read_tsv
from qkv.corpus.glosses import glosses
from qkv.corpus.grammar import sentences
from qkv.corpus.particles import has_final_consonant, with_particle
from qkv.corpus.patterns import sentence_patterns
from qkv.corpus.splits import combinations, split_by_combination, split_random
from qkv.corpus.tree_scores import TreeScores, score_trees
from qkv.corpus.trees import Tree, constituency_tree, linearize, parse_brackets

__all__ = [
    "Features",
    "Pair",
    "Tree",
    "TreeScores",
    "combinations",
    "constituency_tree",
    "glosses",
    "has_final_consonant",
    "linearize",
    "parse_brackets",
    "read_pairs",
    "read_tsv",
    "score_trees",
    "sentence_patterns",
    "sentences",
    "split_by_combination",
    "split_random",
    "with_particle",
]
