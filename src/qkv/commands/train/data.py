"""Pairs of sentences, to learn from and to validate with, as text and as token ids."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from qkv.corpus import (
    Pair,
    read_pairs,
    read_tsv,
    sentences,
    split_by_combination,
    split_random,
)
from qkv.text import Tokenizer, learn_bpe, learn_words

__all__ = ["Data", "encode", "prepare", "read"]

Texts = list[tuple[str, str]]
Ids = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Data:
    """What a run works with.

    Args:
        training, validation: ids of source and target.
        texts: the pairs of the validation as text.
        source, target: the vocabularies.
        left_out: how many pairs for training, and for validation, are longer than the limit.
        digest: of all text, to know it again.
    """

    training: list[Ids]
    validation: list[Ids]
    texts: Texts
    source: Tokenizer
    target: Tokenizer
    left_out: tuple[int, int]
    digest: str


def prepare(
    options: argparse.Namespace, vocabularies: tuple[Tokenizer, Tokenizer] | None = None
) -> Data:
    """Read the text, learn the vocabularies unless they are there, and count in tokens.

    Raises:
        ValueError: what the readers refuse; or no pair is short enough.
        OSError: a file cannot be read.
    """
    training, validation = read(options)
    source, target = vocabularies or learn(options, training)
    pairs = encode(training, source, target)
    kept = [pair for pair in pairs if fits(pair, options.max_len)]
    if not kept:
        raise ValueError(
            f"none of the {len(pairs)} pairs for training is at most {options.max_len} tokens "
            "long: raise --max-len"
        )
    if (longest := max(max(len(s), len(t) - 1) for s, t in kept)) > options.max_tokens:
        raise ValueError(
            f"a sentence has {longest} tokens, and a batch at most {options.max_tokens}: raise "
            "--max-tokens, or lower --max-len"
        )
    valid = encode(validation, source, target)
    short = [n for n, pair in enumerate(valid) if fits(pair, options.max_len)]
    if not short:
        raise ValueError(f"no pair for validation is at most {options.max_len} tokens long")
    digest = hashlib.sha256()
    for texts in (training, validation):
        for pair in texts:
            digest.update(repr(pair).encode())
        digest.update(b"end")
    return Data(
        kept,
        [valid[n] for n in short],
        [validation[n] for n in short],
        source,
        target,
        (len(pairs) - len(kept), len(valid) - len(short)),
        digest.hexdigest(),
    )


def read(options: argparse.Namespace) -> tuple[Texts, Texts]:
    """Pairs for training and for validation."""
    if options.source:
        pairs = list(read_pairs(options.source, options.target))
    elif options.tsv:
        pairs = list(read_tsv(options.tsv, *options.columns))
    else:
        return grammar(options)
    if options.valid_source:
        return pairs, list(read_pairs(options.valid_source, options.valid_target))
    count = min(options.valid_pairs, len(pairs) // 10)
    if not count:
        raise ValueError(
            f"{len(pairs)} pairs are too few to hold any back: name others with --valid-source and "
            "--valid-target"
        )
    order = Random(options.seed).sample(range(len(pairs)), len(pairs))
    held = set(order[:count])
    return (
        [pair for n, pair in enumerate(pairs) if n not in held],
        [pair for n, pair in enumerate(pairs) if n in held],
    )


def grammar(options: argparse.Namespace) -> tuple[Texts, Texts]:
    """The grammar's pairs, and some of those that are held back; training sees none of the rest."""
    split = split_random if options.split == "random" else split_by_combination
    training, held = split(sentences(), options.held_back, Random(options.seed))
    if not held:
        raise ValueError("--held-back: no pair is left to validate with: raise it")
    chosen = Random(options.seed).sample(held, min(options.valid_pairs, len(held)))
    return as_texts(training), as_texts(chosen)


def as_texts(pairs: Sequence[Pair]) -> Texts:
    return [(" ".join(pair.source), " ".join(pair.target)) for pair in pairs]


def learn(options: argparse.Namespace, pairs: Texts) -> tuple[Tokenizer, Tokenizer]:
    """Vocabularies out of the text for training alone."""
    sides: Sequence[list[str]] = [[s for s, _ in pairs], [t for _, t in pairs]]
    if not options.separate:
        sides = [[*sides[0], *sides[1]]]
    found = [learn_words(t) if options.words else learn_bpe(t, options.vocabulary) for t in sides]
    return found[0], found[-1]


def encode(pairs: Texts, source: Tokenizer, target: Tokenizer) -> list[Ids]:
    """Sources end in <eos>; targets begin with <sos> besides."""
    return [(source.encode(s, eos=True), target.encode(t, sos=True, eos=True)) for s, t in pairs]


def fits(pair: Ids, max_len: int) -> bool:
    return len(pair[0]) <= max_len and len(pair[1]) - 1 <= max_len
