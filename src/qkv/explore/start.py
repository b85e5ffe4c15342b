"""Explorer of the first chapter: where the trained model looks for each word that it writes."""

from __future__ import annotations

from functools import cache

from qkv.corpus import glosses
from qkv.explore.framework.panels import Bars, Panels, Table
from qkv.language import gettext, gettext_noop
from qkv.pretrained import EXAMPLES, pretrained
from qkv.translator import AttentionMaps

# What the buttons say, in words of the sentences: a whole one on each would fill a phone.
NAMES = """
cat; dog, tired; dog, wide; rabbit, hungry; rabbit, delicious; I was tired; hat; house; garden;
teacher; library; clever dog
"""
SENTENCES = dict(zip(map(str.strip, NAMES.split(";")), EXAMPLES, strict=True))
HEADS = (gettext_noop("average"), gettext_noop("head 1"), gettext_noop("head 2"))
MOST_WORDS = 6  # of a translation of an example
CHOSEN = "←"


def look(*, sentence: str, word: int, head: str) -> Panels:
    """Cross-attention of one Korean word: how much of each English word the model takes for it.

    Args:
        sentence: a name of SENTENCES, or English words that the model knows.
        word: which word of the translation, counted from 1; the last where it has fewer.
        head: one of HEADS.
    """
    english = SENTENCES.get(sentence, sentence)
    maps = _maps(english)
    korean = maps.translation.split()
    at = min(word, len(korean)) - 1
    heads = maps.stack("cross")[-1]  # (H, T, S)
    weights = heads.mean(0) if head == HEADS[0] else heads[HEADS.index(head) - 1]  # (T, S)
    rows = [(f"{n}", one, glosses().get(one, "")) for n, one in enumerate(korean, start=1)]
    rows[at] = (f"{at + 1} {CHOSEN}", *rows[at][1:])
    return {
        "english": english,
        gettext_noop("translation"): Table(
            [gettext("word"), gettext("Korean"), gettext("in English")], rows
        ),
        "shown": gettext("word {word} of {count}: {text}").format(
            word=at + 1, count=len(korean), text=korean[at]
        ),
        gettext_noop("weights"): Bars(weights[at], maps.source, limits=(0, 1)),
    }


@cache
def _maps(sentence: str) -> AttentionMaps:
    return pretrained().attention(sentence)


GRID = {"sentence": SENTENCES, "word": range(1, MOST_WORDS + 1), "head": HEADS}
