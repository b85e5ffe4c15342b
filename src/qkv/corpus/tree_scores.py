"""How well trees written as text agree with the right ones: labelled brackets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from qkv.corpus.trees import Tree, labelled_brackets, linearize, parse_brackets

__all__ = ["TreeScores", "score_trees"]


@dataclass(frozen=True)
class TreeScores:
    """Scores of trees, each a share between 0 and 1.

    Args:
        well_formed: of the texts that are a tree.
        same_length: of the texts that are a tree of as many words as the right one.
        precision: of the constituents written that stand in the right tree, with the same label,
            first and last word.
        recall: of the constituents of the right trees that were written.
        f1: 2 · precision · recall / (precision + recall).
        exact: of the texts that are the right tree.
    """

    well_formed: float
    same_length: float
    precision: float
    recall: float
    f1: float
    exact: float


def score_trees(outputs: Sequence[str], references: Sequence[Tree]) -> TreeScores:
    """Labelled precision, recall and F1 of brackets, counted over all sentences together.

    A text that is no tree has no constituent. Words are not compared, only their number.

    Args:
        outputs: trees in brackets, as `linearize` writes them.
        references: the right trees.
    Raises:
        ValueError: there are none, or not as many of one as of the other.
    Source: Black et al. 1991.
    """
    if not references or len(outputs) != len(references):
        raise ValueError(
            "score_trees: outputs and references must be as many, and at least one, got "
            f"{len(outputs)} and {len(references)}"
        )
    trees = [_parsed(text) for text in outputs]
    pairs = list(zip(trees, references, strict=True))
    written = [Counter() if tree is None else labelled_brackets(tree) for tree in trees]
    right = [labelled_brackets(tree) for tree in references]
    both = sum((a & b).total() for a, b in zip(written, right, strict=True))
    return TreeScores(
        well_formed=1 - trees.count(None) / len(trees),
        same_length=_share([t is not None and len(t.words) == len(r.words) for t, r in pairs]),
        precision=both / max(1, sum(found.total() for found in written)),
        recall=both / sum(found.total() for found in right),
        f1=2 * both / sum(found.total() for found in (*written, *right)),
        exact=_share(
            [t is not None and linearize(t, False) == linearize(r, False) for t, r in pairs]
        ),
    )


def _parsed(text: str) -> Tree | None:
    try:
        return parse_brackets(text)
    except ValueError:
        return None


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits)
