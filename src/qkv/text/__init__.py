"""Tokenizers, their training, and batches of sentence pairs bucketed by length."""

from qkv.text.batches import Batch, bucket_by_length, bucketed_batches, collate
from qkv.text.normalization import normalize
from qkv.text.tokenizer import Tokenizer
from qkv.text.trainers import train_bpe, train_character_level, train_word_level
from qkv.text.vocabulary import EOS, PAD, SOS, SPECIAL_TOKENS, UNK

__all__ = [
    "EOS",
    "PAD",
    "SOS",
    "SPECIAL_TOKENS",
    "UNK",
    "Batch",
    "Tokenizer",
    "bucket_by_length",
    "bucketed_batches",
    "collate",
    "normalize",
    "train_bpe",
    "train_character_level",
    "train_word_level",
]
