"""Which sizes of block the kernels are launched with, and on how many programs."""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
from torch import Tensor

from qkv.torch.efficient.triton_attention.backward import (
    attend_backward_keys,
    attend_backward_queries,
    mean_gradients,
)
from qkv.torch.efficient.triton_attention.forward import attend

__all__ = ["INTERPRETED", "backward", "forward"]

INTERPRETED = not isinstance(attend, triton.JITFunction)  # TRITON_INTERPRET=1: on a CPU, by NumPy
SMALL = {"R": 32, "C": 32, "num_stages": 2}  # on chip, it fits each width in float32 too
LONG = 1024  # rows from which on it pays to try several sizes once


def configurations(*sizes: tuple[int, int, int, int]) -> list[triton.Config]:
    """Configurations of (R, C, num_warps, num_stages)."""
    return [
        triton.Config({"R": rows, "C": cols}, num_warps=warps, num_stages=stages)
        for rows, cols, warps, stages in sizes
    ]


def tuned(kernel: Any, *sizes: tuple[int, int, int, int]) -> Any:
    """A kernel that times these sizes at its first call with given widths, mask and dtypes."""
    return triton.autotune(configurations(*sizes), key=["D_K", "D_V", "CAUSAL"])(kernel)


# The block that is held is large, the one that comes and goes small: registers hold both.
TUNED = {
    attend: tuned(
        attend,
        (128, 128, 8, 3),
        (128, 64, 8, 3),
        (128, 64, 4, 3),
        (128, 32, 4, 4),
        (64, 64, 4, 3),
    ),
    attend_backward_queries: tuned(
        attend_backward_queries,
        (128, 128, 8, 2),
        (128, 64, 8, 3),
        (128, 32, 8, 3),
        (64, 64, 4, 3),
        (64, 32, 4, 3),
    ),
    attend_backward_keys: tuned(
        attend_backward_keys,
        (64, 128, 8, 2),
        (32, 128, 8, 3),
        (64, 64, 8, 2),
        (64, 64, 4, 3),
        (32, 64, 4, 3),
    ),
}


def forward(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Mixed values (N, T, d_v), peaks and totals (N, T) in float32, of contiguous arrays."""
    out = torch.empty((*q.shape[:-1], v.shape[-1]), dtype=q.dtype, device=q.device)
    peaks, totals = torch.empty((2, *q.shape[:-1]), dtype=torch.float32, device=q.device)
    sizes = _sizes(q, k, v, causal)
    _run(attend, q, "R", q, k, v, mask, out, peaks, totals, factor=_base_two(scale), **sizes)
    return out, peaks, totals


def backward(
    dout: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    out: Tensor,
    peaks: Tensor,
    totals: Tensor,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q, k and v, from what the forward returned."""
    dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
    means = torch.empty_like(totals)
    sizes = _sizes(q, k, v, causal)
    width = {name: sizes[name] for name in ("T", "D_V", "WIDTH_V")}
    _run(mean_gradients, q, "R", dout, out, totals, means, **width)
    scales = {"scale": scale, "factor": _base_two(scale)}
    shared = (dout, q, k, v, mask, peaks, totals, means)
    _run(attend_backward_queries, q, "R", *shared, dq, **scales, **sizes)
    _run(attend_backward_keys, k, "C", *shared, dk, dv, **scales, **sizes)
    return dq, dk, dv


def _base_two(scale: float) -> float:
    """The factor of scores in units of log 2."""
    return scale * math.log2(math.e)


def _sizes(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> dict[str, int | bool]:
    """The kernels' sizes; a product on chip is at least 16 wide."""
    d_k, d_v = q.shape[-1], v.shape[-1]
    return {
        "T": q.shape[-2],
        "S": k.shape[-2],
        "D_K": d_k,
        "D_V": d_v,
        "WIDTH_K": max(16, triton.next_power_of_2(d_k)),
        "WIDTH_V": max(16, triton.next_power_of_2(d_v)),
        "CAUSAL": causal,
    }


def _run(kernel: Any, held: Tensor, block: str, *arrays: Tensor | None, **sizes: Any) -> None:
    """Launch a kernel with a program for each block of `held`, whose rows are `block` at a time."""
    N, n_rows, _ = held.shape
    tunable = kernel in TUNED and held.element_size() == 2 and not INTERPRETED
    if tunable and n_rows >= LONG:
        kernel = TUNED[kernel]
    else:
        sizes |= {name: size for name, size in SMALL.items() if name != "C" or kernel in TUNED}

    def grid(chosen: dict[str, Any]) -> tuple[int]:
        return (N * triton.cdiv(n_rows, chosen[block]),)

    with torch.cuda.device_of(held):  # Triton launches on the current device
        kernel[grid](*arrays, **sizes, enable_fp_fusion=True)  # s · factor − peak in one step
