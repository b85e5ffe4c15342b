"""Sentence pairs to train and to validate with, as text and as token ids."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from qkv.config import ModelConfig, TransformerConfig
from qkv.text import PAD, UNK, Tokenizer, train_bpe, train_word_level
from qkv.text.scripts import usual_scripts
from qkv.trainer.config import DataConfig, check_tie
from qkv.trainer.read_texts import Texts, read_texts

__all__ = ["Ids", "TranslationData"]

EXAMPLE_TOKENS, EXAMPLE_CHARACTERS = 8, 200  # about the one, and at most the other

Ids = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class TranslationData:
    """What a model is trained and validated with; made by one of the `from_…` below.

    Args:
        config: which pairs these are.
        training, validation: ids of source and target.
        validation_texts: the pairs of the validation as text.
        source, target: the vocabularies; the same twice where there is one for both languages.
        left_out: how many pairs for training, and for validation, are longer than `max_len`.
        digest: SHA-256 of all text, to know it again.
        scripts: of the sources for training, as `usual_scripts` names them.
    """

    config: DataConfig
    training: list[Ids]
    validation: list[Ids]
    validation_texts: Texts
    source: Tokenizer
    target: Tokenizer
    left_out: tuple[int, int]
    digest: str
    scripts: tuple[str, ...]

    @classmethod
    def from_grammar(cls, **options: Any) -> Self:
        """The book's English–Korean grammar; options as in `DataConfig`."""
        return cls.from_config(DataConfig(**options))

    @classmethod
    def from_files(
        cls, source: str | os.PathLike[str], target: str | os.PathLike[str], **options: Any
    ) -> Self:
        """Two files of sentences, plain or .gz, line 1 of one beside line 1 of the other.

        Args:
            options: as in `DataConfig`.
        Raises:
            ValueError: as `read_pairs`; or no pair is left to train or to validate with.
            OSError: a file cannot be read.
        """
        return cls.from_config(DataConfig(source=str(source), target=str(target), **options))

    @classmethod
    def from_tsv(cls, tsv: str | os.PathLike[str], **options: Any) -> Self:
        """Two columns of a file with tabs; `options` and errors as for `from_files`."""
        return cls.from_config(DataConfig(tsv=str(tsv), **options))

    @classmethod
    def from_config(
        cls, config: DataConfig, vocabularies: tuple[Tokenizer, Tokenizer] | None = None
    ) -> Self:
        """Read the text that a configuration names.

        Args:
            vocabularies: of source and target, where they are known; None trains them.
        Raises:
            ValueError, OSError: as for `from_files`.
        """
        return cls.from_pairs(*read_texts(config), config, vocabularies)

    @classmethod
    def from_pairs(
        cls,
        training: Texts,
        validation: Texts,
        config: DataConfig | None = None,
        vocabularies: tuple[Tokenizer, Tokenizer] | None = None,
    ) -> Self:
        """Pairs of sentences: train the vocabularies on those for training, and encode all.

        Args:
            training, validation: source and target of each.
            config: what it says of vocabularies and lengths is followed.
            vocabularies: as for `from_config`.
        Raises:
            ValueError: no pair is short enough.
        """
        config = config or DataConfig()
        source, target = vocabularies or _train_tokenizers(config, training)
        pairs = _encode(training, source, target)
        short_enough = [pair for pair in pairs if _fits(pair, config.max_len)]
        if not short_enough:
            raise ValueError(
                f"TranslationData: none of the {len(pairs)} pairs for training is at most "
                f"{config.max_len} tokens long: raise `max_len`"
            )
        valid = _encode(validation, source, target)
        short = [n for n, pair in enumerate(valid) if _fits(pair, config.max_len)]
        if not short:
            raise ValueError(
                f"TranslationData: no pair for validation is at most {config.max_len} tokens long"
            )
        return cls(
            config,
            short_enough,
            [valid[n] for n in short],
            [validation[n] for n in short],
            source,
            target,
            (len(pairs) - len(short_enough), len(valid) - len(short)),
            _digest(training, validation),
            usual_scripts(source for source, _ in training),
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(N, 2), S and T of each pair for training."""
        return np.array([(len(s), len(t) - 1) for s, t in self.training])

    @property
    def example(self) -> str | None:
        """A short source of the validation without unknown tokens; None where there is none."""
        known = [
            (abs(len(source) - EXAMPLE_TOKENS), text)
            for (source, _), (text, _) in zip(self.validation, self.validation_texts, strict=True)
            if UNK not in source and len(text) <= EXAMPLE_CHARACTERS
        ]
        return min(known)[1] if known else None

    @property
    def default_epochs(self) -> float:
        """How often each pair is seen where nothing is said."""
        return 10.0 if self.config.source or self.config.tsv else 4.0

    def model_config(self, **sizes: Any) -> TransformerConfig:
        """The configuration of a model for these vocabularies.

        Args:
            sizes: fields of `TransformerConfig`; those that are left out are as in `ModelConfig`.
        Raises:
            ValueError: they do not go together.
            TypeError: `TransformerConfig` has no such field.
        """
        separate = self.config.separate_vocabularies
        check_tie(ModelConfig(tie_word_embeddings=sizes.get("tie_word_embeddings")), self.config)
        options: dict[str, Any] = {
            "vocab_size": len(self.source),
            "target_vocab_size": len(self.target) if separate else None,
            "max_len": self.config.max_len + 1,
            "pad_id": PAD,
            **asdict(ModelConfig()),
            **sizes,
        }
        return TransformerConfig(**options)

    def check_model(self, config: TransformerConfig) -> None:
        """Refuse a model of other vocabularies.

        Raises:
            ValueError: it is one.
        """
        sizes = config.vocab_size, config.target_vocabulary
        if sizes != (known := (len(self.source), len(self.target))):
            raise ValueError(
                f"Trainer: the model's vocabularies must be those of the data, {known}, got "
                f"{sizes}: make it with data.model_config()"
            )


def _train_tokenizers(config: DataConfig, pairs: Texts) -> tuple[Tokenizer, Tokenizer]:
    """Vocabularies of the text for training alone."""
    sides: Sequence[list[str]] = [[s for s, _ in pairs], [t for _, t in pairs]]
    if not config.separate_vocabularies:
        sides = [[*sides[0], *sides[1]]]
    tokenizers = [
        train_word_level(side) if config.words else train_bpe(side, config.vocab_size)
        for side in sides
    ]
    return tokenizers[0], tokenizers[-1]


def _encode(pairs: Texts, source: Tokenizer, target: Tokenizer) -> list[Ids]:
    """Sources end in <eos>; targets begin with <sos> besides."""
    return [(source.encode(s, eos=True), target.encode(t, sos=True, eos=True)) for s, t in pairs]


def _fits(pair: Ids, max_len: int) -> bool:
    return len(pair[0]) <= max_len and len(pair[1]) - 1 <= max_len


def _digest(training: Texts, validation: Texts) -> str:
    digest = hashlib.sha256()
    for texts in (training, validation):
        for pair in texts:
            digest.update(repr(pair).encode())
        digest.update(b"end")
    return digest.hexdigest()
