"""Interlinear glosses: what each Korean word of the grammar says, in English."""

from collections import Counter, defaultdict
from functools import cache
from types import MappingProxyType

from qkv.corpus.grammar import sentences

__all__ = ["glosses"]

PASSED_OVER = {"do", "does", "did", "will", "it"}  # where they stand beside a word that says more
OF_BE = {"am": "is", "are": "is", "were": "was"}
RARE = 0.25  # of the sentences with a word: meanings of fewer are left out


@cache
def glosses() -> MappingProxyType[str, str]:
    """The English words that each Korean word of the grammar is aligned with: 집에서, "in house".

    They are those that all its sentences share; where there is none, its meanings: "buy / live".
    """
    meanings: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for pair in sentences():
        aligned = defaultdict(list)
        for i, j in sorted(pair.alignment):
            word = pair.source[j]
            aligned[i].append(word if word == "I" else OF_BE.get(word.lower(), word.lower()))
        for i, korean in enumerate(pair.target):
            meanings[korean][_content(aligned[i])] += 1
    return MappingProxyType({korean: _common(found) for korean, found in meanings.items()})


def _content(words: list[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in PASSED_OVER) or tuple(words)


def _common(meanings: Counter[tuple[str, ...]]) -> str:
    first, *others = (words for words, _ in meanings.most_common())
    if shared := [word for word in first if all(word in other for other in others)]:
        return " ".join(shared)
    likely = [" ".join(words) for words, n in meanings.items() if n >= RARE * meanings.total()]
    inflected = [one for one in likely if not any(one != x and x.startswith(one) for x in likely)]
    return " / ".join(inflected)  # "sells" stands for "sell" too
