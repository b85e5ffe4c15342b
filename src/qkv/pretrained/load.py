"""Load the model that ships with the package, verified by its SHA-256, in either room."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path

from qkv.checkpoint import Checkpoint
from qkv.pretrained.digest import DIGEST
from qkv.pretrained.lenient_tokenizer import LenientTokenizer
from qkv.translator import Translator

__all__ = ["EXAMPLE", "MODEL", "load_verified", "pretrained"]

EXAMPLE = "The cat sat on the mat"

MODEL = Path(__file__).parent / "model" / "last.json"


def pretrained(room: str = "numpy") -> Translator:
    """Load the trained translator of the book's grammar, `corpus.sentences`, English to Korean.

        pretrained().translate("The cat sat on the mat")  # 고양이가 매트 위에 앉았다

    It knows the words of the grammar and no others: a word that is not among them is refused by
    name, and `pretrained().source.tokens` lists those that are. A full stop at the end is passed
    over, and so is the case of letters. A sentence that the grammar does not make, such as "The mat
    sat on the cat", is translated somehow, and often wrongly. The same translator is given at each
    call in the same room: who trains its model on changes it for all.

    Args:
        room: "numpy", which needs NumPy and safetensors alone, or "torch".
    Raises:
        ValueError: the room is unknown, or a file is another than was shipped.
        OSError: one is missing.
        ImportError: the room is "torch", and torch is not installed.
    """
    return _built(room)


def load_verified(path: Path, digest: str) -> Checkpoint:
    """Load a checkpoint whose manifest has this SHA-256.

    Args:
        path: its manifest, which names the other files by their hashes.
        digest: SHA-256 of that file.
    Raises:
        ValueError: it is another, or what it names is.
    """
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    if actual != digest:
        raise ValueError(
            f"pretrained: {path} is not the model that was shipped: its SHA-256 must be {digest}, "
            f"got {actual}: install the package again"
        )
    return Checkpoint.load(path)


@cache
def _shipped() -> Checkpoint:
    shipped = load_verified(MODEL, DIGEST)
    source = LenientTokenizer(shipped.source.tokens, "English")
    target = LenientTokenizer(shipped.target.tokens, "Korean")
    return replace(shipped, source=source, target=target)


@cache
def _built(room: str) -> Translator:
    return Translator.from_checkpoint(_shipped(), room)
