"""A model in a folder: parameters, sizes and vocabularies, so written that a crash costs nothing.

A checkpoint is a small JSON file that names the others: the vocabularies, the parameters and, where
training may go on, the optimizer's state. Each of these carries the beginning of its SHA-256 in its
name and is never changed. The JSON file is written last and at once, so it names whole files, and
what it replaces stays good until then. Nothing of it can run: JSON and safetensors hold text and
numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from qkv.bridge import State, pack_state, to_array, unpack_state
from qkv.config import TransformerConfig
from qkv.files import read_whole, write_whole
from qkv.text import Tokenizer

__all__ = ["Checkpoint", "sweep"]

FORMAT = "qkv checkpoint 1"
PREFERRED = ("best", "average", "last")  # what a folder stands for: the first that is there
ENDING = {
    "source": "json",
    "target": "json",
    "parameters": "safetensors",
    "optimizer": "safetensors",
}
NAMED = re.compile(
    r"(source|target)-[0-9a-f]{16}\.json|(parameters|optimizer)-[0-9a-f]{16}\.safetensors"
)
PART = re.compile(r".*\.[0-9a-f]{8}\.part")  # what `write_whole` leaves when it is killed


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A trained model, and what was known about it when it was saved.

    Args:
        config: the model's sizes and choices.
        parameters: all of them by name, as `bridge.state_of` gives them.
        source, target: how text becomes ids; with one vocabulary, the same twice.
        facts: whatever else shall be kept, such as steps and scores; JSON must be able to hold it.
        optimizer: what training needs besides to go on, or None: the `state_dict` of an Adam of
            either room. It is kept as NumPy arrays, and the `load_state_dict` of that room's Adam
            takes them as they are.
    Raises:
        ValueError: a vocabulary is not of the size that the model has.
    """

    config: TransformerConfig
    parameters: State
    source: Tokenizer
    target: Tokenizer
    facts: Mapping[str, Any] = field(default_factory=dict)
    optimizer: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name, tokenizer, size in (
            ("source", self.source, self.config.vocab_size),
            ("target", self.target, self.config.target_vocabulary),
        ):
            if len(tokenizer) != size:
                raise ValueError(
                    f"Checkpoint: the vocabulary of the {name} must have {size} tokens, as the "
                    f"model has, got {len(tokenizer)}: it is of another model"
                )
        if self.optimizer is not None:
            arrays = {
                name: to_array(value) if hasattr(value, "detach") else value
                for name, value in self.optimizer.items()
            }
            object.__setattr__(self, "optimizer", arrays)  # frozen for everybody else

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON file `path` and, beside it, what it names.

        One of the same name that is there already is good until the new one is, and what no
        checkpoint of the folder names any more is then taken away. One process at a time.

        Raises:
            ValueError: the name does not end in .json, or is one that a part of a checkpoint has; a
                part's name is taken by a pipe or a device.
            TypeError: facts hold what JSON cannot.
            OSError: it cannot be written; what was there is as it was.
        """
        path = Path(path)
        if path.suffix != ".json" or NAMED.fullmatch(path.name):
            raise ValueError(
                f"Checkpoint.save: path must be a name such as last.json, got {path.name}"
            )
        parts = {"source": self.source.pack(), "target": self.target.pack()}
        parts["parameters"] = pack_state(self.parameters)
        if self.optimizer is not None:
            parts["optimizer"] = pack_state(self.optimizer)
        files = {role: _name(role, data) for role, data in parts.items()}
        content = {"format": FORMAT, "model": asdict(self.config), "files": files}
        listing = json.dumps(content | {"facts": dict(self.facts)}, indent=1).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            for role, data in parts.items():
                file = path.with_name(files[role])
                if not (file.exists() and read_whole(file) == data):  # the best may be the last
                    write_whole(file, data)
            write_whole(path, listing)
        except BaseException:
            with suppress(OSError):
                sweep(path.parent)  # what was written before the disk was full
            raise
        sweep(path.parent)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, optimizer: bool = False) -> Checkpoint:
        """Read a checkpoint, or the one that a folder stands for: "best", "average" or "last".

        Args:
            path: the JSON file, or its folder.
            optimizer: read its state too.
        Raises:
            ValueError: a file is cut short, of another kind, or another than was saved.
            OSError: one is missing, or cannot be read.
            ImportError: a vocabulary holds BPE, and tokenizers is not installed.
        """
        path = _found(Path(path))
        try:
            content = _content(path)
            config = TransformerConfig(**content["model"])
            files, facts = content["files"], dict(content["facts"])
            if optimizer and "optimizer" not in files:
                raise ValueError("it holds no state of the optimizer, with which training goes on")
            roles = [role for role in ENDING if optimizer or role != "optimizer"]
            places = {role: path.with_name(_named(role, files[role])) for role in roles}
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            mend = "it is cut short or of another kind; take another"
            why = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(f"Checkpoint.load: {path} is no checkpoint: {mend} ({why})") from error
        parts = {role: (_whole(role, place), place) for role, place in places.items()}
        return cls(
            config,
            unpack_state(*parts["parameters"]),
            Tokenizer.unpack(*parts["source"]),
            Tokenizer.unpack(*parts["target"]),
            facts,
            unpack_state(*parts["optimizer"]) if optimizer else None,
        )


def _name(role: str, data: bytes) -> str:
    return f"{role}-{hashlib.sha256(data).hexdigest()[:16]}.{ENDING[role]}"


def _named(role: str, name: object) -> str:
    """The name of a part, refused where it could be of another file, such as one elsewhere."""
    if not isinstance(name, str) or not NAMED.fullmatch(name) or not name.startswith(f"{role}-"):
        raise ValueError(f'its "files" call the {role} {name!r}')
    return name


def _found(path: Path) -> Path:
    """The JSON file that a path means."""
    if not path.is_dir():
        return path
    for name in PREFERRED:
        if (path / f"{name}.json").exists():
            return path / f"{name}.json"
    names = ", ".join(f"{name}.json" for name in PREFERRED)
    raise ValueError(f"Checkpoint.load: {path} holds no checkpoint: one of {names} is expected")


def _content(path: Path) -> dict[str, Any]:
    """What the JSON file says."""
    content = json.loads(read_whole(path))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'its "format" is not "{FORMAT}"')
    return content


def _whole(role: str, path: Path) -> bytes:
    """The content of a file that is what its name says."""
    data = read_whole(path)
    if path.name != _name(role, data):
        mend = "it was cut short or changed; take another checkpoint"
        raise ValueError(f"Checkpoint.load: {path} is not what was saved: {mend}")
    return data


def sweep(folder: Path) -> None:
    """Take away what no checkpoint names, and what a killed process left half-written."""
    named: set[str] = set()
    for path in folder.glob("*.json"):
        if not NAMED.fullmatch(path.name):
            with suppress(ValueError, RecursionError):  # it is of another kind
                content = json.loads(read_whole(path))
                files = content.get("files") if isinstance(content, dict) else None
                if isinstance(files, dict):  # of any format: what a later one names stays too
                    named.update(name for name in files.values() if isinstance(name, str))
    for path in folder.iterdir():
        stray = NAMED.fullmatch(path.name) and path.name not in named
        if stray or PART.fullmatch(path.name):
            path.unlink(missing_ok=True)
