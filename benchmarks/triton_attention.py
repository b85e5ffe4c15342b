"""The Triton kernel beside PyTorch's fused kernels, forward and backward, on a GPU.

    python benchmarks/triton_attention.py      or, all of this folder, make bench

Without a GPU nothing is measured and nothing is written. The calls that are compared take turns in
one process, so that a change of the GPU's clock meets them all. Shares are of speed: of each fused
kernel's, and of a large matrix product's on the same GPU. Writes results/triton_attention.json and
results/triton_attention.md beside this file.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from results import save_results
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from qkv.torch.efficient import triton_attention

LENGTHS = (1024, 2048, 4096, 8192, 16384)
WIDTHS = (64, 128)
DTYPES = ("float16", "bfloat16")
TOKENS, D_MODEL = 16384, 2048  # the same for all lengths and widths: B · n and H · d_k
ROUNDS, WARM_UP = 20, 3
CALLS = 5  # in a row, so that the GPU need not wait for Python
OURS = "Triton"
FUSED = {
    "default": None,  # what PyTorch itself chooses
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}
CLOSE = 2e-2  # of the largest number, in bfloat16
PRODUCT = 8192  # rows and columns of the matrices whose product is timed

Call = Callable[[], object]
Inputs = tuple[Tensor, Tensor, Tensor]


def milliseconds(calls: dict[str, Call]) -> dict[str, float]:
    """The median time of each call on the GPU; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(WARM_UP + ROUNDS):
        for name, call in calls.items():
            start, end = _event(), _event()
            start.record()
            for _ in range(CALLS):
                call()
            end.record()
            end.synchronize()
            if turn >= WARM_UP:
                times[name].append(start.elapsed_time(end) / CALLS)
    return {name: statistics.median(values) for name, values in times.items()}


def _event() -> Any:
    event: Any = torch.cuda.Event
    return event(enable_timing=True)


def fused(inputs: Inputs, causal: bool, backend: SDPBackend | None) -> Tensor:
    q, k, v = inputs
    with nullcontext() if backend is None else sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def attentions(inputs: Inputs, causal: bool) -> dict[str, Callable[[], Tensor]]:
    """Each way to call attention that this GPU and this PyTorch know, checked to agree."""
    ways: dict[str, Callable[[], Tensor]] = {
        OURS: lambda: triton_attention(*inputs, causal=causal),
        **{name: partial(fused, inputs, causal, backend) for name, backend in FUSED.items()},
    }
    expected = ways["default"]().float()
    for name, way in list(ways.items()):
        try:
            out = way().float()
        except RuntimeError:
            if name == OURS:
                raise
            del ways[name]  # no such kernel here
            continue
        error = (out - expected).abs().max() / expected.abs().max()
        assert error < CLOSE, f"{name}: {error:.1e}"
    return ways


def both_directions(n: int, d_k: int, causal: bool, dtype: str) -> list[dict[str, Any]]:
    """Milliseconds and operations a second, forward and backward."""
    shape = (TOKENS // n, D_MODEL // d_k, n, d_k)
    q, k, v, dout = torch.randn((4, *shape), dtype=getattr(torch, dtype), device="cuda")
    inputs = q.requires_grad_(), k.requires_grad_(), v.requires_grad_()
    ways = attentions(inputs, causal)
    outs = {name: way() for name, way in ways.items()}

    def backward(name: str) -> Call:
        return lambda: torch.autograd.grad(outs[name], inputs, dout, retain_graph=True)

    products = TOKENS * D_MODEL * n * (1 if causal else 2)  # of one T × S product, in operations
    rows = []
    for direction, calls, count in (
        ("forward", ways, 2),  # scores, mix
        ("backward", {name: backward(name) for name in ways}, 5),  # scores, dv, dweights, dq, dk
    ):
        times = milliseconds(dict(calls))
        rate = {name: count * products / time / 1e9 for name, time in times.items()}  # TFLOP/s
        setting = {"direction": direction, "n": n, "d_k": d_k, "causal": causal, "dtype": dtype}
        rows.append({**setting, "milliseconds": times, "tflops": rate})
    return rows


def product_rate(dtype: str) -> float:
    """TFLOP/s of a large matrix product."""
    a, b = torch.randn((2, PRODUCT, PRODUCT), dtype=getattr(torch, dtype), device="cuda")
    (time,) = milliseconds({"product": lambda: a @ b}).values()
    return 2 * PRODUCT**3 / time / 1e9


def table(figures: dict[str, Any]) -> str:
    """The figures in Markdown; a share above 100 % is faster."""
    sizes = figures["sizes"]
    products = ", ".join(f"{rate:.0f} in {name}" for name, rate in figures["products"].items())
    lines = [
        "# The Triton kernel beside PyTorch's fused kernels",
        "",
        f"B · n = {sizes['tokens']:,}, H · d_k = {sizes['d_model']:,}; medians of"
        f" {sizes['rounds']} interleaved rounds. A product of two {sizes['product']:,} ×"
        f" {sizes['product']:,} matrices runs at (TFLOP/s) {products}. Under causal half of the"
        " operations are counted.",
        "",
        "| direction | dtype | d_k | causal | n | Triton, ms | Triton, TFLOP/s | of the product |"
        " of PyTorch's choice | of flash | of cuDNN |",
        "|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in figures["rows"]:
        rates, times = row["tflops"], row["milliseconds"]
        shares = (
            f"{rates[OURS] / rates[name]:.0%}" if name in rates else "not here" for name in FUSED
        )
        cells = (
            row["direction"],
            row["dtype"],
            row["d_k"],
            "yes" if row["causal"] else "no",
            row["n"],
            f"{times[OURS]:.3f}",
            f"{rates[OURS]:.0f}",
            f"{rates[OURS] / figures['products'][row['dtype']]:.0%}",
            *shares,
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    if not torch.cuda.is_available():
        print("There is no NVIDIA GPU here. Nothing was measured.")
        return
    rows = []
    for dtype in DTYPES:
        for d_k in WIDTHS:
            for causal in (False, True):
                for n in LENGTHS:
                    rows += both_directions(n, d_k, causal, dtype)
                    for row in rows[-2:]:
                        print(*row.values(), flush=True)
    sizes = {"tokens": TOKENS, "d_model": D_MODEL, "rounds": ROUNDS, "product": PRODUCT}
    products = {dtype: product_rate(dtype) for dtype in DTYPES}
    figures = {"sizes": sizes, "products": products, "rows": rows}
    save_results("triton_attention", table(figures), figures)


if __name__ == "__main__":
    main()
