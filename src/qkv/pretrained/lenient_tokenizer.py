"""A word-level tokenizer that forgives case, stops, articles and plurals, and names other words."""

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from qkv.pretrained.close_matches import closest_match
from qkv.text import SPECIAL_TOKENS, Tokenizer, normalize
from qkv.text.normalization import unicode_normalize

__all__ = ["LenientTokenizer", "UnknownWordsError"]

SENTENCE_ENDS = ".!?。"
# Korean has no articles and needs no plural, so that a translation stays the same.
ARTICLES = ("a", "an")  # read as "the"
PLURALS = (("s", ""), ("es", ""), ("ies", "y"))
SHORTEST_NOUN = 3  # characters: "its" is no plural
ADVICE = {"and": "write two sentences"}
MOST_NAMED = 4  # unknown words; the others are counted
LONGEST_WORD = 30  # characters that a message shows, and up to which a near word is looked for
SECOND_WORDS = {"n't": "not", "'m": "am", "'re": "are", "'ll": "will"}  # of short forms: "don't"
FIRST_WORDS = {"wo": "will"}  # "won't"


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

    A sentence's end is passed over, "a" and "an" are read as "the", a plural as its noun; any other
    unknown word is an error that names it, and no <unk>.

    Args:
        tokens: as for `Tokenizer`.
        language: of the words, such as "English"; None says nothing of it.
    """

    def __init__(self, tokens: Sequence[str], language: str | None = None) -> None:
        super().__init__(tokens)
        self.language = language
        self._known = set(self.tokens[len(SPECIAL_TOKENS) :])

    def encode(self, text: str, *, sos: bool = False, eos: bool = False) -> NDArray[np.int64]:
        """The ids (T,) of a sentence, its case and letters normalized and its stop passed over.

        Args:
            text, sos, eos: as for `Tokenizer.encode`.
        Raises:
            UnknownWordsError: text holds a word that is not in the vocabulary.
            ValueError: text is no text.
        """
        words = self._match_words(text)
        unknown = [word for word, token in words if token is None]
        if unknown:
            known = self._known
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
        return super().encode(" ".join(token for _, token in words if token), sos=sos, eos=eos)

    def unknown_words(self, text: str) -> list[str]:
        """The words of a text that are not in the vocabulary, whatever their case."""
        return [word for word, token in self._match_words(text) if token is None]

    def read_instead(self, text: str) -> list[tuple[str, str]]:
        """The words of a text in place of which others are read, each once with what is read."""
        words = self._match_words(text)
        pairs = ((w, token) for w, token in words if token and token.lower() != w.lower())
        return list(dict.fromkeys(pairs))

    def name_with_closest(self, word: str) -> str:
        """An unknown word for a message, and behind it what is known and spelt nearly so."""
        return _with_closest(word, self._known)

    def _match_words(self, text: str) -> list[tuple[str, str | None]]:
        """Each word of a sentence, and the token that it is; None where it is none."""
        words = _plain_letters(normalize(text, "encode")).rstrip(f"{SENTENCE_ENDS} ").split()
        return [(word, _read_as(word, n == 0, self._known)) for n, word in enumerate(words)]


def _plain_letters(text: str) -> str:
    """The same words in plain letters (ｃａｔ is cat), without the characters that nobody sees."""
    plain = unicode_normalize("NFKC", text)
    return "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")


def _match_case(word: str, is_first: bool, known: set[str]) -> str | None:
    """The token that differs from a word in case alone; capitalized, if need be, at the start."""
    lower = word.lower()
    capitalized = lower[:1].upper() + lower[1:]
    order = (capitalized, lower) if is_first else (lower, capitalized)
    return next((token for token in order if token in known), None)


def _read_as(word: str, is_first: bool, known: set[str]) -> str | None:
    """The token that a word is: its own, "the" for "a" and "an", or the noun of a plural."""
    lower = word.lower()
    stems = [lower.removesuffix(end) + noun for end, noun in PLURALS if lower.endswith(end)]
    others = ["the"] if lower in ARTICLES else [s for s in stems if len(s) >= SHORTEST_NOUN]
    tokens = (_match_case(each, is_first, known) for each in (word, *others))
    return next(filter(None, tokens), None)


def _letters(words: Iterable[str]) -> set[str]:
    return {letter for word in words for letter in word.lower() if letter.isalpha()}


def _name_words(unknown: Iterable[str], known: set[str]) -> str:
    """The first unknown words, each once, and how many more there are."""
    words = list(dict.fromkeys(unknown))
    named = ", ".join(_with_closest(word, known) for word in words[:MOST_NAMED])
    more = len(words) - MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _with_closest(word: str, known: set[str]) -> str:
    """An unknown word, and what is known: "do not" for "don't", else what is spelt most like it."""
    if len(word) > LONGEST_WORD:
        return repr(f"{word[:LONGEST_WORD]}…")
    near = " ".join(_spell_out(word, known)) or closest_match(word.lower(), known)
    about = f"near {near!r}" if near else ADVICE.get(word.lower())
    return f"{word!r} ({about})" if about else repr(word)


def _spell_out(word: str, known: set[str]) -> list[str]:
    """The two words of a short form, if both are known."""
    plain = word.lower().replace("’", "'")
    for end, second in SECOND_WORDS.items():
        if plain.endswith(end):
            first = plain.removesuffix(end)
            words = (FIRST_WORDS.get(first, first), second)
            tokens = list(filter(None, (_match_case(each, False, known) for each in words)))
            return tokens if len(tokens) == len(words) else []
    return []
