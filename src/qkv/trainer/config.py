"""Configurations of a training run, but for its model's: data, training, machine; their help."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import Annotated, Any

from qkv.config import ModelConfig
from qkv.shapes import choices
from qkv.shapes.fields import (
    Choice,
    Count,
    Interval,
    NonNegative,
    Positive,
    Seed,
    Share,
    check_fields,
)
from qkv.text.lines import MAX_TEXT

__all__ = [
    "LATER_END",
    "PATHS",
    "ChangedFieldError",
    "DataConfig",
    "RuntimeConfig",
    "TrainingConfig",
    "check_tie",
]

PATHS = ("source", "target", "tsv", "valid_source", "valid_target")
LATER_END = ("epochs", "steps")  # of which a run that goes on may have more than it began with
MOST_STEPS = 10**9  # years; and no float overflows on the way to them


@dataclass(frozen=True)
class DataConfig:
    """Which sentence pairs to train and to validate with, and how text becomes tokens.

    Args:
        source: sentences, one a line, plain or .gz; None means those of `tsv`, or the book's
            grammar.
        target: their translations, line by line.
        tsv: both in one file, tabs between its columns.
        columns: which of these are source and target, counted from 1.
        valid_source: sentences to validate with.
        valid_target: their translations, line by line.
        valid_pairs: without such files, how many pairs to hold back for it, at most a tenth.
        split: of the grammar: held back are pairs of a "combination" of words that training never
            shows, or any, "random".
        validation_fraction: share of the grammar's pairs that is held back.
        vocab_size: the most tokens of a vocabulary, pieces of words by BPE.
        words: whole words instead of pieces, and all of them.
        separate_vocabularies: one for each language, instead of one for both.
        max_len: the longest sentence in tokens, its end among them; longer ones are left out.
        max_text: the most text of a file in MiB, decompressed; all of it is held in memory.
        seed: draws which pairs are held back.
    Raises:
        ValueError: a field does not fit, or two do not go together.
    """

    source: str | None = None
    target: str | None = None
    tsv: str | None = None
    columns: tuple[Count, Count] = (1, 2)
    valid_source: str | None = None
    valid_target: str | None = None
    valid_pairs: Count = 500
    split: Annotated[str, Choice(("combination", "random"))] = "combination"
    validation_fraction: Share = 0.1
    vocab_size: Annotated[int, Interval(int, 8, 2**31)] = 4000
    words: bool = False
    separate_vocabularies: bool = False
    max_len: Annotated[int, Interval(int, 2)] = 128
    max_text: Count = MAX_TEXT
    seed: Seed = 0

    def __post_init__(self) -> None:
        for name in PATHS:
            path = getattr(self, name)
            if isinstance(path, str | os.PathLike):  # a run may go on in another folder
                object.__setattr__(self, name, os.path.abspath(path))
        check_fields(self)
        for one, other in (("source", "target"), ("valid_source", "valid_target")):
            if (getattr(self, one) is None) != (getattr(self, other) is None):
                raise ValueError(
                    f"DataConfig: `{one}` and `{other}` go together: line 1 of one stands beside "
                    "line 1"
                )
        if self.tsv and self.source:
            raise ValueError(
                "DataConfig: `tsv` and `source` are two places for the same text: give one"
            )


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained.

    Args:
        epochs: how often each pair is seen; None means 4 times for the grammar, 10 for files. With
            `resume`, more than a run had let it go on.
        steps: how many optimizer steps, instead of `epochs`.
        max_tokens: the most tokens of a batch on either side, padding included, over all processes.
        gradient_accumulation: batches an optimizer step.
        label_smoothing: ε of the training loss.
        max_grad_norm: the longest gradient; a longer one is clipped.
        schedule: the learning rate rises, and then falls in a line to 0 at the end, "linear", or
            with the root of the step as in the paper, "noam".
        learning_rate: the highest of the linear schedule, None means 0.002; with "noam" the factor
            of its formula, and None means 1.
        warmup: steps until the highest learning rate; None means a tenth of all, at most 4000.
        optimizer: "adam" or "adamw".
        betas: of the optimizer's two moving averages.
        weight_decay: of "adamw", apart from the gradient; of "adam", in it.
        validate_every: steps between validations, at each of which all is saved; None means a tenth
            of all, at most 1000.
        average: of how many last validations the average is tried at the end.
        seed: draws the order of the pairs, and dropout; by `qkv train` parameters too, and which
            pairs are held back.
    Raises:
        ValueError: a field does not fit.
    """

    epochs: Annotated[float, Interval(float, 0, MOST_STEPS, above=True)] | None = None
    steps: Annotated[int, Interval(int, 1, MOST_STEPS)] | None = None
    max_tokens: Count = 1024
    gradient_accumulation: Count = 1
    label_smoothing: Share = 0.1
    max_grad_norm: Positive = 1.0
    schedule: Annotated[str, Choice(choices.SCHEDULES)] = "linear"
    learning_rate: NonNegative | None = None
    warmup: Count | None = None
    optimizer: Annotated[str, Choice(choices.OPTIMIZERS)] = "adam"
    betas: tuple[Share, Share] = (0.9, 0.98)
    weight_decay: NonNegative = 0.0
    validate_every: Count | None = None
    average: Count = 5
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_fields(self)

    def extended(self, epochs: float | None = None, steps: int | None = None) -> TrainingConfig:
        """The same with a later end: more steps, or more epochs; None leaves it.

        Whether an end by epochs is a later one shows when it is resolved into steps.

        Raises:
            ChangedFieldError: it would have fewer steps.
        """
        if steps is not None:
            if self.steps is not None and steps < self.steps:
                raise ChangedFieldError("steps", steps, self.steps)
            return replace(self, steps=steps)
        return self if epochs is None else replace(self, epochs=epochs, steps=None)

    def resolved(self, steps_per_epoch: int, epochs: float) -> TrainingConfig:
        """With everything filled in that follows from the rest and from how much data there is.

        Where steps are given, they set the end, and `epochs` says how many these are.

        Args:
            steps_per_epoch: optimizer steps until each pair has been seen.
            epochs: for a config that does not say how many.
        """
        epochs = self.epochs or epochs
        by_epochs = max(1, round(epochs * steps_per_epoch))
        steps = self.steps or by_epochs
        if steps != by_epochs:
            epochs = steps / steps_per_epoch
        warmup = self.warmup or min(4000, max(1, steps // 10))
        highest = 2e-3 if self.schedule == "linear" else 1.0
        return replace(
            self,
            epochs=epochs,
            steps=steps,
            warmup=min(warmup, steps),
            learning_rate=highest if self.learning_rate is None else self.learning_rate,
            validate_every=self.validate_every or min(1000, math.ceil(steps / 10)),
        )


@dataclass(frozen=True)
class RuntimeConfig:
    """What it runs on, and in which numbers.

    Args:
        device: "auto", "cpu", "cuda", "cuda:1" or "mps".
        threads: of the processor; None means torch's own number, or with `resume` the run's.
        bf16: compute in bfloat16, where the device has it.
        compile: the model, by torch.compile.
    Raises:
        ValueError: a field does not fit.
    """

    device: str = "auto"
    threads: Annotated[int, Interval(int, 1, 2**12)] | None = None  # 10⁹ end the process
    bf16: bool = False
    compile: bool = False

    def __post_init__(self) -> None:
        check_fields(self)


def check_tie(model: ModelConfig, data: DataConfig) -> None:
    """Refuse one table for two vocabularies.

    Raises:
        ValueError: the model would have one.
    """
    if data.separate_vocabularies and model.tie_word_embeddings == "all":
        raise ValueError(
            "ModelConfig: `tie_word_embeddings` all needs one vocabulary for both languages: "
            "leave out `separate_vocabularies`"
        )


class ChangedFieldError(ValueError):
    """A run is to go on with another value of a field than it began with.

    Args:
        name: of the field.
        given, stored: the two values.
    """

    def __init__(self, name: str, given: Any, stored: Any) -> None:
        more = ", give more" if name in LATER_END else ""
        self.hint = f"Leave it out{more}, or begin another run with `out`"
        super().__init__(
            f"TrainingRun: `{name}` = {given!r} is not how this run began: it has {stored!r}. "
            f"{self.hint}"
        )
        self.name, self.given, self.stored = name, given, stored
