"""Constituency trees of the grammar's English sentences, and their text in brackets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from qkv.corpus.clause import QUALITIES, Pair
from qkv.corpus.nouns import NOUNS

__all__ = [
    "LEAF",
    "Tree",
    "constituency_tree",
    "labelled_brackets",
    "linearize",
    "parse_brackets",
]

LEAF = "XX"  # stands for a word, where the words are left out
AUXILIARIES = ("will", "do", "does", "did")


@dataclass(frozen=True)
class Tree:
    """A constituent: its label, and the words and constituents that it is made of."""

    label: str
    children: tuple[Tree | str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words that it spans, from left to right."""
        return tuple(
            word
            for child in self.children
            for word in (child.words if isinstance(child, Tree) else (child,))
        )


def constituency_tree(pair: Pair) -> Tree:
    """The tree of the English sentence of a pair of the grammar.

    The labels are S (clause), NP (noun phrase), VP (verb phrase), PP (prepositional phrase), ADJP
    (adjective after "be") and SBAR (clause after "because"). Each of "will", "do", "does" and "did"
    has a VP around all that follows it; objects, places and reasons stand in the innermost VP.

    Source: the guidelines of the Penn Treebank, Bies et al. 1995, without tags of single words.
    """
    features, words = pair.features, iter(pair.source)
    subject = _noun_phrase(pair, "subject", words)
    after = {
        "object": 0 if features.object is None else _noun_length(pair, "object"),
        "place": 0 if features.place is None else 1 + _noun_length(pair, "place"),
        "reason": 0 if features.reason is None else 4,
    }
    verbs = _take(words, len(pair.source) - len(subject.words) - sum(after.values()))
    complements: list[Tree] = []
    if features.verb in QUALITIES:
        *verbs, adjective = verbs
        complements.append(Tree("ADJP", (adjective,)))
    if after["object"]:
        complements.append(_noun_phrase(pair, "object", words))
    if after["place"]:
        complements.append(Tree("PP", (next(words), _noun_phrase(pair, "place", words))))
    if after["reason"]:
        because, it, be, adjective = words
        verb_phrase = Tree("VP", (be, Tree("ADJP", (adjective,))))
        complements.append(Tree("SBAR", (because, Tree("S", (Tree("NP", (it,)), verb_phrase)))))
    return Tree("S", (subject, _verb_phrase(verbs, complements)))


def linearize(tree: Tree, words: bool = True) -> str:
    """Write a tree as text: "(S (NP the cat )NP (VP sat )VP )S".

    Args:
        words: False writes XX for each of them.
    Source: Vinyals et al. 2015, figure 2.
    """
    inner = (
        linearize(child, words) if isinstance(child, Tree) else child if words else LEAF
        for child in tree.children
    )
    return " ".join((f"({tree.label}", *inner, f"){tree.label}"))


def parse_brackets(text: str) -> Tree:
    """Read back what `linearize` writes.

    Raises:
        ValueError: the text is no tree: a bracket is left open, closed by another label or empty,
            or something stands outside the first.
    """
    open_: list[tuple[str, list[Tree | str]]] = [("", [])]
    for token in text.split():
        if token.startswith("("):
            open_.append((token[1:], []))
        elif token.startswith(")"):
            label, children = open_.pop()
            if label != token[1:] or not label or not children:
                raise ValueError(f"parse_brackets: {token} closes ({label} of {len(children)}")
            open_[-1][1].append(Tree(label, tuple(children)))
        else:
            open_[-1][1].append(token)
    root = open_[0][1]
    if len(open_) > 1 or len(root) != 1 or not isinstance(root[0], Tree):
        raise ValueError(f"parse_brackets: the text must be one tree, got {text!r}")
    return root[0]


def labelled_brackets(tree: Tree, start: int = 0) -> Counter[tuple[str, int, int]]:
    """Count the constituents of a tree as (label, first word, word after the last)."""
    found = Counter({(tree.label, start, start + len(tree.words)): 1})
    for child in tree.children:
        if isinstance(child, Tree):
            found += labelled_brackets(child, start)
        start += len(child.words) if isinstance(child, Tree) else 1
    return found


def _noun_length(pair: Pair, role: str) -> int:
    """How many words a noun has with its article and its adjective; a pronoun is alone."""
    if NOUNS[getattr(pair.features, role)].pronoun:
        return 1
    return 2 + (pair.features.describes == role)


def _noun_phrase(pair: Pair, role: str, words: Iterator[str]) -> Tree:
    return Tree("NP", tuple(_take(words, _noun_length(pair, role))))


def _verb_phrase(verbs: list[str], complements: list[Tree]) -> Tree:
    """A VP for each auxiliary, with its "not", and one for what is left."""
    if verbs[0] not in AUXILIARIES:
        return Tree("VP", (*verbs, *complements))
    end = 2 if verbs[1] == "not" else 1
    return Tree("VP", (*verbs[:end], _verb_phrase(verbs[end:], complements)))


def _take(words: Iterator[str], count: int) -> list[str]:
    return [next(words) for _ in range(count)]
