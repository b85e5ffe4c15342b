"""A model with its vocabularies: sentences in, sentences out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, overload

import numpy as np

from qkv.bridge import State
from qkv.checkpoint import Checkpoint
from qkv.config import TransformerConfig
from qkv.shapes import check_count
from qkv.text import EOS, PAD, SOS, Tokenizer
from qkv.translator.looks import Looks, words_of
from qkv.translator.rooms import Model, build, room_of
from qkv.translator.writing import Ids, write

__all__ = ["Translator"]


class Translator:
    """Translates by a Transformer of either room; `from_checkpoint` makes one from a file.

    The source ends in <eos>, as in training; an empty text is translated by an empty one.

    Args:
        model: of qkv.numpy or qkv.torch, on whatever device; it is put into evaluation for each
            call and left as it was.
        source, target: its vocabularies.
        max_len: the most tokens of a source or of a translation, <eos> among them; None is the
            model's `config.max_len`.
    Raises:
        ValueError: the model is no Transformer, or takes no <pad>; a vocabulary is of another size
            than the model's; max_len is no count, or more than the positions that were learned.
    """

    def __init__(
        self, model: Model, source: Tokenizer, target: Tokenizer, *, max_len: int | None = None
    ) -> None:
        self._room = room_of(model)
        self.model, self.source, self.target = model, source, target
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
        """Build the model that a checkpoint holds.

        Args:
            checkpoint: one that was loaded, or the path of its JSON file or folder. Where its facts
                name a max_len, longer texts are refused.
            room: "numpy" or "torch".
            device: for torch, such as "cuda"; None is the CPU.
        Raises:
            ValueError, OSError, ImportError: as `Checkpoint.load`; the room or the device is
                unknown.
        """
        found = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint.load(checkpoint)
        parameters: State = found.parameters
        model = build(found.config, parameters, room, device)
        return cls(model, found.source, found.target, max_len=found.facts.get("max_len"))

    def count(self, text: str) -> int:
        """The tokens of a source text, <eos> among them: at most `max_len` can be translated."""
        return len(self.source.encode(text, eos=True))

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
        first: int = 0,
        max_new_tokens: int | None = None,
        max_tokens: int = 4096,
        cut: bool = False,
        progress: Callable[[int], None] | None = None,
        **options: Any,
    ) -> str | list[str]:
        """The translations of texts, in their order; of one text, its translation.

        Args:
            texts: plain text, one sentence each.
            method: "greedy", "beam" or "sample".
            seed: of "sample". Text n draws its own numbers from (seed, first + n), so the same seed
                gives the same translation in any batch and in either room, but for rounding. None
                means other ones each time.
            first: the place of the first text, where they are a part of more.
            max_new_tokens: the most tokens of a translation, <eos> among them; None is the
                translator's `max_len`.
            max_tokens: of a batch, beams and padding included; a longer text goes alone.
            cut: take the beginning of a text that is too long instead of refusing it.
            progress: called after each batch, with how many texts were in it.
            options: what else `beam_search` takes, such as beams, alpha and length_penalty; or
                `sample`: temperature, top_k and top_p.
        Raises:
            ValueError: a text is none or too long, it is named by its place; or a value is out of
                its range.
            TypeError: an option is unknown to the method.
        """
        listed = [texts] if isinstance(texts, str) else list(texts)
        sources = [self._encode(text, n, cut) for n, text in enumerate(listed)]
        batches = write(
            self._room,
            sources,
            self.max_len,
            method,
            seed=seed,
            first=first,
            max_new_tokens=max_new_tokens,
            max_tokens=max_tokens,
            **options,
        )
        found = [""] * len(sources)
        for places, written in batches:
            for n, ids in zip(places, written, strict=True):
                found[n] = self.target.decode(ids)
            if progress is not None:
                progress(len(places))
        return found[0] if isinstance(texts, str) else found

    def attention(
        self,
        text: str,
        translation: str | None = None,
        method: str = "greedy",
        *,
        cut: bool = False,
        **options: Any,
    ) -> Looks:
        """What every head looked at, from one pass over the sentence and its whole translation.

        Args:
            text: the source.
            translation: what the decoder is made to say; None is what it says by itself.
            method, cut, options: how it says that, as `translate` takes them.
        Raises:
            ValueError: one of the two is no text, or too long.
        """
        source = self._encode(text, None, cut)
        if translation is None:
            said = [EOS]  # of an empty text
            for _, written in write(self._room, [source], self.max_len, method, **options):
                said = written[0]
        else:
            said = self.target.encode(translation, eos=True).tolist()
            if len(said) > self.max_len:
                raise ValueError(
                    f"attention: the translation must have at most max_len = {self.max_len} "
                    f"tokens, <eos> among them, got {len(said)}"
                )
        read = [SOS, *said[:-1]]
        weights: dict[str, Any] = {}
        with self._room.model.evaluating() as model:
            model(*map(self._room.put, (source[None], np.array([read]))), weights=weights)
        source_tokens, target_tokens = self.source.labels(source), self.target.labels(said)
        return Looks(
            self.source.clean(text, "attention"),
            self.target.decode(said),
            source_tokens,
            target_tokens,
            self.target.labels(read),
            {name: self._room.get(value)[0] for name, value in weights.items()},
            words_of(source_tokens, self.source.has_pieces),
            words_of(target_tokens, self.target.has_pieces),
        )

    def _encode(self, text: str, place: int | None, cut: bool) -> Ids:
        """The ids (S,) of a source, <eos> last, refused or cut where it is too long."""
        call, name = ("attention", "text") if place is None else ("translate", f"text {place}")
        if not isinstance(text, str):
            raise ValueError(f"{call}: {name} must be a str, got {type(text).__name__}")
        ids = self.source.encode(text, eos=True)
        if len(ids) <= self.max_len:
            return ids
        if not cut:
            mend = "split it" if place is None else "split it, or pass cut=True"
            raise ValueError(
                f"{call}: {name} must have at most max_len = {self.max_len} tokens, <eos> among "
                f"them, got {len(ids)}: {mend}"
            )
        return np.append(ids[: self.max_len - 1], EOS)
