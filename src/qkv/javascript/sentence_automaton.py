"""All sentences of the grammar as a minimal acyclic automaton, small enough for a page.

From its start, each word leads to a state, and two states with the same continuations are one
(Daciuk et al. 2000 build it word by word; here, from the tree of all sentences).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

END = None  # stands in a node of the tree where a sentence may end


def sentence_automaton(
    sentences: Iterable[Sequence[str]], to_id: Callable[[str], int]
) -> dict[str, list[Any]]:
    """The minimal automaton that accepts these sentences and no others.

    Args:
        sentences: each a sequence of words.
        to_id: the id of a word, by which the page knows it.
    Returns:
        By state: whether a sentence may `end` there, the ids of the `words` that lead on, and the
        `next` state of each, always a lower one. The start is the last state.
    """
    states: dict[tuple[Any, ...], int] = {}

    def number(node: dict[str | None, Any]) -> int:
        ways = sorted((to_id(word), number(rest)) for word, rest in node.items() if word is not END)
        return states.setdefault((END in node, *ways), len(states))

    number(_tree(sentences))
    return {
        "end": [int(end) for end, *_ in states],
        "words": [[word for word, _ in ways] for _, *ways in states],
        "next": [[state for _, state in ways] for _, *ways in states],
    }


def _tree(sentences: Iterable[Sequence[str]]) -> dict[str | None, Any]:
    root: dict[str | None, Any] = {}
    for sentence in sentences:
        node = root
        for word in sentence:
            node = node.setdefault(word, {})
        node[END] = {}
    return root
