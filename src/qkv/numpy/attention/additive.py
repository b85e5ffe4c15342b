"""Additive attention, with a learnt score (Bahdanau), the older kind, and its backward."""

import numpy as np

from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.attention.scaled_dot_product import unbroadcast
from qkv.numpy.attention.softmax import softmax_backward_formula, softmax_in_place
from qkv.numpy.checks import check_attention
from qkv.numpy.half_precision import is_half, run_in_float32

__all__ = ["additive_attention", "additive_attention_backward"]


def additive_attention(
    q: Floats,
    k: Floats,
    v: Floats,
    w_q: Floats,
    w_k: Floats,
    w_s: Floats,
    *,
    mask: Bools | None = None,
    bias: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Additive attention, by a learnt score: softmax(w_s · tanh(q w_q + k w_k) + bias) v.

    Args:
        q: (B, H, T, d_q) queries; any number of leading axes, also none.
        k: (B, H, S, d_k) keys; d_k may differ from d_q.
        v: (B, H, S, d_v) values.
        w_q, w_k, w_s: (d_q, d_a), (d_k, d_a) and (d_a,) parameters of the score.
        mask: bool, broadcast to (B, H, T, S); True = may attend.
        bias: float, broadcast to (B, H, T, S); added to the scores.
    Returns:
        (B, H, T, d_v) mixed values, and the (B, H, T, S) weights.
        A query that may attend to no key gets zeros. Half precision is computed in float32.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    Source: Bahdanau, Cho and Bengio 2015, appendix A.1.2.
    """
    check_attention(
        "additive_attention",
        q,
        k,
        v,
        mask,
        bias,
        d_q="d_q",
        w_q=(w_q, "d_q d_a"),
        w_k=(w_k, "d_k d_a"),
        w_s=(w_s, "d_a"),
    )
    if is_half(q):
        return run_in_float32(_formula, q, k, v, w_q, w_k, w_s, mask, bias)
    return _formula(q, k, v, w_q, w_k, w_s, mask, bias)


def _formula(
    q: Floats,
    k: Floats,
    v: Floats,
    w_q: Floats,
    w_k: Floats,
    w_s: Floats,
    mask: Bools | None,
    bias: Floats | None,
) -> tuple[Floats, Floats]:
    """Additive attention: softmax(w_s · tanh(q w_q + k w_k) + bias) v, and the weights."""
    scores = _hidden(q, k, w_q, w_k) @ w_s  # (B, H, T, S)
    if bias is not None:
        scores += bias
    if mask is not None:
        np.copyto(scores, -np.inf, where=~mask)
    weights = softmax_in_place(scores)  # (B, H, T, S)
    return weights @ v, weights  # (B, H, T, d_v)


def _hidden(q: Floats, k: Floats, w_q: Floats, w_k: Floats) -> Floats:
    """Hidden layer of the additive score, one vector for each pair: tanh(q w_q + k w_k)."""
    queries = (q @ w_q)[..., :, None, :]  # (B, H, T, 1, d_a)
    keys = (k @ w_k)[..., None, :, :]  # (B, H, 1, S, d_a)
    return np.tanh(queries + keys)  # (B, H, T, S, d_a)


def additive_attention_backward(
    dout: Floats,
    q: Floats,
    k: Floats,
    v: Floats,
    w_q: Floats,
    w_k: Floats,
    w_s: Floats,
    *,
    mask: Bools | None = None,
    bias: Floats | None = None,
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats | None]:
    """Backward of additive attention.

    Args:
        dout: (B, H, T, d_v) gradient with respect to the output.
        q, k, v, w_q, w_k, w_s, mask, bias: as the forward took them.
    Returns:
        Gradients in the shapes of q, k, v, w_q, w_k, w_s and bias; the last is None without a bias.
        Half precision is computed in float32.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    """
    call = "additive_attention_backward"
    check_attention(
        call,
        q,
        k,
        v,
        mask,
        bias,
        d_q="d_q",
        w_q=(w_q, "d_q d_a"),
        w_k=(w_k, "d_k d_a"),
        w_s=(w_s, "d_a"),
        dout=(dout, "*batch T d_v"),
    )
    if is_half(q):
        return run_in_float32(_backward_formula, dout, q, k, v, w_q, w_k, w_s, mask, bias)
    return _backward_formula(dout, q, k, v, w_q, w_k, w_s, mask, bias)


def _backward_formula(
    dout: Floats,
    q: Floats,
    k: Floats,
    v: Floats,
    w_q: Floats,
    w_k: Floats,
    w_s: Floats,
    mask: Bools | None,
    bias: Floats | None,
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats | None]:
    """Back along the steps of the formula, which is run again for its weights."""
    _, weights = _formula(q, k, v, w_q, w_k, w_s, mask, bias)
    hidden = _hidden(q, k, w_q, w_k)  # (B, H, T, S, d_a)
    dv = weights.mT @ dout  # (B, H, S, d_v)
    dscores = softmax_backward_formula(dout @ v.mT, weights)  # (B, H, T, S)
    dsum = dscores[..., None] * w_s * (1 - hidden**2)  # (B, H, T, S, d_a)
    dqueries, dkeys = dsum.sum(-2), dsum.sum(-3)  # (B, H, T, d_a), (B, H, S, d_a)
    dq = dqueries @ w_q.T  # (B, H, T, d_q)
    dk = dkeys @ w_k.T  # (B, H, S, d_k)
    dw_q = _rows(q).T @ _rows(dqueries)  # (d_q, d_a)
    dw_k = _rows(k).T @ _rows(dkeys)  # (d_k, d_a)
    dw_s = _rows(hidden).T @ dscores.reshape(-1)  # (d_a,)
    return dq, dk, dv, dw_q, dw_k, dw_s, None if bias is None else unbroadcast(dscores, bias.shape)


def _rows(x: Floats) -> Floats:
    """Flatten a batch to (N, width): all vectors share the parameters, so gradients add up."""
    return x.reshape(-1, x.shape[-1])
