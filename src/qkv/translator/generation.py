"""Generate translations of token ids, in batches: greedy, beam search or sampling."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.shapes import check_below, check_choice, check_count
from qkv.text import EOS, PAD, SOS, bucket_by_length
from qkv.translator.rooms import Room

__all__ = ["METHODS", "MOST", "Ids", "generate"]

METHODS = {  # the function of both rooms, and the options that are its alone
    "greedy": ("greedy", ()),
    "beam": ("beam_search", ("beam_size", "length_penalty", "length_formula")),
    "sample": ("sample", ("temperature", "top_k", "top_p", "seed")),
}
DEFAULT_BEAM_SIZE = 4
MOST = 2**31  # tokens of a batch, or beams: more overflow the integers that count them
Ids = NDArray[np.int64]


def generate(
    room: Room,
    sources: Sequence[Ids],
    limit: int,
    method: str = "greedy",
    *,
    seed: int | None = None,
    offset: int = 0,
    max_new_tokens: int | None = None,
    max_tokens: int = 4096,
    **options: Any,
) -> Iterator[tuple[list[int], list[list[int]]]]:
    """Generate translations batch by batch, from short sources to long ones.

    Args:
        sources: (S,) ids each, <eos> at the end; one that holds nothing else is passed over.
        limit: the most tokens that the model may generate.
        method, seed, offset, max_new_tokens, max_tokens, options: as `Translator.translate` takes
            them.
    Yields:
        The indices (B,) of a batch's sources, and for each the ids that follow <sos>, <eos> among
        them unless max_new_tokens came before it.
    Raises:
        ValueError: a value is out of its range.
        TypeError: an option is unknown to the method.
    """
    call = "translate"
    check_choice(call, "method", method, METHODS)
    check_count(call, max_tokens=max_tokens)
    check_below(call, "max_tokens", max_tokens, "2^31", MOST)
    check_count(call, 0, offset=offset, seed=0 if seed is None else seed)
    length = limit if max_new_tokens is None else max_new_tokens
    check_count(call, max_new_tokens=length)
    if length > limit:
        raise ValueError(
            f"{call}: max_new_tokens must be at most {limit}, the translator's, got {length}"
        )
    entropy = secrets.randbits(64) if seed is None else seed
    beam_size = options.setdefault("beam_size", DEFAULT_BEAM_SIZE) if method == "beam" else 1
    check_count(call, beam_size=beam_size)
    check_below(call, "beam_size", beam_size, "2^31", MOST)
    for indices in _bucket(sources, max_tokens // beam_size):
        if method == "sample":
            rngs = [np.random.default_rng([entropy, offset + n]) for n in indices]
            uniforms = np.array([rng.random(length) for rng in rngs], np.float32)
            options["uniforms"] = room.from_numpy(uniforms)  # (B, max_new_tokens)
        batch = [sources[n] for n in indices]
        yield indices, _search(room, batch, method, max_new_tokens=length, **options)


def _bucket(sources: Sequence[Ids], max_tokens: int) -> list[list[int]]:
    """Batches of sources of similar length, as their indices; the empty ones are left out."""
    indices = [n for n, ids in enumerate(sources) if len(ids) > 1]
    if not indices:
        return []
    most = max(max_tokens, 1)
    lengths = [min(len(sources[n]), most) for n in indices]  # one that is longer fills a batch
    buckets = bucket_by_length(np.array([lengths, lengths]).T, most)
    return [[indices[n] for n in bucket] for bucket in buckets]


def _search(room: Room, sources: Sequence[Ids], method: str, **options: Any) -> list[list[int]]:
    """The ids that one search generates for a batch of sources."""
    source = np.full((len(sources), max(map(len, sources))), PAD, np.int64)  # (B, S)
    for row, ids in enumerate(sources):
        source[row, : len(ids)] = ids
    prefixes = np.full((len(sources), 1), SOS, np.int64)  # (B, 1)
    search = getattr(room.functions, METHODS[method][0])
    with room.model.inference_mode() as model:
        state = model.start_decoding(room.from_numpy(source))
        tokens, _ = search(state, room.from_numpy(prefixes), eos_id=EOS, pad_id=PAD, **options)
    best = tokens[:, 0] if method == "beam" else tokens
    generated = room.to_numpy(best)[:, 1:]  # (B, T)
    return [_up_to_eos(row) for row in generated.tolist()]


def _up_to_eos(row: list[int]) -> list[int]:
    """The ids up to <eos>; all of them where the search ended without one."""
    return row[: row.index(EOS) + 1] if EOS in row else row
