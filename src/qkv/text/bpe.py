"""Byte-pair encoding through the library `tokenizers`, asked for only where it is needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qkv.text.vocabulary import SPECIALS, START, UNK

if TYPE_CHECKING:
    import tokenizers

__all__ = ["Pairs", "cutter", "merge_pairs"]

Pairs = Sequence[tuple[str, str]]


def merge_pairs(
    lines: Sequence[str], vocab_size: int, min_count: int
) -> tuple[list[str], list[tuple[str, str]]]:
    """The tokens by id and the merges, first to last, that BPE learns from clean lines."""
    bpe = _uncut({}, [])
    trainer = bpe.model.get_trainer()
    trainer.vocab_size = vocab_size
    trainer.min_frequency = min_count
    trainer.show_progress = False
    trainer.special_tokens = list(SPECIALS)
    bpe.train_from_iterator(lines, trainer)
    found: dict[str, Any] = json.loads(bpe.to_str())["model"]
    merges = [(first, second) for first, second in found["merges"]]
    return sorted(found["vocab"], key=found["vocab"].__getitem__), merges


def cutter(tokens: Sequence[str], merges: Pairs) -> tokenizers.Tokenizer:
    """What cuts a clean text into ids."""
    return _uncut({token: n for n, token in enumerate(tokens)}, merges)


def _uncut(ids: dict[str, int], merges: Pairs) -> tokenizers.Tokenizer:
    """Words begin with ▁, and a punctuation mark stands alone: "mat." shares its pieces with "mat".

    The special tokens are not announced to the library, which would find them in the text.
    """
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers
    except ImportError as error:
        raise ImportError("BPE needs tokenizers: pip install tokenizers") from error
    bpe = Tokenizer(models.BPE(vocab=ids, merges=list(merges), unk_token=SPECIALS[UNK]))
    words = pre_tokenizers.Metaspace(replacement=START, prepend_scheme="always")
    bpe.pre_tokenizer = pre_tokenizers.Sequence([words, pre_tokenizers.Punctuation()])
    return bpe
