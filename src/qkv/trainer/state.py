"""Where a training stands, besides parameters and optimizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from qkv.trainer.events import Scores

__all__ = ["TrainerState"]


@dataclass
class TrainerState:
    """What goes on from a checkpoint needs to know; times are of training alone.

    Args:
        step: optimizer steps so far.
        epoch, index: the epoch, and the place in it of the next step.
        tokens: of source and target so far, without padding.
        seconds, cpu_seconds: spent so far.
        best: the best scores so far.
    """

    step: int = 0
    epoch: int = 0
    index: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    best: Scores | None = None

    def metadata(self) -> dict[str, Any]:
        """As a checkpoint keeps it."""
        return {**vars(self), "best": None if self.best is None else self.best.numbers()}

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any], name: str) -> Self:
        """Of a checkpoint of this name.

        Raises:
            ValueError: something is missing, or of another kind.
        """
        values = {}
        for key, fits in FITS.items():
            if key not in metadata:
                raise ValueError(f"Trainer: {name} is of no run: it does not say its {key!r}")
            values[key] = metadata[key]
            if not fits(values[key]):
                raise ValueError(f"Trainer: {name} is of no run: its {key!r} is {values[key]!r}")
        best = values.pop("best")
        return cls(**values, best=None if best is None else Scores(**best))


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _is_scores(value: object) -> bool:
    names = {"loss", "bleu", "exact"}
    return value is None or (
        isinstance(value, dict) and set(value) == names and all(map(_is_number, value.values()))
    )


FITS: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(("step", "epoch", "index", "tokens"), _is_count),
    **dict.fromkeys(("seconds", "cpu_seconds"), _is_number),
    "best": _is_scores,
}
