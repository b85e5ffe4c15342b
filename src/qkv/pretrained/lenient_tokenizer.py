"""A word-level tokenizer that forgives case and a full stop, and names unknown words."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from qkv.text import SPECIAL_TOKENS, Tokenizer, normalize

__all__ = ["LenientTokenizer", "UnknownWordsError"]

SENTENCE_ENDS = ".!?"
MOST_NAMED = 4  # unknown words; the others are counted


class UnknownWordsError(ValueError):
    """A text holds words that a vocabulary lacks.

    Args:
        message: for who called a function.
        hint: the same without names of Python, for who typed the text.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class LenientTokenizer(Tokenizer):
    """A word-level tokenizer that finds words whatever their case: with "The" and "mat", "the MAT."

    A sentence's end is passed over; an unknown word is an error that names it, and no <unk>.

    Args:
        tokens: as for `Tokenizer`.
        language: of the words, such as "English"; None says nothing of it.
    """

    def __init__(self, tokens: Sequence[str], language: str | None = None) -> None:
        super().__init__(tokens)
        self.language = language

    def encode(self, text: str, *, sos: bool = False, eos: bool = False) -> NDArray[np.int64]:
        """The ids (T,) of a sentence, its case normalized and the stop at its end passed over.

        Args:
            text, sos, eos: as for `Tokenizer.encode`.
        Raises:
            UnknownWordsError: text holds a word that is not in the vocabulary.
            ValueError: text is no text.
        """
        known = set(self.tokens[len(SPECIAL_TOKENS) :])
        words = normalize(text, "encode").rstrip(f"{SENTENCE_ENDS} ").split()
        tokens = [_match_case(word, n == 0, known) for n, word in enumerate(words)]
        unknown = [word for word, token in zip(words, tokens, strict=True) if token is None]
        if unknown:
            named = _name_words(unknown, known)
            language, hint = "", f"the model does not know {named}"
            if self.language and not _letters(unknown) & _letters(known):
                hint = f"this model reads {self.language}, and not {named}"
                language = f"it reads {self.language}; "
            raise UnknownWordsError(
                f"encode: each word must be one of the {len(known)} that the model knows, got "
                f"{named} in {text!r}: {language}`source.tokens` and `target.tokens` list them",
                hint,
            )
        return super().encode(" ".join(filter(None, tokens)), sos=sos, eos=eos)


def _match_case(word: str, is_first: bool, known: set[str]) -> str | None:
    """The token that differs from a word in case alone; capitalized, if need be, at the start."""
    lower = word.lower()
    capitalized = lower[:1].upper() + lower[1:]
    order = (capitalized, lower) if is_first else (lower, capitalized)
    return next((token for token in order if token in known), None)


def _letters(words: Iterable[str]) -> set[str]:
    return {letter for word in words for letter in word.lower() if letter.isalpha()}


def _name_words(unknown: Iterable[str], known: set[str]) -> str:
    """The first unknown words, each once, and how many more there are."""
    words = list(dict.fromkeys(unknown))
    named = ", ".join(_with_closest(word, known) for word in words[:MOST_NAMED])
    more = len(words) - MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _with_closest(word: str, known: set[str]) -> str:
    """An unknown word, and the known one that is spelt most like it."""
    near = get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return f"{word!r} (near {near[0]!r})" if near else repr(word)
