"""A vocabulary, and how text is cut into tokens: words, pieces by BPE's merges, or characters."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.files import read_whole, write_whole
from qkv.shapes import check_flags, kind
from qkv.text.bpe import Pairs, cutter
from qkv.text.vocabulary import (
    EOS,
    SOS,
    SPECIALS,
    START,
    UNK,
    check_vocabulary,
    clean,
    clean_characters,
)

__all__ = ["Tokenizer"]

FORMAT = "qkv text 1"


class Tokenizer:
    """Text to ids and back. `learn_bpe`, `learn_words` and `learn_characters` make one.

    Args:
        tokens: the vocabulary by id; the first four are `SPECIALS`.
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
        check_flags("Tokenizer", characters=characters)
        check_vocabulary(self.tokens, self.merges, characters)
        # A word of the text that is spelt like a special token is not that token.
        self._ids = {token: n for n, token in enumerate(self.tokens) if n >= len(SPECIALS)}
        self._bpe = None if self.merges is None else cutter(self.tokens, self.merges)

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, text: str, *, sos: bool = False, eos: bool = False) -> NDArray[np.int64]:
        """The ids (T,) of a text, cleaned first; what the vocabulary lacks becomes <unk>.

        Args:
            text: plain text; nothing in it stands for a special token.
            sos, eos: put <sos> before it, <eos> behind it.
        Raises:
            ValueError: text is no text.
        """
        text = self.clean(text, "encode")
        if self._bpe is not None:
            ids = self._bpe.encode(text).ids
        else:
            ids = [self._ids.get(t, UNK) for t in (text if self.characters else text.split())]
        return np.array([SOS] * sos + ids + [EOS] * eos, np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids (T,), special tokens left out: the clean text where all was known.

        Raises:
            ValueError: an id is not of this vocabulary.
        """
        found = np.asarray(ids if hasattr(ids, "__len__") else list(ids))
        if found.size and (found.ndim != 1 or found.dtype.kind not in "iu"):
            came = f"{kind(found)} {found.shape}"
            raise ValueError(f"decode: ids must be integers (T,), got {came}: decode one by one")
        for n in found:
            if not 0 <= n < len(self):
                mend = "it is of another vocabulary"
                raise ValueError(f"decode: ids must be from 0 to {len(self) - 1}, got {n}: {mend}")
        pieces = [self.tokens[n] for n in found if n >= len(SPECIALS)]
        if self.characters:
            return "".join(pieces)
        if self.merges is None:
            return " ".join(pieces)
        return " ".join("".join(pieces).replace(START, " ").split())

    def clean(self, text: str, call: str = "clean") -> str:
        """The text as this vocabulary reads it; only one of characters keeps its spaces.

        Raises:
            ValueError: text is no text.
        """
        return clean_characters(text, call) if self.characters else clean(text, call)

    def labels(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Its tokens as a picture shows them: a space as ▁, with which a word begins."""
        tokens = (self.tokens[n] for n in ids)
        return tuple(START if token.isspace() else token for token in tokens)

    @property
    def has_pieces(self) -> bool:
        """Whether a word may be several tokens."""
        return self.characters or self.merges is not None

    @property
    def digest(self) -> str:
        """SHA-256 of the vocabulary: where it agrees, so do the ids of every text."""
        return hashlib.sha256(self.pack()).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, at once: whoever looks finds the old or the new."""
        write_whole(path, self.pack())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Read what `save` wrote.

        Raises:
            ValueError: the file is cut short, of another kind, or no file but a pipe or a device.
            OSError: it cannot be read.
            ImportError: it holds BPE, and tokenizers is not installed.
        """
        return cls.unpack(read_whole(path), path)

    @classmethod
    def unpack(cls, data: bytes, path: str | os.PathLike[str]) -> Tokenizer:
        """The vocabulary in the content of a file; `path` is for the message of an error."""
        try:
            found = json.loads(data.decode())
            tokens = _texts(found, "tokens")
            return cls(tokens, _pairs(found), characters=found.get("characters", False))
        except (ValueError, RecursionError) as error:
            mend = "it is cut short or of another kind; write it again with save"
            raise ValueError(f"load: {path} is no vocabulary: {mend} ({error})") from error

    def pack(self) -> bytes:
        """What `save` writes."""
        merges = None if self.merges is None else [" ".join(pair) for pair in self.merges]
        content: dict[str, Any] = {"format": FORMAT, "tokens": self.tokens, "merges": merges}
        if self.characters:
            content["characters"] = True
        return json.dumps(content, ensure_ascii=False, indent=0).encode()


def _texts(found: Any, name: str) -> list[str]:
    """A list of texts out of what a file holds."""
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f'its "format" is not "{FORMAT}"')
    texts = found.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f'its "{name}" are no list of texts')
    return texts


def _pairs(found: dict[str, Any]) -> Pairs | None:
    """The merges, each written as two pieces with a space between them."""
    if "merges" in found and found["merges"] is None:
        return None
    lines = _texts(found, "merges")
    for line in lines:
        if line.count(" ") != 1:
            raise ValueError(f'its "merges" hold {line!r}, which are not two pieces')
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]
