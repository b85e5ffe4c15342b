"""Where the time of a whole model goes: attention, projections, feed-forward, output, the rest.

The model has the shape of GPT-2 small and random parameters; its time does not depend on them. Each
part is timed inside one forward pass over a text, logits of every token included. One core,
float32, NumPy, processor time.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import qkv.numpy as qn
import qkv.numpy.multi_head.attention as multi_head
from qkv.config import TransformerConfig
from qkv.experiments.stored_results import run_and_store
from qkv.numpy.transformer.output_projection import TiedOutput

__all__ = ["check", "measure"]

GPT2 = TransformerConfig(
    50_257,
    d_model=768,
    n_heads=12,
    d_ff=3072,
    n_layers=12,
    activation="gelu_tanh",
    norm_first=True,
    positions="learned",
    max_len=2048,
    scale_embedding=False,
)
TINY = dataclasses.replace(GPT2, vocab_size=1000, d_model=128, n_heads=2, d_ff=512, n_layers=2)
PLACES = {  # what is timed: where it stands, and its name there
    "projections": (qn.MultiHeadAttention, "__call__"),  # less the attention inside
    "attention": (multi_head, "attend"),
    "feed-forward": (qn.FeedForward, "__call__"),
    "output": (TiedOutput, "__call__"),
}


def measure(small: bool = False) -> dict[str, Any]:
    """Milliseconds of each part, of the pass that took the shortest.

    Returns:
        rows: vocabulary, tokens, ms by part; "rest" is embedding, norms and residuals.
        threads: as the environment sets them; run it with OMP_NUM_THREADS=1.
    """
    config, repeats = (TINY, 2) if small else (GPT2, 3)
    lengths = (16, 64) if small else (64, 256, 1024, 2048)
    rows = []
    for vocabulary in (500, 1000) if small else (8_000, 50_257):
        sizes = dataclasses.replace(config, vocab_size=vocabulary)
        model = qn.DecoderOnly(sizes, rng=np.random.default_rng(0)).eval()
        for n in lengths:
            passes = [_parts(model, n) for _ in range(repeats)]
            best = min(passes, key=lambda parts: sum(parts.values()))
            ms = {name: round(1e3 * seconds, 2) for name, seconds in best.items()}
            rows.append({"vocabulary": vocabulary, "tokens": n, "ms": ms})
    return {"rows": rows, "threads": os.environ.get("OMP_NUM_THREADS", "all")}


def _parts(model: qn.DecoderOnly, n: int) -> dict[str, float]:
    """Seconds of each part of one pass over n random tokens."""
    ids = np.random.default_rng(0).integers(0, model.config.vocab_size, (1, n))
    seconds = dict.fromkeys(PLACES, 0.0)
    with _timed(seconds), model.inference_mode():
        start = time.process_time()
        model(ids)
        whole = time.process_time() - start
    seconds["projections"] -= seconds["attention"]
    return seconds | {"rest": whole - sum(seconds.values())}


@contextmanager
def _timed(seconds: dict[str, float]) -> Iterator[None]:
    """Add the time of every call at PLACES to `seconds`, under the part's name."""
    with ExitStack() as stack:
        for name, (place, attribute) in PLACES.items():
            timed = _with_clock(getattr(place, attribute), name, seconds)
            stack.enter_context(patch.object(place, attribute, timed))
        yield


def _with_clock(
    function: Callable[..., Any], name: str, seconds: dict[str, float]
) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        result = function(*args, **kwargs)
        seconds[name] += time.process_time() - start
        return result

    return timed


def check(figures: dict[str, Any]) -> None:
    """Attention's share grows with the length, the output's with the vocabulary."""
    rows = {(row["vocabulary"], row["tokens"]): row["ms"] for row in figures["rows"]}
    assert all(min(ms.values()) > 0 for ms in rows.values())
    if max(n for _, n in rows) < 2048:
        return  # a small model on a busy machine: no time is claimed of it
    share = {key: {p: ms[p] / sum(ms.values()) for p in ms} for key, ms in rows.items()}
    for vocabulary in (8_000, 50_257):
        assert share[vocabulary, 64]["attention"] < 0.1
        assert share[vocabulary, 2048]["attention"] > 2 * share[vocabulary, 256]["attention"]
    for n in (64, 256, 1024, 2048):
        assert share[50_257, n]["output"] > 2 * share[8_000, n]["output"]


if __name__ == "__main__":
    run_and_store("cost_model", measure)
