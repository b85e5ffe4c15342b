"""Text to token ids and back, and sentence pairs in batches that hold little padding."""

from qkv.text.batches import Batch, batches_by_length, pad_batch, plan_batches
from qkv.text.learn import learn_bpe, learn_characters, learn_words
from qkv.text.tokenizer import Tokenizer
from qkv.text.vocabulary import EOS, PAD, SOS, SPECIALS, UNK, clean

__all__ = [
    "EOS",
    "PAD",
    "SOS",
    "SPECIALS",
    "UNK",
    "Batch",
    "Tokenizer",
    "batches_by_length",
    "clean",
    "learn_bpe",
    "learn_characters",
    "learn_words",
    "pad_batch",
    "plan_batches",
]
