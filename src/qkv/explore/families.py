"""Explorer of the chapter on families: mask and questions of GPT, BERT and a prefix model."""

from __future__ import annotations

from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Heatmap, Panels, Table
from qkv.language import gettext, gettext_noop

Array = np.ndarray[Any, Any]

FAMILIES = (
    gettext_noop("GPT: causal"),
    gettext_noop("BERT: full"),
    gettext_noop("Prefix model"),
)
SENTENCES = ("The cat drinks the milk", "The farmer opens the door", "I study AI very hard")
GAP = "[MASK]"
HEADER = (
    gettext_noop("reads"),
    gettext_noop("predicts"),
    gettext_noop("sees"),
    gettext_noop("asked"),
)


def masks(*, family: str, prefix: int, sentence: str) -> Panels:
    """Who sees whom in a sentence, and which rows are asked for a token.

    Args:
        family: one of FAMILIES.
        prefix: how many tokens are given, <sos> among them. A GPT does not care; in a BERT the
            next token is masked; in a prefix model these tokens see one another.
        sentence: five words.
    """
    words = sentence.split()
    reads = ["<sos>", *words]
    n = len(reads)
    predicts = [*words, "<eos>"]
    allowed = np.ones((n, n), dtype=bool)
    asked = np.ones(n, dtype=bool)
    if family == FAMILIES[0]:
        allowed = qn.causal_mask(n)[0, 0]
    elif family == FAMILIES[1]:
        predicts = list(reads)
        reads[prefix] = GAP
        asked = np.arange(n) == prefix
    else:
        allowed = qn.prefix_mask(np.array([prefix]), n)[0, 0]
        asked = np.arange(n) >= prefix - 1
    return {
        "question": _question(family, prefix, [*words, "<eos>"], reads),
        "mask": Heatmap(allowed, reads, reads, colours="mask"),
        "rows": Table([*map(gettext, HEADER)], _rows(reads, predicts, allowed, asked)),
        "answers": gettext("{some} of {all}").format(some=asked.sum(), all=n),
    }


def _question(family: str, prefix: int, words: list[str], reads: list[str]) -> str:
    """What is predicted, and from what, for the first token that is not given."""
    answer = words[prefix - 1]
    seen = reads if family == FAMILIES[1] else reads[:prefix]
    return gettext("{answer} from: {seen}").format(answer=answer, seen=" ".join(seen))


def _rows(
    reads: list[str], predicts: list[str], allowed: Array, asked: Array
) -> list[tuple[str, str, str, str]]:
    rows = zip(reads, predicts, allowed.sum(axis=1), asked, strict=True)
    return [
        (token, answer if counts else "–", str(seen), gettext("yes") if counts else gettext("no"))
        for token, answer, seen, counts in rows
    ]
