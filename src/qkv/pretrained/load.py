"""Load the model that ships with the package, or one of its early checkpoints, in either room.

Each is verified by its SHA-256. The early checkpoints are of the same training run. Their
parameters are stored as float16, which halves their files and rounds each number to about three
digits; loading converts them to float32.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path

from qkv.checkpoint import Checkpoint
from qkv.pretrained.checkpoint_digests import DIGESTS
from qkv.pretrained.lenient_tokenizer import LenientTokenizer
from qkv.translator import Translator

__all__ = ["DIGEST", "EXAMPLE", "MODEL", "STEPS", "load_verified", "manifest", "pretrained"]

EXAMPLE = "The cat sat on the mat"

MODEL = Path(__file__).parent / "model" / "last.json"
STEPS = tuple(sorted(DIGESTS))
DIGEST = DIGESTS[STEPS[-1]]


def pretrained(room: str = "numpy", step: int | None = None) -> Translator:
    """Load the trained translator of the book's grammar, `corpus.sentences`, English to Korean.

        pretrained().translate("The cat sat on the mat")  # 고양이가 매트 위에 앉았다

    It knows the words of the grammar and no others: a word that is not among them is refused by
    name, and `pretrained().source.tokens` lists those that are. A full stop at the end is passed
    over, and so is the case of letters. A sentence that the grammar does not make, such as "The mat
    sat on the cat", is translated somehow, and often wrongly. The same translator is given at each
    call with the same arguments: who trains its model on changes it for all.

    Args:
        room: "numpy", which needs NumPy and safetensors alone, or "torch".
        step: an early checkpoint of the training run, after so many steps: one of `STEPS`. None
            is the last of them, the model itself.
    Raises:
        ValueError: the room or the step is unknown, or a file is another than was shipped.
        OSError: one is missing.
        ImportError: the room is "torch", and torch is not installed.
    """
    step = STEPS[-1] if step is None else step
    if isinstance(step, bool) or step not in DIGESTS:
        raise ValueError(
            f"pretrained: step must be one of {', '.join(map(str, STEPS))}, or None for the last, "
            f"got {step!r}"
        )
    return _built(room, step)


def manifest(step: int) -> Path:
    """The manifest of the checkpoint after so many steps."""
    return MODEL if step == STEPS[-1] else MODEL.with_name(f"step-{step}.json")


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
def _shipped(step: int) -> Checkpoint:
    shipped = load_verified(manifest(step), DIGESTS[step])
    source = LenientTokenizer(shipped.source.tokens, "English")
    target = LenientTokenizer(shipped.target.tokens, "Korean")
    parameters = {
        name: value.astype("float32", copy=False) for name, value in shipped.parameters.items()
    }
    return replace(shipped, parameters=parameters, source=source, target=target)


@cache
def _built(room: str, step: int) -> Translator:
    return Translator.from_checkpoint(_shipped(step), room)
