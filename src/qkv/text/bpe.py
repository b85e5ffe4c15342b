"""Byte-pair encoding through the library `tokenizers`, imported only where it is needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qkv.text.vocabulary import SPECIAL_TOKENS, UNK, WORD_START

if TYPE_CHECKING:
    import tokenizers

__all__ = ["Pairs", "bpe_encoder", "train_merges"]

Pairs = Sequence[tuple[str, str]]


def train_merges(
    lines: Sequence[str], vocab_size: int, min_count: int
) -> tuple[list[str], list[tuple[str, str]]]:
    """Train BPE on normalized lines: the tokens by id, and the merges, first to last."""
    bpe = _bpe({}, [])
    trainer = bpe.model.get_trainer()
    trainer.vocab_size = vocab_size
    trainer.min_frequency = min_count
    trainer.show_progress = False
    trainer.special_tokens = list(SPECIAL_TOKENS)
    bpe.train_from_iterator(lines, trainer)
    model: dict[str, Any] = json.loads(bpe.to_str())["model"]
    merges = [(first, second) for first, second in model["merges"]]
    return sorted(model["vocab"], key=model["vocab"].__getitem__), merges


def bpe_encoder(tokens: Sequence[str], merges: Pairs) -> tokenizers.Tokenizer:
    """A BPE model that encodes normalized text as ids."""
    return _bpe({token: n for n, token in enumerate(tokens)}, merges)


def _bpe(vocabulary: dict[str, int], merges: Pairs) -> tokenizers.Tokenizer:
    """A BPE model whose words begin with ▁, and where each punctuation mark stands alone.

    So "mat." shares its pieces with "mat".

    The special tokens are not announced to the library, which would find them in the text.
    """
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers
    except ImportError as error:
        raise ImportError("BPE needs tokenizers: pip install tokenizers") from error
    bpe = Tokenizer(
        models.BPE(vocab=vocabulary, merges=list(merges), unk_token=SPECIAL_TOKENS[UNK])
    )
    spaces = pre_tokenizers.Metaspace(replacement=WORD_START, prepend_scheme="always")
    bpe.pre_tokenizer = pre_tokenizers.Sequence([spaces, pre_tokenizers.Punctuation()])
    return bpe
