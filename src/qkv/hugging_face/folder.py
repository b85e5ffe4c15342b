"""Find the two files of a Hugging Face folder."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["SAVE", "find_files"]

SAVE = "save it with model.save_pretrained(folder)"


def find_files(call: str, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
    """The paths of config.json and model.safetensors.

    Raises:
        ValueError: this is no folder, or one of the two is not in it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        hint = "name the folder that holds both; nothing is downloaded"
        raise ValueError(
            f"{call}: folder must be a folder with config.json and model.safetensors, "
            f"got {str(folder)!r}: {hint}"
        )
    paths = folder / "config.json", folder / "model.safetensors"
    for path in paths:
        if not path.is_file():
            names = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
            raise ValueError(f"{call}: {path} must be there, got {names}: {_mend(folder, path)}")
    return paths


def _mend(folder: Path, missing: Path) -> str:
    """What a reader can do about a file that is missing."""
    if missing.name == "config.json":
        return "download it from where the other files came from"
    if (folder / "model.safetensors.index.json").is_file():
        hint = "save it with model.save_pretrained(folder, max_shard_size='50GB')"
        return f"the model is cut into several files: {hint}"
    if (folder / "pytorch_model.bin").is_file():
        return f"a .bin file can hold code and is not read: load it in transformers and {SAVE}"
    return f"download it, or {SAVE}"
