"""A vocabulary of words that forgives a reader's spelling, and names the words that it lacks."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from qkv.text import SPECIALS, Tokenizer, clean

__all__ = ["UnknownWordsError", "Words"]

STOPS = ".!?"


class UnknownWordsError(ValueError):
    """A text holds words that a vocabulary lacks.

    Args:
        message: for who called a function.
        hint: the same without names of Python, for who typed the text.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Words(Tokenizer):
    """Whole words, as training spelt them. Where it knew only "The" and "mat", "the mat." is both.

    Args:
        tokens: as for `Tokenizer`.
        language: of the words, such as "English"; None says nothing of it.
    """

    def __init__(self, tokens: Sequence[str], language: str | None = None) -> None:
        super().__init__(tokens)
        self.language = language

    def encode(self, text: str, *, sos: bool = False, eos: bool = False) -> NDArray[np.int64]:
        """The ids (T,) of a sentence: the stop at its end passed over, the case of letters mended.

        Args:
            text, sos, eos: as for `Tokenizer.encode`.
        Raises:
            UnknownWordsError: text holds a word that is not in the vocabulary.
            ValueError: text is no text.
        """
        known = set(self.tokens[len(SPECIALS) :])
        words = clean(text, "encode").rstrip(f"{STOPS} ").split()
        spelt = [_spelling(word, n == 0, known) for n, word in enumerate(words)]
        strange = [word for word, found in zip(words, spelt, strict=True) if found is None]
        if strange:
            named = ", ".join(_with_neighbour(word, known) for word in strange)
            mend, hint = "", f"the model does not know {named}"
            if self.language and not _letters(strange) & _letters(known):
                hint = f"this model reads {self.language}, and not {named}"
                mend = f"it reads {self.language}; "
            raise UnknownWordsError(
                f"encode: each word must be one of the {len(known)} that the model knows, got "
                f"{named} in {text!r}: {mend}`source.tokens` and `target.tokens` list them",
                hint,
            )
        return super().encode(" ".join(filter(None, spelt)), sos=sos, eos=eos)


def _spelling(word: str, first: bool, known: set[str]) -> str | None:
    """The word as training spelt it there, or None."""
    small = word.lower()
    large = small[:1].upper() + small[1:]
    order = (large, small) if first else (small, large)
    return next((spelling for spelling in order if spelling in known), None)


def _letters(words: Iterable[str]) -> set[str]:
    return {sign for word in words for sign in word.lower() if sign.isalpha()}


def _with_neighbour(word: str, known: set[str]) -> str:
    """An unknown word, and the known one that is spelt most like it."""
    near = get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return f"{word!r} (near {near[0]!r})" if near else repr(word)
