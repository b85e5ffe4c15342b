"""The model that ships: how often it is right, where it looks, how fast it is; and its twin.

    python benchmarks/pretrained.py

Writes results/pretrained.json and results/pretrained.md beside this file. The twin is trained here,
by the same recipe on the random split, which takes minutes. One thread.
"""

# ruff: noqa: E402  (the number of threads has to be set before the imports that read it)
from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch
from results import Figures, save_results

from qkv.pretrained import pretrained
from qkv.pretrained.load import DIGEST, MODEL, load_verified
from qkv.translator import Translator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.train_pretrained import DATA, SIZES, TRAINING, figures, held_back, train

ROOMS = ("numpy", "torch")
SENTENCES, TIMES = 300, 5
START = """
import time; start = time.perf_counter()
import {library}; library = time.perf_counter()
from qkv.pretrained import pretrained; pretrained("{room}"); end = time.perf_counter()
print(library - start, end - library)
"""


def size() -> int:
    """Bytes of the files of the model, its early checkpoints left out."""
    files = [MODEL.name, *json.loads(MODEL.read_text())["files"].values()]
    return sum(MODEL.with_name(name).stat().st_size for name in files)


def starts(room: str) -> dict[str, float]:
    """Seconds until the model is there in a fresh process, and until its library is: medians."""
    code = [sys.executable, "-c", START.format(library=room, room=room)]
    runs = [subprocess.check_output(code, text=True).split() for _ in range(TIMES)]
    library, model = (statistics.median(map(float, column)) for column in zip(*runs, strict=True))
    return {"library": library, "model": model}


def speeds(texts: list[str]) -> dict[str, dict[str, float]]:
    """Milliseconds of processor time a sentence, alone and in batches; the rooms take turns."""
    calls: dict[str, Callable[[Translator], object]] = {
        "alone": lambda ours: [ours.translate(text) for text in texts],
        "alone, beam 4": lambda ours: [ours.translate(text, "beam") for text in texts],
        "together": lambda ours: ours.translate(texts),
        "attention": lambda ours: [ours.attention(text) for text in texts],
    }
    times: dict[str, dict[str, list[float]]] = {
        room: {name: [] for name in calls} for room in ROOMS
    }
    for _ in range(TIMES):
        for name, call in calls.items():
            for room in ROOMS:
                ours = pretrained(room)
                start = time.thread_time()
                call(ours)
                times[room][name].append((time.thread_time() - start) * 1000 / len(texts))
    return {
        room: {name: statistics.median(values) for name, values in found.items()}
        for room, found in times.items()
    }


def recipe() -> list[str]:
    """What the recipe says that is not a default, a configuration a line."""
    lines = []
    for config in (DATA, SIZES, TRAINING):
        defaults = asdict(type(config)())
        own = {name: x for name, x in asdict(config).items() if x != defaults[name]}
        words = ", ".join(
            f"{name}={json.dumps(x) if isinstance(x, str) else x}" for name, x in own.items()
        )
        lines.append(f"{type(config).__name__}({words})")
    return lines


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    splits = figures["splits"]
    lines = [
        "# The model that ships",
        "",
        f"{figures['bytes']:,} bytes in all. Made by `python tools/train_pretrained.py`, whose",
        "recipe differs from the defaults of `qkv train` in",
        "",
        *(f"    {line}" for line in recipe()),
        "",
        "Exact match: the share of sentences held back that come out word for word. The random",
        "split's model is a twin, trained for this table alone and not shipped.",
        "",
        "| split | pairs | greedy | beam 4 |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {name} | {found['pairs']:,} | {found['exact match, greedy']:.2%} | "
        f"{found['exact match, beam 4']:.2%} |"
        for name, found in splits.items()
    ]
    wrong = [(name, *row) for name, found in splits.items() for row in found["wrong"]]
    if wrong:
        lines += ["", "<details><summary>What greedy gets wrong</summary>", ""]
        lines += ["| split | English | Korean | said |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(row)} |" for row in wrong] + ["", "</details>"]
    lines += [
        "",
        "Alignment: the share of target words, each said while the largest weight of",
        "cross-attention lies on a source word that the grammar aligns with it (`<eos>` and",
        "articles count as wrong), over all pairs held back. A diagonal is what looking straight",
        "across would reach.",
        "",
        "| largest weight on an aligned word | combination | random |",
        "|---|--:|--:|",
    ]
    for kind in ("alignment", "diagonal"):
        lines += [
            f"| {'weights' if kind == 'alignment' else 'diagonal'}: {name} | "
            + " | ".join(f"{found[kind][name]:.1%}" for found in splits.values())
            + " |"
            for name in splits["combination"][kind]
        ]
    lines += [
        "",
        'Pronouns: the pairs held back that give a reason, as "because it was wide", by the noun',
        "that *it* stands for.",
        "",
        "| right, word for word | combination | random |",
        "|---|--:|--:|",
        "| pairs | " + " | ".join(f"{x['pronouns']['pairs']:,}" for x in splits.values()) + " |",
        "| greedy | "
        + " | ".join(f"{x['pronouns']['exact match, greedy']:.2%}" for x in splits.values())
        + " |",
    ]
    for role in ("subject", "object", "place"):
        shares = [x["pronouns"]["by antecedent"][role]["exact match"] for x in splits.values()]
        lines.append(f"| greedy, *it* is the {role} | {shares[0]:.2%} | {shares[1]:.2%} |")
    lines += [
        "",
        "Encoder heads of the shipped model: the word that the row of *it* is largest on, itself",
        "left out; a share of the same pairs.",
        "",
        "| head | antecedent | other noun | adjective | rest |",
        "|---|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {head} | {' | '.join(f'{share:.1%}' for share in shares.values())} |"
        for head, shares in splits["combination"]["pronouns"]["attention of it"].items()
    ]
    lines += ["", f"Time: {SENTENCES} sentences held back, medians.", ""]
    lines += ["| time | " + " | ".join(ROOMS) + " |", "|---|--:|--:|"]
    for name in ("library", "model"):
        values = " | ".join(f"{figures['starts'][room][name]:.2f}" for room in ROOMS)
        what = "import of the room's library" if name == "library" else "from then to the model"
        lines.append(f"| {what}, s | {values} |")
    for name in figures["speeds"]["numpy"]:
        values = " | ".join(f"{figures['speeds'][room][name]:.2f}" for room in ROOMS)
        lines.append(f"| {name}, ms a sentence | {values} |")
    return "\n".join([*lines, ""])


def main() -> None:
    torch.set_num_threads(1)
    shipped = load_verified(MODEL, DIGEST)
    pairs = held_back("combination")
    splits = {"combination": figures(shipped, pairs)}
    *_, twin = train("random").values()
    splits["random"] = figures(twin, held_back("random"))
    texts = [" ".join(pair.source) for pair in pairs[:: len(pairs) // SENTENCES]][:SENTENCES]
    shown: Figures = {
        "bytes": size(),
        "splits": splits,
        "starts": {room: starts(room) for room in ROOMS},
        "speeds": speeds(texts),
    }
    save_results("pretrained", table(shown), shown)
    print(table(shown))


if __name__ == "__main__":
    main()
