"""Save and load checkpoints: config, parameters, vocabularies, metadata and optimizer state.

A checkpoint is a small JSON file, its manifest, that names the other files: the vocabularies, the
parameters and, where training may go on, the optimizer's state. Each of these carries the beginning
of its SHA-256 in its name and is never changed. The manifest is written last and atomically, so it
names whole files, and what it replaces stays good until then: a crash costs nothing. Nothing of it
can run: JSON and safetensors hold text and numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from qkv.bridge import StateDict, from_bytes, to_array, to_bytes
from qkv.config import TransformerConfig, with_current_names
from qkv.files import atomic_write, read_regular_file
from qkv.text import Tokenizer

__all__ = ["Checkpoint", "checkpoint_files", "remove_unreferenced"]

FORMAT = "qkv checkpoint 2"
DEFAULT_NAMES = ("best", "average", "last")  # what a folder is loaded by: the first that is there
SUFFIXES = {
    "source": "json",
    "target": "json",
    "parameters": "safetensors",
    "optimizer": "safetensors",
}
PART_NAME = re.compile(
    r"(source|target)-[0-9a-f]{16}\.json|(parameters|optimizer)-[0-9a-f]{16}\.safetensors"
)
TEMPORARY_NAME = re.compile(r".*\.[0-9a-f]{8}\.part")  # left when `atomic_write` is killed


class OlderFormatError(ValueError):
    """A whole checkpoint, which this version cannot read any more."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A trained model with its vocabularies, metadata and, if need be, optimizer state.

    Args:
        config: the model's sizes and choices.
        parameters: all of them by name, as `bridge.state_dict` gives them.
        source, target: the tokenizers; with one vocabulary, the same twice.
        metadata: whatever else shall be kept, such as steps and scores; of JSON's types.
        optimizer: what training needs besides to go on, or None: the `state_dict` of an Adam of
            either room. It is kept as NumPy arrays, and the `load_state_dict` of that room's Adam
            takes them as they are.
    Raises:
        ValueError: a vocabulary is not of the size that the model has.
    """

    config: TransformerConfig
    parameters: StateDict
    source: Tokenizer
    target: Tokenizer
    metadata: Mapping[str, Any] = field(default_factory=dict)
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
        """Write the manifest `path` and, beside it, the files that it names, in place of any link.

        A checkpoint of the same name stays good until the new one is whole; what no manifest of the
        folder names any more is then deleted. One process at a time.

        Raises:
            ValueError: the name does not end in .json, or is one that a part of a checkpoint has; a
                part's name is taken by a pipe or a device.
            TypeError: metadata hold what JSON cannot.
            OSError: it cannot be written; what was there is as it was.
        """
        path = Path(path)
        if path.suffix != ".json" or PART_NAME.fullmatch(path.name):
            raise ValueError(
                f"Checkpoint.save: path must be a name such as last.json, got {path.name}"
            )
        parts = {"source": self.source.to_bytes(), "target": self.target.to_bytes()}
        parts["parameters"] = to_bytes(self.parameters)
        if self.optimizer is not None:
            parts["optimizer"] = to_bytes(self.optimizer)
        files = {role: _part_name(role, data) for role, data in parts.items()}
        content = {"format": FORMAT, "model": asdict(self.config), "files": files}
        manifest = json.dumps(content | {"metadata": dict(self.metadata)}, indent=1).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            for role, data in parts.items():
                file = path.with_name(files[role])
                same = file.exists() and read_regular_file(file) == data
                if not same:  # the best may be the last
                    atomic_write(file, data, follow_symlinks=False)
            atomic_write(path, manifest, follow_symlinks=False)
        except BaseException:
            with suppress(OSError):
                remove_unreferenced(path.parent)  # what was written before the disk was full
            raise
        remove_unreferenced(path.parent)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, optimizer: bool = False) -> Checkpoint:
        """Load a checkpoint; of a folder, "best.json", "average.json" or "last.json".

        Args:
            path: the manifest, or its folder.
            optimizer: load its state too.
        Raises:
            ValueError: a file is cut short, of another kind or format, or another than was saved.
            OSError: one is missing, or cannot be read.
            ImportError: a vocabulary holds BPE, and tokenizers is not installed.
        """
        path = _manifest_path(Path(path))
        try:
            content = _read_manifest(path)
            config = _config(with_current_names(content["model"]))
            files, metadata = content["files"], dict(content["metadata"])
            if optimizer and "optimizer" not in files:
                raise ValueError("it holds no state of the optimizer, with which training goes on")
            roles = [role for role in SUFFIXES if optimizer or role != "optimizer"]
            paths = {role: path.with_name(_checked_name(role, files[role])) for role in roles}
        except OlderFormatError:
            raise
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            hint = "it is cut short or of another kind; take another"
            why = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(f"Checkpoint.load: {path} is no checkpoint: {hint} ({why})") from error
        parts = {role: (_read_part(role, part), part) for role, part in paths.items()}
        return cls(
            config,
            from_bytes(*parts["parameters"]),
            Tokenizer.from_bytes(*parts["source"]),
            Tokenizer.from_bytes(*parts["target"]),
            metadata,
            from_bytes(*parts["optimizer"]) if optimizer else None,
        )


def checkpoint_files(folder: Path, *, skip_unreadable: bool = False) -> set[str]:
    """Names of the manifests in a folder, of any format, and of the parts that they name.

    Args:
        skip_unreadable: pass over a file that cannot be read, which is else an OSError.
    """
    names: set[str] = set()
    unreadable = OSError if skip_unreadable else FileNotFoundError
    for path in folder.glob("*.json"):
        if not PART_NAME.fullmatch(path.name) and not path.is_dir():
            with suppress(ValueError, RecursionError, unreadable):  # it is of another kind
                content = json.loads(read_regular_file(path))
                files = content.get("files") if isinstance(content, dict) else None
                if isinstance(files, dict):  # what a later version names, too
                    names.update(name for name in files.values() if isinstance(name, str))
                    names.add(path.name)
    return names


def remove_unreferenced(folder: Path) -> None:
    """Delete parts that no manifest of the folder names, and files that a killed process left.

    Raises:
        OSError: a manifest cannot be read, and nobody knows what it names; or a file stays.
    """
    referenced = checkpoint_files(folder)
    for path in folder.iterdir():
        unreferenced = PART_NAME.fullmatch(path.name) and path.name not in referenced
        if unreferenced or TEMPORARY_NAME.fullmatch(path.name):
            path.unlink(missing_ok=True)


def _manifest_path(path: Path) -> Path:
    """The manifest that a path means: itself, or the default one of a folder."""
    if not path.is_dir():
        return path
    for name in DEFAULT_NAMES:
        if (path / f"{name}.json").exists():
            return path / f"{name}.json"
    names = ", ".join(f"{name}.json" for name in DEFAULT_NAMES)
    raise ValueError(f"Checkpoint.load: {path} holds no checkpoint: one of {names} is expected")


def _read_manifest(path: Path) -> dict[str, Any]:
    """The content of a manifest, of this version's format."""
    content = json.loads(read_regular_file(path))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        written = content.get("format") if isinstance(content, dict) else None
        if written == "qkv checkpoint 1":
            raise OlderFormatError(
                f"Checkpoint.load: {path} was written by an older version of qkv, in the format "
                f'"{written}": train the model again, for "{FORMAT}"'
            )
        raise ValueError(f'its "format" is not "{FORMAT}"')
    return content


def _config(model: Mapping[str, Any]) -> TransformerConfig:
    """The configuration, refused where another version wrote fields that this one lacks."""
    unknown = sorted(set(model) - {field.name for field in fields(TransformerConfig)})
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise ValueError(f'its "model" has {names}, which this version of qkv does not know')
    return TransformerConfig(**model)


def _part_name(role: str, data: bytes) -> str:
    return f"{role}-{hashlib.sha256(data).hexdigest()[:16]}.{SUFFIXES[role]}"


def _checked_name(role: str, name: object) -> str:
    """The name of a part, refused where it could be of another file, such as one elsewhere."""
    if (
        not isinstance(name, str)
        or not PART_NAME.fullmatch(name)
        or not name.startswith(f"{role}-")
    ):
        raise ValueError(f'its "files" call the {role} {name!r}')
    return name


def _read_part(role: str, path: Path) -> bytes:
    """The content of a part, whose hash must be the one in its name."""
    data = read_regular_file(path)
    if path.name != _part_name(role, data):
        hint = "it was cut short or changed; take another checkpoint"
        raise ValueError(f"Checkpoint.load: {path} is not what was saved: {hint}")
    return data
