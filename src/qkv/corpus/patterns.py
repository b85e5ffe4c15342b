"""The patterns of the grammar's English sentences, each with an example: what one can type."""

from qkv.corpus.clause import QUALITIES, Features
from qkv.corpus.grammar import sentences

__all__ = ["sentence_patterns"]


def sentence_patterns() -> list[tuple[str, str]]:
    """Each pattern of an English sentence and the first sentence of it, in the past.

    >>> sentence_patterns()[0]
    ('NOUN VERB', 'The child sat')
    """
    found: dict[str, str] = {}
    for pair in sentences():
        features = pair.features
        if features.tense == "past" and not features.negated and features.adjective is None:
            found.setdefault(_pattern(features), " ".join(pair.source))
    return sorted(found.items(), key=lambda item: len(item[0]))


def _pattern(features: Features) -> str:
    parts = ["NOUN", "be ADJECTIVE" if features.verb in QUALITIES else "VERB"]
    parts += ["NOUN"] * (features.object is not None)
    parts += ["PLACE"] * (features.place is not None)
    parts += ["because it be ADJECTIVE"] * (features.reason is not None)
    return " ".join(parts)
