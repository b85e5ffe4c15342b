"""NumPy's attention beside torch's, on a CPU: one thread, float32, no weights kept.

    python benchmarks/attention.py      or, all of this folder, make bench

Writes results/attention.json and results/attention.md beside this file. Repetitions of the three
calls take turns in one process, so that a slow moment of the machine meets them all.
"""

# ruff: noqa: E402  (the number of threads has to be set before the imports that read it)
from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import platform
import statistics
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from results import save_results
from torch.nn.attention import SDPBackend, sdpa_kernel

import qkv.numpy as qn

LENGTHS = (128, 256, 512, 1024, 2048)
B, H, D_K = 1, 8, 64
SECONDS = 8.0  # spent on each length


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

    found = {"numpy": numpy, "torch fused": fused, "torch math": spelled_out}
    expected = np.asarray(fused())
    for name, call in found.items():
        np.testing.assert_allclose(np.asarray(call()), expected, atol=1e-5, err_msg=name)
    return found


def medians(functions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median of each call in milliseconds of its thread: a busy machine disturbs it least."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times["numpy"]) < 5:
        for name, call in functions.items():
            start = time.thread_time()
            call()
            times[name].append((time.thread_time() - start) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


def processor() -> str:
    """The processor's own name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    names = info.read_text().splitlines() if info.exists() else []
    found = [line.partition(":")[2].strip() for line in names if line.startswith("model name")]
    return found[0] if found else platform.processor() or platform.machine()


def table(result: dict[str, object], rows: list[dict[str, float]]) -> str:
    """The result in Markdown."""
    lines = [
        "# Attention: NumPy beside torch",
        "",
        f"{result['machine']}, one thread; Python {result['python']}, NumPy {result['numpy']},"
        f" torch {result['torch']}; {result['date']}.",
        f"float32, B = {B}, H = {H}, d_k = {D_K}, no weights kept; medians in milliseconds of"
        " processor time. `python benchmarks/attention.py` measures again.",
        "",
        "| n | qkv.numpy | torch, fused | torch, math | NumPy ÷ fused |",
        "|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row['n']} | {row['numpy']:.2f} | {row['torch fused']:.2f} | {row['torch math']:.2f} "
        f"| {row['numpy'] / row['torch fused']:.2f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    torch.set_num_threads(1)
    rows = []
    for n in LENGTHS:
        rows.append({"n": n} | medians(calls(n)))
        print(*(f"{name} {value:.2f}" for name, value in rows[-1].items()), flush=True)
    result: dict[str, object] = {
        "date": date.today().isoformat(),
        "machine": processor(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
        "setting": {"threads": 1, "dtype": "float32", "B": B, "H": H, "d_k": D_K},
        "milliseconds": rows,
    }
    save_results("attention", table(result, rows), result)


if __name__ == "__main__":
    main()
