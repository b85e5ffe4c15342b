"""NumPy's attention beside torch's, on a CPU: one thread, float32, no weights kept.

    python benchmarks/attention.py      or, all of this folder, make bench

Writes results/attention.json, .md and .svg beside this file. Repetitions of the three
calls take turns in one process, so that a slow moment of the machine meets them all.
"""

# ruff: noqa: E402  (the number of threads has to be set before the imports that read it)
from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from results import Figures, new_figure, save_figure, save_results
from torch.nn.attention import SDPBackend, sdpa_kernel

import qkv.numpy as qn
from qkv.plot import COLOURS

LENGTHS = (128, 256, 512, 1024, 2048, 4096)
B, H, D_K = 1, 8, 64
NAMES_OF_CALLS = ("numpy", "torch fused", "torch math")
RATIO = "NumPy ÷ fused"
SECONDS, ROUNDS = 8.0, 9  # spent on each length, at least


def calls(n: int) -> dict[str, Callable[[], object]]:
    """The same attention three times, checked to agree."""
    q, k, v = np.random.default_rng(n).standard_normal((3, B, H, n, D_K), dtype=np.float32)
    tq, tk, tv = (torch.from_numpy(x) for x in (q, k, v))

    def numpy() -> object:
        return qn.scaled_dot_product_attention(q, k, v, need_weights=False)[0]

    def fused() -> object:
        return F.scaled_dot_product_attention(tq, tk, tv)

    def spelled_out() -> object:
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(tq, tk, tv)

    found = dict(zip(NAMES_OF_CALLS, (numpy, fused, spelled_out), strict=True))
    expected = np.asarray(fused())
    for name, call in found.items():
        np.testing.assert_allclose(np.asarray(call()), expected, atol=1e-5, err_msg=name)
    return found


def medians(functions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median of each call and of the ratios: a busy machine disturbs it least."""
    rounds: list[dict[str, float]] = []
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(rounds) < ROUNDS:
        rounds.append({name: milliseconds(call) for name, call in functions.items()})
    found = {name: statistics.median(times[name] for times in rounds) for name in functions}
    ratios = (times["numpy"] / times["torch fused"] for times in rounds)
    return found | {RATIO: statistics.median(ratios)}


def milliseconds(call: Callable[[], object]) -> float:
    """Processor time of one call, in its thread."""
    start = time.thread_time()
    call()
    return (time.thread_time() - start) * 1000


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    rows = figures["milliseconds"]
    first, before, last = rows[0], rows[-2], rows[-1]
    growth = ", ".join(f"{name} {last[name] / before[name]:.1f}" for name in NAMES_OF_CALLS)
    ends = "; ".join(
        f"{name} from {first[name]:.2f} to {last[name]:.0f} ms" for name in NAMES_OF_CALLS
    )
    lines = [
        "# Attention: NumPy beside PyTorch",
        "",
        f"float32, B = {B}, H = {H}, d_k = {D_K}, no weights kept; medians, in milliseconds of"
        " processor time. *Fused* is the kernel that PyTorch takes where weights are not needed,"
        " *math* the same formula, one operation after the other. The last column is the median of"
        " the ratios within rounds.",
        "",
        f"![Milliseconds against n, both axes logarithmic, three rising lines: {ends}]"
        "(attention.svg)",
        "",
        f"From n = {before['n']} to {last['n']} there are"
        f" {(last['n'] / before['n']) ** 2:.0f} times as many pairs of query and key. The times"
        f" grow by these factors: {growth}.",
        "",
        f"| n | qkv.numpy | torch, fused | torch, math | {RATIO} |",
        "|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row['n']} | {row['numpy']:.2f} | {row['torch fused']:.2f} | {row['torch math']:.2f} "
        f"| {row[RATIO]:.2f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def draw(figures: Figures) -> None:
    """Time against n, each call's name beside its end."""
    figure, ax = new_figure()
    rows = figures["milliseconds"]
    lengths = [row["n"] for row in rows]
    looks = zip(NAMES_OF_CALLS, ("ink", "ochre", "grey"), (4, -6, 4), strict=True)
    for name, colour, above in looks:
        times = [row[name] for row in rows]
        ax.loglog(lengths, times, marker="o", markersize=4, color=COLOURS[colour])
        ax.annotate(
            name,
            (lengths[-1], times[-1]),
            (8, above),
            textcoords="offset points",
            va="center",
            color=COLOURS[colour],
        )
    ax.set(xlabel="n, queries and keys", ylabel="milliseconds", xlim=(110, 10_500))
    ax.set_xticks(lengths, [str(n) for n in lengths])
    ax.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    ax.minorticks_off()
    save_figure("attention", figure)


def main() -> None:
    torch.set_num_threads(1)
    rows = []
    for n in LENGTHS:
        rows.append({"n": n} | medians(calls(n)))
        print(*(f"{name} {value:.2f}" for name, value in rows[-1].items()), flush=True)
    figures = {
        "setting": {"dtype": "float32", "B": B, "H": H, "d_k": D_K},
        "milliseconds": rows,
    }
    save_results("attention", table(figures), figures)
    draw(figures)


if __name__ == "__main__":
    main()
