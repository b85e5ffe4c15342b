"""How fast greedy decoding is: both rooms, one sentence and 32, with a KV cache and without.

The time is that of the processor, which other programs do not prolong. The parameters of the larger
model are drawn at random; nothing ends early, so that all sentences have the same length.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.bridge import copy_parameters
from qkv.config import TransformerConfig
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import pretrained
from qkv.text import SOS
from qkv.translator.rooms import Room, find_room

__all__ = ["check", "measure"]

LARGER = TransformerConfig(4000, d_model=256, n_heads=4, d_ff=1024, n_layers=3, pad_id=0)
SOURCE = 10  # tokens


def measure(small: bool = False) -> dict[str, Any]:
    """Tokens a second, the best of several runs.

    Returns:
        rows: of each model, room, batch and length, with the cache and without.
        threads: as the environment sets them for NumPy; torch has one.
    """
    lengths = {1: (16, 256)} if small else {1: (16, 64, 256), 32: (16, 64)}
    budget = 0.3 if small else 2.0
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = [
            {"model": name, "room": room_name, "batch": B, "tokens": T}
            | {
                kind: round(tokens_per_second(room, B, T, kind == "cached", budget), 1)
                for kind in ("cached", "uncached")
            }
            for name, rooms in _models(small).items()
            for B, all_lengths in lengths.items()
            for T in all_lengths
            for room_name, room in rooms.items()
        ]
    finally:
        torch.set_num_threads(threads)
    return {"rows": rows, "threads": os.environ.get("OMP_NUM_THREADS", "all")}


def _models(small: bool) -> dict[str, dict[str, Room]]:
    shipped = {name: find_room(pretrained(name).model) for name in ("numpy", "torch")}
    if small:
        return {"shipped": shipped}
    larger = qn.Transformer(LARGER, rng=np.random.default_rng(0)).eval()
    twin = qt.Transformer(LARGER).eval()
    copy_parameters(larger, twin)
    return {"shipped": shipped, "larger": {"numpy": find_room(larger), "torch": find_room(twin)}}


def tokens_per_second(room: Room, B: int, T: int, cached: bool, budget: float) -> float:
    """B sentences of T tokens each; the best of 2 to 7 runs, no more after `budget` seconds."""
    source = room.from_numpy(np.random.default_rng(0).integers(4, 200, (B, SOURCE)))
    prefixes = room.from_numpy(np.full((B, 1), SOS))
    seconds: list[float] = []
    while len(seconds) < 2 or (len(seconds) < 7 and sum(seconds) < budget):
        start = time.process_time()
        with room.model.inference_mode() as model:
            step = model.start_decoding(source) if cached else _without_cache(room, source)
            tokens, _ = room.functions.greedy(step, prefixes, eos_id=None, max_new_tokens=T)
        seconds.append(time.process_time() - start)
        assert tokens.shape == (B, T + 1)
    return B * T / min(seconds)


def _without_cache(room: Room, source: Any) -> Callable[[Any], Any]:
    """A step function that reads the whole prefix again for each token."""
    memory = room.model.encode(source)  # (B, S, d_model)

    def step(prefixes: Any) -> Any:
        logits = room.model.decode(prefixes, memory, last=True)  # (B, 1, V)
        return room.functions.log_softmax(logits)[:, 0]

    return step


def check(figures: dict[str, Any]) -> None:
    """The cache is faster at 256 tokens, and its lead is larger there than at 16."""
    assert min(min(row["cached"], row["uncached"]) for row in figures["rows"]) > 0
    lead = {
        (row["model"], row["room"], row["batch"], row["tokens"]): row["cached"] / row["uncached"]
        for row in figures["rows"]
    }
    for (model, room, batch, tokens), ratio in lead.items():
        if tokens == 256:
            assert ratio > max(1, lead[model, room, batch, 16])
        if model == "larger" and tokens == 64:
            assert ratio > 1


if __name__ == "__main__":
    run_and_store("decoding_speed", measure)
