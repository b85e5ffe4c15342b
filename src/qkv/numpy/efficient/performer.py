"""Performer attention in linear time, by random features (FAVOR+)."""

import math

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.checks import check_attention
from qkv.numpy.half_precision import upcast
from qkv.shapes import check_count, check_range

__all__ = ["orthogonal_random_features", "performer_attention"]

BLOCK = 64  # positions at a time in the causal case


def orthogonal_random_features(
    d_k: int,
    n_features: int,
    *,
    rng: np.random.Generator | None = None,
    dtype: DTypeLike = np.float32,
) -> Floats:
    """Draw orthogonal random features: Gaussian directions at right angles, d_k at a time.

    Right angles keep directions from repeating one another, so the error of `performer_attention`
    is smaller than with independent ones. Each direction has a Gaussian vector's length.

    Args:
        d_k: width of queries and keys.
        n_features: how many; the error falls with 1/√n_features.
        rng: draws them; None is a generator of its own.
        dtype: of the directions, and so of q, k and v.
    Returns:
        (d_k, n_features).
    Raises:
        ValueError: a size is no positive whole number.
    Source: Choromanski et al. 2020 (Performer), section 2.4.
    """
    check_count("orthogonal_random_features", d_k=d_k, n_features=n_features)
    rng = rng or np.random.default_rng()
    blocks = -(-n_features // d_k)
    orthogonal, r = np.linalg.qr(rng.standard_normal((blocks, d_k, d_k)))  # (N, d_k, d_k)
    # The signs that QR chooses would leave some directions out: undo its choice.
    orthogonal *= np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None, :]
    lengths = np.sqrt((rng.standard_normal((blocks, d_k, d_k)) ** 2).sum(-1))  # (N, d_k)
    directions = np.concatenate(orthogonal * lengths[:, None, :], axis=-1)  # (d_k, N · d_k)
    return directions[:, :n_features].astype(dtype)  # (d_k, n_features)


def performer_attention(
    q: Floats,
    k: Floats,
    v: Floats,
    features: Floats,
    *,
    mask: Bools | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Floats:
    """Performer attention in linear time: φ(q) (φ(k)ᵀ v) / φ(q) Σ φ(k), about what softmax gives.

    With φ(x) = exp(w · x − |x|²/2) for random directions w, the mean of φ(q) φ(k) is exp(q · k),
    and no feature is negative. All queries share φ(k)ᵀ v, so no (T, S) weights are needed.

    Args:
        q: (B, H, T, d_k) queries; any number of leading axes, also none.
        k: (B, H, S, d_k) keys.
        v: (B, H, S, d_v) values.
        features: (d_k, n_features) directions, as `orthogonal_random_features` draws them.
        mask: bool, broadcast to (B, H, 1, S); True = may attend.
        causal: hide the keys after each query, as `causal_mask(T, S)` does, by prefix sums.
        scale: multiplies q kᵀ, above 0; None means 1/√d_k.
    Returns:
        (B, H, T, d_v) mixed values. A query that may attend to no key gets zeros.
    Raises:
        ValueError: shapes or dtypes do not fit together, or the mask differs between queries.
    Source: Choromanski et al. 2020 (Performer), lemma 1 (softmax kernel).
    """
    call = "performer_attention"
    check_attention(
        call,
        q,
        k,
        v,
        mask,
        None,
        causal=causal,
        mask_spec="bool -> *batch 1 S",
        features=(features, "d_k n_features+"),
    )
    if scale is not None:
        check_range(call, "a number above 0", scale=scale)
    directions = upcast(features)  # exponents and sums outgrow half precision
    root = math.sqrt(1 / math.sqrt(q.shape[-1]) if scale is None else float(scale))
    queries, keys = upcast(q) * root, upcast(k) * root
    # What is the same for all features of a query cancels: |q|²/2, and any peak.
    queries = queries @ directions  # (B, H, T, n_features)
    queries = np.exp(queries - queries.max(-1, keepdims=True))
    exponents = keys @ directions - (keys**2).sum(-1, keepdims=True) / 2  # (B, H, S, n_features)
    if mask is not None:
        key_mask = np.broadcast_to(mask, (*q.shape[:-2], 1, k.shape[-2])).mT  # (B, H, S, 1)
        exponents = np.where(key_mask, exponents, -np.inf)
    # Values and a column of ones: the ones add up to the denominator.
    values = np.concatenate([upcast(v), upcast(np.ones_like(v[..., :1]))], -1)
    lowest = np.finfo(exponents.dtype).min
    if causal:
        sums = _prefix_sums(queries, exponents, values)  # (B, H, T, d_v + 1)
    else:
        peak = exponents.max((-2, -1), keepdims=True, initial=lowest)  # (B, H, 1, 1)
        sums = queries @ (np.exp(exponents - peak).mT @ values)  # (B, H, T, d_v + 1)
    mixed, total = sums[..., :-1], sums[..., -1:]
    out: Floats = mixed / np.where(total > 0, total, 1)  # (B, H, T, d_v)
    return out.astype(q.dtype)


def _prefix_sums(queries: Floats, exponents: Floats, values: Floats) -> Floats:
    """Σ φ(q_i) φ(k_j) v_j over the keys up to each query, a block of positions at a time.

    Each position has the highest exponent so far as its peak, and so knows nothing of later keys.
    """
    T, S = queries.shape[-2], exponents.shape[-2]
    peaks = exponents.max(-1, keepdims=True, initial=np.finfo(exponents.dtype).min)
    peaks = np.maximum.accumulate(peaks, -2)  # (B, H, S, 1)
    keys = np.exp(exponents - peaks)  # (B, H, S, n_features)
    sums = np.zeros((*queries.shape[:-1], values.shape[-1]), queries.dtype)  # (B, H, T, d_v + 1)
    before = np.zeros((*queries.shape[:-2], queries.shape[-1], values.shape[-1]), queries.dtype)
    before_peak = peaks[..., :1, :]  # (B, H, 1, 1)
    for start in range(0, S, BLOCK):
        stop = min(start + BLOCK, S)
        first = max(start, S - T)  # the first position of the block that has a query
        peak, last = peaks[..., start:stop, :], peaks[..., stop - 1 : stop, :]
        if first < stop:
            rows = slice(first - S + T, stop - S + T)
            row_peak = peaks[..., first:stop, :]  # (B, H, R, 1)
            sums[..., rows, :] = (queries[..., rows, :] @ before) * np.exp(before_peak - row_peak)
            visible = np.arange(start, stop) <= np.arange(first, stop)[:, None]  # (R, C)
            decay = np.exp(np.where(visible, peak.mT - row_peak, -np.inf))  # (B, H, R, C)
            pairs = (queries[..., rows, :] @ keys[..., start:stop, :].mT) * decay
            sums[..., rows, :] += pairs @ values[..., start:stop, :]
        decayed = keys[..., start:stop, :] * np.exp(peak - last)  # (B, H, C, n_features)
        before = before * np.exp(before_peak - last) + decayed.mT @ values[..., start:stop, :]
        before_peak = last
    return sums
