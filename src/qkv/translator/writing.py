"""Sources to targets, as ids: batches by length, and one of the room's searches for each."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.shapes import check_choice, check_count
from qkv.text import EOS, PAD, SOS, plan_batches
from qkv.translator.rooms import Room

__all__ = ["Ids", "write"]

METHODS = ("greedy", "beam", "sample")
BEAMS = 4
Ids = NDArray[np.int64]


def write(
    room: Room,
    sources: Sequence[Ids],
    limit: int,
    method: str = "greedy",
    *,
    seed: int | None = None,
    first: int = 0,
    max_new_tokens: int | None = None,
    max_tokens: int = 4096,
    **options: Any,
) -> Iterator[tuple[list[int], list[list[int]]]]:
    """Batch by batch, from short to long: the places of its sources, and what is written there.

    Args:
        sources: (S,) ids each, <eos> at the end; one that holds nothing else is passed over.
        limit: the most tokens that the model may write.
        method, seed, first, max_new_tokens, max_tokens, options: as `Translator.translate` takes
            them.
    Yields:
        (B,) places, and for each the ids that follow <sos>, <eos> among them unless max_new_tokens
        came before it.
    Raises:
        ValueError: a value is out of its range.
        TypeError: an option is unknown to the method.
    """
    call = "translate"
    check_choice(call, "method", method, METHODS)
    check_count(call, max_tokens=max_tokens)
    check_count(call, 0, first=first, seed=0 if seed is None else seed)
    length = limit if max_new_tokens is None else max_new_tokens
    check_count(call, max_new_tokens=length)
    if length > limit:
        raise ValueError(
            f"{call}: max_new_tokens must be at most {limit}, the translator's, got {length}"
        )
    entropy = secrets.randbits(64) if seed is None else seed
    rows = options.setdefault("beams", BEAMS) if method == "beam" else 1
    check_count(call, beams=rows)
    for places in _plan(sources, max_tokens // rows):
        if method == "sample":
            draws = [np.random.default_rng([entropy, first + n]).random(length) for n in places]
            options["draws"] = room.put(np.array(draws, np.float32))  # (B, max_new_tokens)
        chosen = [sources[n] for n in places]
        yield places, _search(room, chosen, method, max_new_tokens=length, **options)


def _plan(sources: Sequence[Ids], max_tokens: int) -> list[list[int]]:
    """Which sources go together, by length; the empty ones go nowhere."""
    places = [n for n, ids in enumerate(sources) if len(ids) > 1]
    if not places:
        return []
    room = max(max_tokens, 1)
    lengths = [min(len(sources[n]), room) for n in places]  # one that is longer fills a batch
    plan = plan_batches(np.array([lengths, lengths]).T, room)
    return [[places[n] for n in batch] for batch in plan]


def _search(room: Room, sources: Sequence[Ids], method: str, **options: Any) -> list[list[int]]:
    """What a batch of sources is translated by."""
    source = np.full((len(sources), max(map(len, sources))), PAD, np.int64)  # (B, S)
    for row, ids in enumerate(sources):
        source[row, : len(ids)] = ids
    prefixes = np.full((len(sources), 1), SOS, np.int64)  # (B, 1)
    search = getattr(room.functions, "beam_search" if method == "beam" else method)
    with room.model.evaluating() as model:
        state = model.start(room.put(source))
        tokens, _ = search(state, room.put(prefixes), eos_id=EOS, pad_id=PAD, **options)
    written = room.get(tokens[:, 0] if method == "beam" else tokens)[:, 1:]  # (B, T)
    return [_until_end(row) for row in written.tolist()]


def _until_end(row: list[int]) -> list[int]:
    """What stands up to <eos>; all of it where the search ended without one."""
    return row[: row.index(EOS) + 1] if EOS in row else row
