"""Tokenizer: a vocabulary of words, BPE pieces or characters, and text to ids and back."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.files import atomic_write, read_regular_file
from qkv.shapes import check_bool, dtype_name
from qkv.text.bpe import Pairs, bpe_encoder
from qkv.text.normalization import normalize, normalize_characters
from qkv.text.vocabulary import (
    EOS,
    SOS,
    SPECIAL_TOKENS,
    UNK,
    WORD_START,
    check_vocabulary,
)

__all__ = ["Tokenizer"]

FORMAT = "qkv text 1"
# Of a BPE vocabulary in which a word of the training text is no row of letters and pairs of them.
# Of the book's grammar no English word is one from 1,000 merges on; with 500, one in five is.
MANY_MERGES = 1000


class Tokenizer:
    """Text to token ids and back; `train_bpe` and its neighbours make one.

    One of your own, around Hugging Face's say, is a subclass that overrides `encode`, `decode` and
    `normalize`; `Translator` and `TranslationData.from_pairs` take it. A checkpoint holds the
    vocabulary alone.

    Args:
        tokens: the vocabulary by id; the first four are `SPECIAL_TOKENS`.
        merges: BPE's pairs of pieces, first to last; None means that a token is a whole word.
        characters: each token is one character, the space among them.
    Raises:
        ValueError: the tokens do not begin with the special ones, or the merges do not fit them.
        ImportError: there are merges, and tokenizers is not installed.
    """

    def __init__(
        self, tokens: Sequence[str], merges: Pairs | None = None, *, characters: bool = False
    ) -> None:
        self.tokens = tuple(tokens)
        self.merges = None if merges is None else tuple(merges)
        self.characters = characters
        check_bool("Tokenizer", characters=characters)
        check_vocabulary(self.tokens, self.merges, characters)
        # A word of the text that is spelt like a special token is not that token.
        self._ids = {token: n for n, token in enumerate(self.tokens) if n >= len(SPECIAL_TOKENS)}
        self._bpe = None if self.merges is None else bpe_encoder(self.tokens, self.merges)

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, text: str, *, sos: bool = False, eos: bool = False) -> NDArray[np.int64]:
        """The ids (T,) of a text, normalized first; what the vocabulary lacks becomes <unk>.

        Args:
            text: plain text; nothing in it stands for a special token.
            sos, eos: put <sos> before it, <eos> behind it.
        Raises:
            ValueError: text is no text.
        """
        text = self.normalize(text, "encode")
        if self._bpe is not None:
            ids = self._bpe.encode(text).ids
        else:
            ids = [self._ids.get(t, UNK) for t in (text if self.characters else text.split())]
        return np.array([SOS] * sos + ids + [EOS] * eos, np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids (T,), special tokens left out: the normalized text where all was known.

        Raises:
            ValueError: an id is not of this vocabulary.
        """
        array = np.asarray(ids if hasattr(ids, "__len__") else list(ids))
        if array.size and (array.ndim != 1 or array.dtype.kind not in "iu"):
            got = f"{dtype_name(array)} {array.shape}"
            raise ValueError(f"decode: ids must be integers (T,), got {got}: decode one by one")
        for n in array:
            if not 0 <= n < len(self):
                hint = "it is of another vocabulary"
                raise ValueError(f"decode: ids must be from 0 to {len(self) - 1}, got {n}: {hint}")
        pieces = [self.tokens[n] for n in array if n >= len(SPECIAL_TOKENS)]
        if self.characters:
            return "".join(pieces)
        if self.merges is None:
            return " ".join(pieces)
        return " ".join("".join(pieces).replace(WORD_START, " ").split())

    def normalize(self, text: str, call: str = "normalize") -> str:
        """Normalize a text as `encode` does; only a vocabulary of characters keeps its spaces.

        Raises:
            ValueError: text is no text.
        """
        return normalize_characters(text, call) if self.characters else normalize(text, call)

    def unknown_words(self, text: str) -> list[str]:
        """The words of a text that the vocabulary lacks: with <unk>, or in BPE almost spelt out.

        These have more than two pieces, of less than two letters in the mean. They are named only
        where there are many merges: with a few, known words are spelt so too.
        """
        return [word for word in self.normalize(text).split() if self._is_unknown(word)]

    def _is_unknown(self, word: str) -> bool:
        ids = self.encode(word)
        if UNK in ids or self.merges is None or len(self.merges) < MANY_MERGES:
            return UNK in ids
        pieces = [piece for n in ids if (piece := self.tokens[n].strip(WORD_START)).isalnum()]
        return len(pieces) > 2 and 2 * len(pieces) > sum(map(len, pieces))

    def labels(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The tokens of ids as labels of a figure: a space is drawn as ▁."""
        tokens = (self.tokens[n] for n in ids)
        return tuple(WORD_START if token.isspace() else token for token in tokens)

    @property
    def has_subwords(self) -> bool:
        """Whether a word may be several tokens."""
        return self.characters or self.merges is not None

    @property
    def digest(self) -> str:
        """SHA-256 of the vocabulary: where it agrees, so do the ids of every text."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save as a JSON file, written atomically."""
        atomic_write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Load a file that `save` wrote.

        Raises:
            ValueError: the file is cut short, of another kind, or no file but a pipe or a device.
            OSError: it cannot be read.
            ImportError: it holds BPE, and tokenizers is not installed.
        """
        return cls.from_bytes(read_regular_file(path), path)

    @classmethod
    def from_bytes(cls, data: bytes, path: str | os.PathLike[str]) -> Tokenizer:
        """Deserialize the content of a file that was read from `path`."""
        try:
            content = json.loads(data.decode())
            tokens = _texts(content, "tokens")
            return cls(tokens, _merges(content), characters=content.get("characters", False))
        except (ValueError, RecursionError) as error:
            hint = "it is cut short or of another kind; write it again with save"
            raise ValueError(f"load: {path} is no vocabulary: {hint} ({error})") from error

    def to_bytes(self) -> bytes:
        """Serialize as `save` writes it."""
        merges = None if self.merges is None else [" ".join(pair) for pair in self.merges]
        content: dict[str, Any] = {"format": FORMAT, "tokens": self.tokens, "merges": merges}
        if self.characters:
            content["characters"] = True
        return json.dumps(content, ensure_ascii=False, indent=0).encode()


def _texts(content: Any, name: str) -> list[str]:
    """A list of texts in the content of a file."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'its "format" is not "{FORMAT}"')
    texts = content.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f'its "{name}" are no list of texts')
    return texts


def _merges(content: dict[str, Any]) -> Pairs | None:
    """The merges, each written as two pieces with a space between them."""
    if "merges" in content and content["merges"] is None:
        return None
    lines = _texts(content, "merges")
    for line in lines:
        if line.count(" ") != 1:
            raise ValueError(f'its "merges" hold {line!r}, which are not two pieces')
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]
