"""Blockwise attention with online softmax in one kernel, written in Triton."""

import math
from typing import Any

import torch
from torch import Tensor

from qkv.torch.checks import check_attention, under_autocast

__all__ = ["triton_attention"]

CALL = "triton_attention"
DTYPES = (torch.float16, torch.bfloat16, torch.float32)
WIDEST = 128


def triton_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Blockwise attention as a GPU kernel: what `blockwise_attention` computes, on chip.

    A program of the forward kernel holds a block of queries, and online softmax takes in one block
    of keys after another; the weights are never in memory. The backward computes them anew, for
    each block of queries and for each block of keys. Needs Triton, `pip install 'qkv[triton]'`.

    Scores and sums are float32; weights are rounded to the dtype of the values before they meet
    them. Under autocast everything is in its dtype. In 16 bits, the first call with 1,024 tokens
    or more tries several sizes of block. With `TRITON_INTERPRET=1` it runs on a CPU, slowly.

    Args:
        q: (B, H, T, d_k) queries in float16, bfloat16 or float32; any number of leading axes.
        k: (B, H, S, d_k) keys.
        v: (B, H, S, d_v) values; d_k and d_v are at most 128; powers of two waste nothing.
        mask: bool, broadcast to (B, H, 1, S), the same for all queries; True = may attend.
        causal: hide the keys after each query, as `causal_mask(T, S)` does.
        scale: multiplies q kᵀ; None means 1/√d_k.
    Returns:
        (B, H, T, d_v) mixed values. A query that may attend to no key gets zeros, and no gradient
        flows through it.
    Raises:
        ImportError: there is no Triton.
        NotImplementedError: in the backward with `create_graph=True`.
        ValueError: shapes or dtypes do not fit together; the mask differs between queries; the
            tensors are on a CPU without the interpreter, or not on one device.
    Source: Dao et al. 2022 (FlashAttention), algorithms 1 and 4; Dao 2023 (FlashAttention-2).
    """
    check_attention(
        CALL, q, k, v, mask, None, scale=scale, causal=causal, mask_spec="bool -> *batch 1 S"
    )
    if under_autocast(q):
        dtype = torch.get_autocast_dtype(q.device.type)
        q, k, v = q.to(dtype), k.to(dtype), v.to(dtype)
    _check_kernel_takes(q, k, v, mask)
    N = math.prod(q.shape[:-2])
    if mask is not None:
        mask = mask.expand(*k.shape[:-2], 1, k.shape[-2]).reshape(N, k.shape[-2])  # (N, S)
    flat = (x.reshape(N, *x.shape[-2:]) for x in (q, k, v))  # (N, T, d_k), (N, S, d_k), (N, S, d_v)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    apply: Any = _TritonAttention.apply
    out: Tensor = apply(*flat, mask, causal, scale)
    return out.reshape(*q.shape[:-1], v.shape[-1])


class _TritonAttention(torch.autograd.Function):
    """The kernels, for arrays with one leading axis."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float
    ) -> Tensor:
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        out: Tensor
        out, peaks, totals = _launch().forward(q, k, v, mask, causal, scale)
        ctx.save_for_backward(q, k, v, mask, out, peaks, totals)
        ctx.causal, ctx.scale = causal, scale
        return out

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # create_graph=True: a kernel leaves no graph
            raise NotImplementedError(
                f"{CALL}: it has no gradients of gradients: call blockwise_attention"
            )
        gradients = _launch().backward(dout.contiguous(), *ctx.saved_tensors, ctx.causal, ctx.scale)
        return *gradients, None, None, None


def _launch() -> Any:
    """The module that imports Triton."""
    try:
        from qkv.torch.efficient.triton_attention import launch
    except ImportError as error:
        hint = "pip install 'qkv[triton]' (on Linux), or call blockwise_attention"
        raise ImportError(f"{CALL} needs Triton: {hint}") from error
    return launch


def _check_kernel_takes(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    """Refuse dtypes, widths and devices that the kernels do not take."""
    if q.dtype not in DTYPES:
        names = "float16, bfloat16 or float32"
        came = str(q.dtype).removeprefix("torch.")
        raise ValueError(f"{CALL}: q must be {names}, got {came}: blockwise_attention takes it")
    for symbol, x in (("d_k", q), ("d_v", v)):
        if x.shape[-1] > WIDEST:
            raise ValueError(
                f"{CALL}: {symbol} must be at most {WIDEST}, got {x.shape[-1]}: "
                "a block of it has to fit on chip; split it into heads"
            )
    for name, other in (("k", k), ("v", v), ("mask", mask)):
        if other is not None and other.device != q.device:
            raise ValueError(
                f"{CALL}: {name} must be on {q.device} as q is, got {other.device}: move it"
            )
    interpreted = _launch().INTERPRETED
    if interpreted and q.dtype == torch.bfloat16:
        raise ValueError(
            f"{CALL}: q must be float16 or float32, got bfloat16: "
            "Triton's interpreter computes bfloat16 wrongly"
        )
    if not interpreted and q.device.type in ("cpu", "meta"):
        raise ValueError(
            f"{CALL}: q must be on a GPU, got {q.device}: call blockwise_attention, or set "
            "TRITON_INTERPRET=1 before Python starts"
        )
