"""Read config.json of a Hugging Face folder, and refuse what our models cannot be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qkv.config import TransformerConfig
from qkv.files import read_regular_file

__all__ = ["ACTIVATIONS", "Settings"]

# Their word for an activation, and ours.
ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"}


class Settings:
    """What config.json says, asked for by name.

    Args:
        call: whose refusals these are.
        path: of config.json.
        model_type: the architecture that it must be of.
    Raises:
        ValueError: the file is no JSON object, or of another architecture.
    """

    def __init__(self, call: str, path: Path, model_type: str) -> None:
        self.call, self.path = call, path
        try:
            self.values = json.loads(read_regular_file(path).decode("utf-8"))
        except ValueError as error:
            raise ValueError(
                f"{call}: {path} must be JSON: it is cut short or of another kind ({error})"
            ) from error
        if not isinstance(self.values, dict):
            got = type(self.values).__name__
            raise ValueError(f"{call}: {path} must be a JSON object, got {got}")
        if self.values.get("model_type") != model_type:
            hint = "load_gpt2 reads GPT-2, load_bert BERT, and no other architecture"
            self.refuse("model_type", repr(model_type), hint)

    def __getitem__(self, name: str) -> Any:
        if self.values.get(name) is None:
            self.refuse(name, "given", "without it the model is not known")
        return self.values[name]

    def get(self, name: str, default: Any) -> Any:
        """The value of this name, or what Hugging Face takes where there is none."""
        value = self.values.get(name)
        return default if value is None else value

    def require(self, hint: str, **expected: Any) -> None:
        """Refuse options that have other values than these; left out, they have these."""
        for name, value in expected.items():
            if self.get(name, value) != value:
                self.refuse(name, repr(value), hint)

    def choose(self, name: str, default: str, choices: Mapping[str, str]) -> str:
        """Our word for one of theirs."""
        found = self.get(name, default)
        if not isinstance(found, str) or found not in choices:
            words = ", ".join(map(repr, choices))
            self.refuse(name, f"one of {words}", "this library has no other")
        return choices[found]

    def config(self, **values: Any) -> TransformerConfig:
        """The configuration of our model; what it refuses is in this file."""
        try:
            return TransformerConfig(**values)
        except ValueError as error:
            raise ValueError(f"{self.call}: {self.path}: {error}") from error

    def refuse(self, name: str, expected: str, hint: str) -> None:
        """Refuse the value of this name."""
        got = repr(self.values[name]) if name in self.values else "nothing"
        raise ValueError(
            f"{self.call}: {name} of {self.path} must be {expected}, got {got}: {hint}"
        )
