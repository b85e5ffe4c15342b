"""Decoding beside Hugging Face's `generate`: the same parameters, the same tokens out.

    python benchmarks/decoding.py      or, all of this folder, make bench

The calls that are compared take turns in one process and one thread. The parameters are drawn at
random, and nothing ends early, so that every sentence has the same length. What bfloat16 costs in
quality is asked of the model that ships. Writes results/decoding.json and .md beside this file.
"""

# ruff: noqa: E402  (the number of threads has to be set before the imports that read it)
from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import copy
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from baselines.generation import marian_generator
from results import Figures, save_results

import qkv.numpy as qn
import qkv.torch as qt
from qkv.bleu import bleu_scorer
from qkv.bridge import copy_parameters
from qkv.config import TransformerConfig
from qkv.pretrained import pretrained
from qkv.text import PAD, SOS
from qkv.translator.rooms import Room, find_room

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.train_pretrained import held_back

SHARED: dict[str, Any] = {"vocab_size": 8000, "layout": "halves", "pad_id": PAD}
SHARED |= {"tie_word_embeddings": "none"}
SMALL = TransformerConfig(d_model=256, n_heads=4, d_ff=1024, n_layers=2, **SHARED)
BASE = TransformerConfig(d_model=512, n_heads=8, d_ff=2048, n_layers=6, **SHARED)
# Model, beams and batch of each comparison.
RUNS = (
    ("small", SMALL, 1, 1),
    ("small", SMALL, 1, 32),
    ("small", SMALL, 4, 1),
    ("small", SMALL, 4, 32),
    ("base", BASE, 1, 1),
)
NAMES = ("torch", "numpy", "torch, bfloat16")
SOURCE, TOKENS, ROUNDS = 20, 64, 7
SENTENCES = 500  # on which bfloat16 is judged
PEER = "Marian"


def random_model(config: TransformerConfig) -> qt.Transformer:
    """A model with narrow projections: with wider ones it writes the same token for ever."""
    model = qt.Transformer(config, rng=torch.Generator().manual_seed(0)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".w_" in name:
                parameter.mul_(0.25)
    return model


def search(room: Room, beams: int, source: Any, prefixes: Any) -> Any:
    """The best TOKENS tokens after each prefix, as the room's own arrays."""
    options = {"eos_id": None, "max_new_tokens": TOKENS}
    with room.model.inference_mode() as model:
        state = model.start_decoding(source)
        if beams == 1:
            return room.functions.greedy(state, prefixes, **options)[0]
        return room.functions.beam_search(state, prefixes, **options, beam_size=beams)[0][:, 0]


def calls(config: TransformerConfig, beams: int, B: int) -> dict[str, Callable[[], Any]]:
    """The same search by each; those of float32 are checked to write the same tokens."""
    model = random_model(config)
    twin = qn.Transformer(config).eval()
    copy_parameters(model, twin)
    marian = marian_generator(model)
    source = np.random.default_rng(0).integers(4, config.vocab_size, (B, SOURCE))
    prefixes = np.full((B, 1), SOS)
    ids = torch.from_numpy(source)

    def by_marian() -> Any:
        return marian.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=TOKENS,
            num_beams=beams,
            do_sample=False,
        )

    def ours(model: Any) -> Callable[[], Any]:
        room = find_room(model)
        given = room.from_numpy(source), room.from_numpy(prefixes)
        return lambda: search(room, beams, *given)

    half = copy.deepcopy(model).to(torch.bfloat16)
    found = {PEER: by_marian}
    found |= dict(zip(NAMES, map(ours, (model, twin, half)), strict=True))
    expected = np.asarray(by_marian())
    for name in NAMES[:2]:
        np.testing.assert_array_equal(np.asarray(found[name]()), expected, err_msg=name)
    assert len(np.unique(expected[0])) > TOKENS / 2, "the model repeats itself"
    return found


def rounds(functions: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Milliseconds of processor time of each call, a number for each round after the first."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(ROUNDS + 1):
        for name, call in functions.items():
            start = time.thread_time()
            call()
            if turn:
                times[name].append(round((time.thread_time() - start) * 1000, 1))
    return times


def quality() -> dict[str, float]:
    """BLEU of the shipped model on sentences held back, in float32 and in bfloat16; greedy."""
    pairs = held_back("combination")
    chosen = pairs[:: len(pairs) // SENTENCES][:SENTENCES]
    texts = [" ".join(pair.source) for pair in chosen]
    references = [" ".join(pair.target) for pair in chosen]
    ours: Any = pretrained("torch")
    score = bleu_scorer()
    found = {}
    for name, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        ours.model.to(dtype)
        found[name] = round(score(ours.translate(texts), references)[0], 2)
    return found


def ratio(run: dict[str, Any], name: str) -> float:
    """How many times as fast as Marian: the median of the ratios within the rounds."""
    pairs: Any = zip(run["milliseconds"][PEER], run["milliseconds"][name], strict=True)
    return float(statistics.median(theirs / ours for theirs, ours in pairs))


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    bleu = figures["bleu"]
    lines = [
        "# Decoding: both rooms beside Hugging Face",
        "",
        f"{figures['tokens']} tokens after a source of {figures['source']}, by Marian's `generate`"
        " and by the searches of both rooms, on the same parameters: Marian, torch and NumPy write"
        " the same tokens. Medians of processor time, in milliseconds; in brackets how many times"
        " as fast as Marian, the median of the ratios within the rounds. A load of"
        f" {figures['load']} at the start.",
        "",
        "| search, batch | Marian | torch | NumPy | bfloat16 |",
        "|---|--:|--:|--:|--:|",
    ]
    for run in figures["runs"]:
        beams = "greedy" if run["beams"] == 1 else f"beam {run['beams']}"
        cells = [f"{run['model']}, {beams}, {run['batch']}"]
        cells.append(f"{statistics.median(run['milliseconds'][PEER]):,.0f}")
        for name in NAMES:
            own = statistics.median(run["milliseconds"][name])
            cells.append(f"{own:,.0f} ({ratio(run, name):.2f})")
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(f"- *{name}*: {sizes}" for name, sizes in figures["models"].items())]
    lines += [
        "",
        "*bfloat16* is torch with parameters of that format; its tokens may differ. The model that"
        f" ships, on {figures['sentences']} sentences held back, greedy, has a BLEU of"
        f" {bleu['float32']:.2f} in float32 and of {bleu['bfloat16']:.2f} in bfloat16.",
    ]
    return "\n".join(lines) + "\n"


def sizes_in_words(config: TransformerConfig) -> str:
    return (
        f"d_model {config.d_model}, d_ff {config.d_ff}, {config.n_heads} heads,"
        f" {config.n_layers} + {config.decoder_layers} layers, {config.vocab_size:,} tokens"
    )


def main() -> None:
    torch.set_num_threads(1)
    load = os.getloadavg()[0]
    runs = []
    for name, config, beams, B in RUNS:
        run: dict[str, Any] = {"model": name, "beams": beams, "batch": B}
        run["milliseconds"] = rounds(calls(config, beams, B))
        runs.append(run)
        print(name, beams, B, {n: round(ratio(run, n), 2) for n in NAMES}, flush=True)
    figures: Figures = {
        "load": f"{load:.1f}",
        "tokens": TOKENS,
        "source": SOURCE,
        "models": {name: sizes_in_words(config) for name, config, *_ in RUNS},
        "runs": runs,
        "sentences": SENTENCES,
        "bleu": quality(),
    }
    save_results("decoding", table(figures), figures)
    print(table(figures))


if __name__ == "__main__":
    main()
