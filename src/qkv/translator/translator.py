"""A model with its vocabularies: sentences in, sentences out."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from qkv.bridge import State
from qkv.checkpoint import Checkpoint
from qkv.config import TransformerConfig
from qkv.shapes import check_choice, check_count
from qkv.text import EOS, PAD, SOS, Tokenizer, clean, plan_batches
from qkv.translator.looks import Looks, words_of
from qkv.translator.rooms import Model, build, room_of

__all__ = ["METHODS", "Translator"]

METHODS = ("greedy", "beam", "sample")
BEAMS = 4
Ids = NDArray[np.int64]


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
        max_len: int | None = None,
        max_tokens: int = 4096,
        cut: bool = False,
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
            max_len: the most tokens of a translation, <eos> among them; None is the translator's.
            max_tokens: of a batch, beams and padding included; a longer text goes alone.
            cut: take the beginning of a text that is too long instead of refusing it.
            options: what else `beam_search` takes, such as beams, alpha and length_penalty; or
                `sample`: temperature, top_k and top_p.
        Raises:
            ValueError: a text is none or too long, it is named by its place; or a value is out of
                its range.
            TypeError: an option is unknown to the method.
        """
        check_choice("translate", "method", method, METHODS)
        check_count("translate", max_tokens=max_tokens)
        check_count("translate", 0, first=first, **({} if seed is None else {"seed": seed}))
        length = self._target_length(max_len)
        alone = isinstance(texts, str)
        listed = [texts] if isinstance(texts, str) else list(texts)
        sources = [self._encode(text, n, cut) for n, text in enumerate(listed)]
        found = [""] * len(sources)
        entropy = secrets.randbits(64) if seed is None else seed
        rows = options.setdefault("beams", BEAMS) if method == "beam" else 1
        check_count("translate", beams=rows)
        for places in _plan(sources, max_tokens // rows):
            if method == "sample":
                draws = [np.random.default_rng([entropy, first + n]).random(length) for n in places]
                options["draws"] = self._room.put(np.array(draws, np.float32))  # (B, max_len)
            written = self._search(sources, places, method, max_len=length, **options)
            for n, ids in zip(places, written, strict=True):
                found[n] = self.target.decode(ids)
        return found[0] if alone else found

    def attention(self, text: str, translation: str | None = None) -> Looks:
        """What every head looked at, from one pass over the sentence and its whole translation.

        Args:
            text: the source.
            translation: what the decoder is made to say; None is what it says by itself, greedily.
        Raises:
            ValueError: one of the two is no text, or too long.
        """
        source = self._encode(text, None, cut=False)
        if translation is None:
            said = [EOS]
            if len(source) > 1:
                said = self._search([source], [0], "greedy", max_len=self.max_len)[0]
        else:
            said = self.target.encode(translation, eos=True).tolist()
            if len(said) > self.max_len:
                raise ValueError(
                    f"attention: the translation must have at most max_len = {self.max_len} "
                    f"tokens, <eos> among them, got {len(said)}"
                )
        read = [SOS, *said[:-1]]
        weights: dict[str, Any] = {}
        with self._room.quiet() as model:
            model(*map(self._room.put, (source[None], np.array([read]))), weights=weights)
        source_tokens = tuple(self.source.tokens[n] for n in source)
        target_tokens = tuple(self.target.tokens[n] for n in said)
        return Looks(
            clean(text, "attention"),
            self.target.decode(said),
            source_tokens,
            target_tokens,
            tuple(self.target.tokens[n] for n in read),
            {name: self._room.get(value)[0] for name, value in weights.items()},
            words_of(source_tokens, self.source.merges is not None),
            words_of(target_tokens, self.target.merges is not None),
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

    def _target_length(self, max_len: int | None) -> int:
        """The most tokens to write."""
        length = self.max_len if max_len is None else max_len
        check_count("translate", max_len=length)
        if length > self.max_len:
            raise ValueError(
                f"translate: max_len must be at most {self.max_len}, the translator's, got {length}"
            )
        return length

    def _search(
        self, sources: Sequence[Ids], places: Iterable[int], method: str, **options: Any
    ) -> list[list[int]]:
        """The tokens that follow <sos>, <eos> among them, for the sources at these places."""
        chosen = [sources[n] for n in places]
        source = np.full((len(chosen), max(map(len, chosen))), PAD, np.int64)  # (B, S)
        for row, ids in enumerate(chosen):
            source[row, : len(ids)] = ids
        prefixes = np.full((len(chosen), 1), SOS, np.int64)  # (B, 1)
        search = getattr(self._room.functions, "beam_search" if method == "beam" else method)
        with self._room.quiet() as model:
            state = model.start(self._room.put(source))
            tokens, _ = search(state, self._room.put(prefixes), eos_id=EOS, pad_id=PAD, **options)
        written = self._room.get(tokens[:, 0] if method == "beam" else tokens)[:, 1:]  # (B, T)
        return [_until_end(row) for row in written.tolist()]


def _plan(sources: Sequence[Ids], max_tokens: int) -> list[list[int]]:
    """Which texts go together, by length; the empty ones go nowhere."""
    places = [n for n, ids in enumerate(sources) if len(ids) > 1]
    if not places:
        return []
    room = max(max_tokens, 1)
    lengths = [min(len(sources[n]), room) for n in places]  # one that is longer fills a batch
    plan = plan_batches(np.array([lengths, lengths]).T, room)
    return [[places[n] for n in batch] for batch in plan]


def _until_end(row: list[int]) -> list[int]:
    """What stands up to <eos>; all of it where the search ended without one."""
    return row[: row.index(EOS) + 1] if EOS in row else row
