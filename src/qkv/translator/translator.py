"""Translator: a Transformer with its tokenizers, from text to text."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from qkv.checkpoint import Checkpoint
from qkv.config import TransformerConfig
from qkv.shapes import check_count
from qkv.text import EOS, PAD, SOS, Tokenizer
from qkv.text.scripts import is_foreign
from qkv.translator.attention_maps import AttentionMaps, group_words
from qkv.translator.generation import Ids, generate
from qkv.translator.rooms import Model, build_model, find_room

__all__ = ["Translator"]


class Translator:
    """Translate text by a Transformer of either room; `from_checkpoint` loads one from a file.

    The source ends in <eos>, as in training; an empty text is translated by an empty one.

    Args:
        model: of qkv.numpy or qkv.torch, on whatever device; each call runs it in inference
            mode and leaves its mode as it was.
        source, target: its tokenizers.
        max_len: the most tokens of a source or of a translation, <eos> among them; None is the
            model's `config.max_len`.
        example: a source text, to show what the model reads; None where none is known.
        scripts: of the sources that it was trained on, such as "LATIN"; None where none are known.
    Raises:
        ValueError: the model is no Transformer, or takes no <pad>; a vocabulary is of another size
            than the model's; max_len is no count, or more than the positions that were learned.
    """

    def __init__(
        self,
        model: Model,
        source: Tokenizer,
        target: Tokenizer,
        *,
        max_len: int | None = None,
        example: str | None = None,
        scripts: Collection[str] | None = None,
    ) -> None:
        self._room = find_room(model)
        self.model, self.source, self.target, self.example = model, source, target, example
        self.scripts = scripts
        config: TransformerConfig = model.config
        Checkpoint(config, {}, source, target)  # refuses vocabularies of another size
        if config.pad_id != PAD:
            raise ValueError(
                f"Translator: the model must have pad_id = {PAD}, got {config.pad_id}: without, it "
                "would read the padding of a batch"
            )
        self.max_len = config.max_len if max_len is None else max_len
        check_count("Translator", max_len=self.max_len)
        if config.positions == "learned" and self.max_len > config.max_len:
            raise ValueError(
                f"Translator: max_len must be at most {config.max_len}, the positions that the "
                f"model has learned, got {self.max_len}"
            )

    @classmethod
    def from_checkpoint(
        cls,
        checkpoint: Checkpoint | str | os.PathLike[str],
        room: str = "numpy",
        device: str | None = None,
    ) -> Translator:
        """Load a checkpoint: build its model and take its tokenizers.

        Args:
            checkpoint: one that was loaded, or the path of its JSON file or folder. Where its
                metadata name a max_len, longer texts are refused; example and scripts are taken.
            room: "numpy" or "torch".
            device: for torch, such as "cuda"; None is the CPU.
        Raises:
            ValueError, OSError, ImportError: as `Checkpoint.load`; the room or the device is
                unknown.
        """
        if not isinstance(checkpoint, Checkpoint):
            checkpoint = Checkpoint.load(checkpoint)
        model = build_model(checkpoint.config, checkpoint.parameters, room, device)
        known = {name: checkpoint.metadata.get(name) for name in ("max_len", "example")}
        scripts = checkpoint.metadata.get("scripts")
        if isinstance(scripts, list) and all(isinstance(name, str) for name in scripts):
            known["scripts"] = scripts
        return cls(model, checkpoint.source, checkpoint.target, **known)

    def count_tokens(self, text: str) -> int:
        """How many tokens a source text has, <eos> among them; `max_len` is the most."""
        return len(self.source.encode(text, eos=True))

    def unknown_words(self, text: str) -> list[str]:
        """The words of a source text that its vocabulary lacks, or that are in another script."""
        unknown = self.source.unknown_words(text)
        words = self.source.normalize(text).split() if self.scripts else unknown
        return [word for word in words if word in unknown or is_foreign(word, self.scripts or ())]

    @overload
    def translate(self, texts: str, method: str = ..., **options: Any) -> str: ...
    @overload
    def translate(self, texts: Iterable[str], method: str = ..., **options: Any) -> list[str]: ...
    def translate(
        self,
        texts: str | Iterable[str],
        method: str = "greedy",
        *,
        seed: int | None = None,
        offset: int = 0,
        max_new_tokens: int | None = None,
        max_tokens: int = 4096,
        truncate: bool = False,
        progress: Callable[[int], None] | None = None,
        unfinished: Callable[[int], None] | None = None,
        **options: Any,
    ) -> str | list[str]:
        """Translate texts, in batches bucketed by length; of one text, its translation.

        Args:
            texts: plain text, one sentence each.
            method: "greedy", "beam" or "sample".
            seed: of "sample". Text n draws its own numbers from (seed, offset + n), so the same
                seed gives the same translation in any batch and in either room, but for rounding.
                None means other ones each time.
            offset: the index of the first text, where they are a part of more.
            max_new_tokens: the most tokens of a translation, <eos> among them; None is the
                translator's `max_len`.
            max_tokens: of a batch, beams and padding included; a longer text goes alone.
            truncate: take the beginning of a text that is too long instead of refusing it.
            progress: called after each batch, with how many texts were in it.
            unfinished: called with the index, offset + n, of each text whose translation
                max_new_tokens cut.
            options: what else `beam_search` takes, such as beam_size, length_penalty and
                length_formula; or `sample`: temperature, top_k and top_p.
        Raises:
            ValueError: a text is none or too long, it is named by its index; or a value is out of
                its range.
            TypeError: an option is unknown to the method.
        """
        text_list = [texts] if isinstance(texts, str) else list(texts)
        sources = [self._encode(text, n, truncate) for n, text in enumerate(text_list)]
        batches = generate(
            self._room,
            sources,
            self.max_len,
            method,
            seed=seed,
            offset=offset,
            max_new_tokens=max_new_tokens,
            max_tokens=max_tokens,
            **options,
        )
        translations = [""] * len(sources)
        for indices, targets in batches:
            for n, ids in zip(indices, targets, strict=True):
                translations[n] = self.target.decode(ids)
                if unfinished is not None and EOS not in ids:
                    unfinished(offset + n)
            if progress is not None:
                progress(len(indices))
        return translations[0] if isinstance(texts, str) else translations

    def stream(
        self, blocks: Iterable[Sequence[str]], method: str = "greedy", **options: Any
    ) -> Iterator[list[str]]:
        """Translate blocks of texts as they come; the next is asked for when one was taken.

        Sampling goes by the index of a text among all of them, whatever the blocks are.

        Args:
            method, options: as `translate` takes them.
        Yields:
            The translations of each block, in their order.
        Raises:
            ValueError, TypeError: as `translate`.
        """
        offset = 0
        for block in blocks:
            yield self.translate(list(block), method, offset=offset, **options)
            offset += len(block)

    def attention(
        self,
        text: str,
        translation: str | None = None,
        method: str = "greedy",
        *,
        truncate: bool = False,
        **options: Any,
    ) -> AttentionMaps:
        """Attention maps of every head, from one pass over a sentence and its whole translation.

        Args:
            text: the source.
            translation: what the decoder is made to predict; None is what it generates by itself.
            method, truncate, options: how it generates that, as `translate` takes them.
        Raises:
            ValueError: one of the two is no text, or too long.
        """
        source = self._encode(text, None, truncate)
        if translation is None:
            target = [EOS]  # of an empty text
            for _, generated in generate(self._room, [source], self.max_len, method, **options):
                target = generated[0]
        else:
            target = self.target.encode(translation, eos=True).tolist()
            if len(target) > self.max_len:
                raise ValueError(
                    f"attention: the translation must have at most max_len = {self.max_len} "
                    f"tokens, <eos> among them, got {len(target)}"
                )
        decoder_input = [SOS, *target[:-1]]
        inputs = map(self._room.from_numpy, (source[None], np.array([decoder_input])))
        weights: dict[str, Any] = {}
        with self._room.model.inference_mode() as model:
            model(*inputs, attention_maps=weights)
        source_labels, target_labels = self.source.labels(source), self.target.labels(target)
        return AttentionMaps(
            self.source.normalize(text, "attention"),
            self.target.decode(target),
            source_labels,
            target_labels,
            self.target.labels(decoder_input),
            {name: self._room.to_numpy(value)[0] for name, value in weights.items()},
            group_words(source_labels, self.source.has_subwords),
            group_words(target_labels, self.target.has_subwords),
        )

    def _encode(self, text: str, index: int | None, truncate: bool) -> Ids:
        """The ids (S,) of a source, <eos> last, refused or truncated where it is too long."""
        call, name = ("attention", "text") if index is None else ("translate", f"text {index}")
        if not isinstance(text, str):
            raise ValueError(f"{call}: {name} must be a str, got {type(text).__name__}")
        ids = self.source.encode(text, eos=True)
        if len(ids) <= self.max_len:
            return ids
        if not truncate:
            hint = "split it" if index is None else "split it, or pass truncate=True"
            raise ValueError(
                f"{call}: {name} must have at most max_len = {self.max_len} tokens, <eos> among "
                f"them, got {len(ids)}: {hint}"
            )
        return np.append(ids[: self.max_len - 1], EOS)
