"""The sentence pairs that a configuration names: of files, or of the book's grammar."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from qkv.corpus import Pair, read_pairs, read_tsv, sentences, split_by_combination, split_random
from qkv.trainer.config import DataConfig

__all__ = ["Texts", "read_texts"]

Texts = list[tuple[str, str]]


def read_texts(config: DataConfig) -> tuple[Texts, Texts]:
    """Pairs for training and for validation.

    Raises:
        ValueError: as `read_pairs` and `read_tsv`; or no pair is left for the validation.
        OSError: a file cannot be read.
    """
    most = config.max_text
    if config.source and config.target:
        pairs = list(read_pairs(config.source, config.target, max_text=most))
    elif config.tsv:
        pairs = list(read_tsv(config.tsv, *config.columns, max_text=most))
    else:
        return _grammar(config)
    if config.valid_source and config.valid_target:
        return pairs, list(read_pairs(config.valid_source, config.valid_target, max_text=most))
    count = min(config.valid_pairs, len(pairs) // 10)
    if not count:
        raise ValueError(
            f"TranslationData: {len(pairs)} pair{'s are' if len(pairs) > 1 else ' is'} too few to "
            "hold any back: name others with `valid_source` and `valid_target`"
        )
    order = Random(config.seed).sample(range(len(pairs)), len(pairs))
    held_out = set(order[:count])
    return (
        [pair for n, pair in enumerate(pairs) if n not in held_out],
        [pair for n, pair in enumerate(pairs) if n in held_out],
    )


def _grammar(config: DataConfig) -> tuple[Texts, Texts]:
    """The grammar's pairs, and some of those that are held back; training sees none of the rest."""
    split = split_random if config.split == "random" else split_by_combination
    training, held_out = split(sentences(), config.validation_fraction, Random(config.seed))
    if not held_out:
        raise ValueError(
            "TranslationData: `validation_fraction`: no pair is left to validate with: raise it"
        )
    chosen = Random(config.seed).sample(held_out, min(config.valid_pairs, len(held_out)))
    return _as_texts(training), _as_texts(chosen)


def _as_texts(pairs: Sequence[Pair]) -> Texts:
    return [(" ".join(pair.source), " ".join(pair.target)) for pair in pairs]
