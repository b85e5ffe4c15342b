"""The special tokens that every vocabulary begins with, and the check of a vocabulary."""

import re
from collections.abc import Sequence

from qkv.text.normalization import LAYOUT

__all__ = ["EOS", "PAD", "SOS", "SPECIAL_TOKENS", "UNK", "WORD_START", "check_vocabulary"]

SPECIAL_TOKENS = ("<pad>", "<sos>", "<eos>", "<unk>")
PAD, SOS, EOS, UNK = range(4)
WORD_START = "▁"  # begins a piece that begins a word
NO_TOKEN = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff]")  # these, a space, half a character


def check_vocabulary(
    tokens: Sequence[str], merges: Sequence[tuple[str, str]] | None, characters: bool
) -> None:
    """Refuse tokens that do not begin with the special ones or stand twice, and unknown merges."""
    if characters and merges is not None:
        raise ValueError("Tokenizer: merges must be None where the tokens are characters")
    if tuple(tokens[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
        expected, got = " ".join(SPECIAL_TOKENS), list(tokens[: len(SPECIAL_TOKENS)])
        raise ValueError(f"Tokenizer: tokens must begin with {expected}, got {got}")
    known: set[str] = set()
    for n, token in enumerate(tokens):
        if characters and n >= len(SPECIAL_TOKENS):
            good = isinstance(token, str) and len(token) == 1
            good = good and (token in f" {LAYOUT}" or not NO_TOKEN.search(token))
            hint = "each must be one character, no control character, that stands once"
        else:
            good = isinstance(token, str) and token != "" and not NO_TOKEN.search(token)
            hint = "each must be a text without spaces and control characters that stands once"
        if not good or token in known:
            raise ValueError(f"Tokenizer: tokens hold {token!r}: {hint}")
        known.add(token)
    known.difference_update(SPECIAL_TOKENS)
    for pair in merges or ():
        if len(pair) != 2 or not {*pair, "".join(pair)} <= known:
            hint = "the two and what they make must be tokens"
            raise ValueError(f"Tokenizer: merges hold {pair!r}: {hint}")
