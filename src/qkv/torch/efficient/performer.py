"""Performer attention in linear time, by random features (FAVOR+)."""

import math

import torch
from torch import Tensor

from qkv.shapes import check_count, check_range
from qkv.torch.checks import check_attention, check_shapes
from qkv.torch.efficient.linformer import cast_like_autocast
from qkv.torch.half_precision import upcast

__all__ = ["orthogonal_random_features", "performer_attention"]

BLOCK = 64  # positions at a time in the causal case


def orthogonal_random_features(
    d_k: int,
    n_features: int,
    *,
    rng: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Draw orthogonal random features: Gaussian directions at right angles, d_k at a time.

    As `qkv.numpy.orthogonal_random_features`, with:
        rng: draws them; None is torch's own generator.
        dtype: of the directions, and so of q, k and v; None is torch's default.
        device: of the directions.
    """
    check_count("orthogonal_random_features", d_k=d_k, n_features=n_features)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    blocks = -(-n_features // d_k)
    draw_device = "cpu" if rng is None else rng.device  # so that every device gets the same ones
    first, second = torch.randn(
        2, blocks, d_k, d_k, generator=rng, device=draw_device, dtype=torch.float64
    )
    orthogonal, r = torch.linalg.qr(first)  # (N, d_k, d_k)
    # The signs that QR chooses would leave some directions out: undo its choice.
    orthogonal = orthogonal * r.diagonal(dim1=-2, dim2=-1).sign()[:, None, :]
    lengths = second.norm(dim=-1)  # (N, d_k)
    directions = torch.cat(list(orthogonal * lengths[:, None, :]), -1)  # (d_k, N · d_k)
    return directions[:, :n_features].to(device=device, dtype=dtype)  # (d_k, n_features)


def performer_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    features: Tensor,
    *,
    mask: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Performer attention in linear time: φ(q) (φ(k)ᵀ v) / φ(q) Σ φ(k), about what softmax gives.

    As `qkv.numpy.performer_attention`.
    """
    call = "performer_attention"
    check_attention(call, q, k, v, mask, None, causal=causal, mask_spec="bool -> *batch 1 S")
    (features,) = cast_like_autocast(q, features)
    check_shapes(call, q=(q, "*batch T d_k"), features=(features, "d_k n_features+"))
    if scale is not None:
        check_range(call, "a number above 0", scale=scale)
    if k.shape[-2] == 0:
        return ((q @ k.mT) @ v).to(q.dtype)  # zeros: there is no peak of nothing
    directions = upcast(features)  # exponents and sums outgrow half precision
    root = math.sqrt(1 / math.sqrt(q.shape[-1]) if scale is None else float(scale))
    queries, keys = upcast(q) * root, upcast(k) * root
    # What is the same for all features of a query cancels: |q|²/2, and any peak.
    queries = queries @ directions  # (B, H, T, n_features)
    queries = torch.exp(queries - queries.amax(-1, keepdim=True).detach())
    squares = keys.square().sum(-1, keepdim=True)  # (B, H, S, 1)
    exponents = keys @ directions - squares / 2  # (B, H, S, n_features)
    if mask is not None:
        key_mask = mask.expand(*q.shape[:-2], 1, k.shape[-2]).mT  # (B, H, S, 1)
        exponents = exponents.masked_fill(~key_mask, -torch.inf)
    # Values and a column of ones: the ones add up to the denominator.
    values = torch.cat([v, torch.ones_like(k[..., :1])], -1).to(exponents.dtype)
    queries = queries.to(exponents.dtype)  # under autocast, products are narrower than sums
    peaks = exponents.detach().amax(-1, keepdim=True)  # (B, H, S, 1)
    peaks = peaks.clamp(min=torch.finfo(peaks.dtype).min)
    if causal:
        sums = _prefix_sums(queries, exponents, values, peaks.cummax(-2).values)
    else:
        keys = torch.exp(exponents - peaks.amax(-2, keepdim=True))  # (B, H, S, n_features)
        sums = queries @ (keys.mT @ values)  # (B, H, T, d_v + 1)
    mixed, total = sums[..., :-1], sums[..., -1:]
    return (mixed / torch.where(total > 0, total, 1)).to(q.dtype)  # (B, H, T, d_v)


def _prefix_sums(queries: Tensor, exponents: Tensor, values: Tensor, peaks: Tensor) -> Tensor:
    """Σ φ(q_i) φ(k_j) v_j over the keys up to each query, a block of positions at a time.

    Each position has the highest exponent so far as its peak, and so knows nothing of later keys.
    """
    T, S = queries.shape[-2], exponents.shape[-2]
    keys = torch.exp(exponents - peaks)  # (B, H, S, n_features)
    place = torch.arange(S, device=queries.device)
    before = keys[..., :0, :].mT @ values[..., :0, :]  # (B, H, n_features, d_v + 1), zeros
    before_peak = peaks[..., :1, :]  # (B, H, 1, 1)
    sums = [queries[..., :0, :] @ before]
    for start in range(0, S, BLOCK):
        stop = min(start + BLOCK, S)
        first = max(start, S - T)  # the first position of the block that has a query
        peak, last = peaks[..., start:stop, :], peaks[..., stop - 1 : stop, :]
        if first < stop:
            rows = queries[..., first - S + T : stop - S + T, :]  # (B, H, R, n_features)
            row_peak = peaks[..., first:stop, :]  # (B, H, R, 1)
            visible = place[start:stop] <= place[first:stop, None]  # (R, C)
            exponent = (peak.mT - row_peak).masked_fill(~visible, -torch.inf)
            decay = torch.exp(exponent)  # (B, H, R, C)
            pairs = (rows @ keys[..., start:stop, :].mT) * decay
            earlier = (rows @ before) * torch.exp(before_peak - row_peak)
            sums.append(earlier + pairs @ values[..., start:stop, :])  # (B, H, R, d_v + 1)
        decayed = keys[..., start:stop, :] * torch.exp(peak - last)  # (B, H, C, n_features)
        before = before * torch.exp(before_peak - last) + decayed.mT @ values[..., start:stop, :]
        before_peak = last
    return torch.cat(sums, -2)  # (B, H, T, d_v + 1)
