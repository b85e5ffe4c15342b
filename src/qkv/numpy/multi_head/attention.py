"""Multi-head attention: several attentions in parallel, context by one projection."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.attention.scaled_dot_product import attend, attend_backward
from qkv.numpy.checks import check_multi_head, check_shapes, checked_by
from qkv.numpy.layer import Layer
from qkv.numpy.linear import Linear
from qkv.numpy.multi_head.heads import (
    group_heads,
    join_beams,
    merge_heads_formula,
    part_beams,
    share_heads,
    split_heads_formula,
    ungroup_heads,
)
from qkv.numpy.multi_head.key_value_cache import KeyValueCache
from qkv.numpy.positional import rotate_pairs
from qkv.shapes.multi_head import head_sizes, source_widths

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention(Layer):
    """Multi-head attention: Concat(head₁ …) W_O, each head in a part of the width.

    Args:
        d_model: width of x and of the output.
        n_heads: number of heads.
        d_k: width of a head's queries and keys; None means d_model / n_heads.
        d_v: width of a head's values; None means d_k.
        bias: add one to each of the four projections.
        n_kv_heads: number of heads of keys and values, each of which serves n_heads / n_kv_heads
            heads of queries in turn; None means n_heads, and 1 is multi-query attention.
        rotary: rotate queries and keys by their positions (RoPE).
        kdim, vdim: widths of what keys and values are made of; None means d_model.
        rng: draws the weights; None is a generator of its own.
        dtype: of the parameters, and so of what the layer takes.
    Raises:
        ValueError: the sizes do not fit together.
    Source: Vaswani et al. 2017, section 3.2.2; Shazeer 2019 (multi-query); Ainslie et al. 2023
        (grouped); Su et al. 2021 (rotary).
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool = True,
        *,
        n_kv_heads: int | None = None,
        rotary: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        d_k, d_v, n_kv_heads = head_sizes(
            "MultiHeadAttention", d_model, n_heads, d_k, d_v, n_kv_heads, rotary
        )
        self.sizes = d_model, n_heads, n_kv_heads, d_k, d_v
        self.widths = source_widths("MultiHeadAttention", d_model, kdim, vdim, rotary)
        self.rotary = rotary
        rng = rng or np.random.default_rng()
        # The paper's n_heads matrices, d_model × d_k each, stand side by side in one.
        self.w_q = Linear(d_model, n_heads * d_k, bias, rng=rng, dtype=dtype)
        self.w_k = Linear(self.widths[0], n_kv_heads * d_k, bias, rng=rng, dtype=dtype)
        self.w_v = Linear(self.widths[1], n_kv_heads * d_v, bias, rng=rng, dtype=dtype)
        self.w_o = Linear(n_heads * d_v, d_model, bias, rng=rng, dtype=dtype)

    def _check_inputs(
        self,
        call: str,
        x: Floats,
        memory: Floats | None = None,
        value: Floats | None = None,
        *,
        mask: Bools | None = None,
        bias: Floats | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
        need_weights: bool = False,
        **options: Any,
    ) -> None:
        """Refuse what this attention cannot use, in the name of a call of it or around it."""
        check_multi_head(
            call,
            x,
            memory,
            value,
            mask,
            bias,
            cache,
            parameter=self.w_q.params["weight"],
            sizes=self.sizes,
            widths=self.widths,
            causal=causal,
            rotary=self.rotary,
            training=self.training,
            **options,
        )

    @checked_by(_check_inputs, "MultiHeadAttention")
    def __call__(
        self,
        x: Floats,
        memory: Floats | None = None,
        value: Floats | None = None,
        *,
        mask: Bools | None = None,
        bias: Floats | None = None,
        causal: bool = False,
        need_weights: bool = False,
        cache: KeyValueCache | None = None,
    ) -> tuple[Floats, Floats | None]:
        """Self-attention of x; or cross-attention, where a memory gives the keys.

        Args:
            x: (B, T, d_model), of which the queries are made.
            memory: (B, S, kdim), of which keys and values are made; None means x.
            value: (B, S, vdim), of which the values are made; None means the memory.
            mask: bool, broadcast to (B, H, T, S); True = may attend.
            bias: float, broadcast to (B, H, T, S); added to the scores, and taken as given: the
                backward computes no gradient for it.
            causal: hide the keys after each query. The queries are the last T of the S positions.
            need_weights: also return the weights of each head.
            cache: keys and values of the tokens before x, to which those of x are added, so that S
                counts them all; or those of the memory, which are computed in the first call only.
                In eval mode.
        Returns:
            (B, T, d_model), and the (B, H, T, S) weights or None.
        Raises:
            ValueError: something does not fit; the cache is then as before.
        """
        _, n_heads, n_kv_heads, _, _ = self.sizes
        start = 0 if cache is None or memory is not None else cache.length
        q = split_heads_formula(self.w_q(x), n_heads)  # (B, H, T, d_k)
        if self.rotary:
            q = _rotated(q, start)
        k, v, K = self._keys_and_values(
            x, memory, value, cache, start
        )  # (B, n_kv_heads, S, d_k), (…, d_v)
        if K > 1:
            q, mask, bias = join_beams(K, q, mask, bias)
        # Heads that share their keys get an axis of their own, along which nothing is copied.
        k, v = share_heads(n_heads, k, v)  # (B, n_kv_heads, G, S, d_k), (…, d_v)
        q, mask, bias = group_heads(n_kv_heads, q, mask, bias)
        context, weights = attend(
            q,
            k,
            v,
            mask=mask,
            bias=bias,
            causal=causal,
            need_weights=need_weights or self.training,
        )  # (B, n_kv_heads, G, T, d_v), (B, n_kv_heads, G, T, S)
        self.save_for_backward(q, k, v, mask, bias, causal, weights, memory is None, value is None)
        context = ungroup_heads(context)  # (B, H, T, d_v)
        weights = ungroup_heads(weights) if need_weights and weights is not None else None
        if K > 1:
            context, weights = part_beams(K, context, weights)
        return self.w_o(merge_heads_formula(context)), weights  # (B, T, d_model)

    def _keys_and_values(
        self,
        x: Floats,
        memory: Floats | None,
        value: Floats | None,
        cache: KeyValueCache | None,
        start: int,
    ) -> tuple[Floats, Floats, int]:
        """(B, n_kv_heads, S, d_k) keys and (B, n_kv_heads, S, d_v) values, computed or cached.

        And the number of rows of x, one after the other, that share each row of a cached memory.
        """
        if cache is not None and cache.is_static:
            return cache.shared_rows()
        n_kv_heads = self.sizes[2]
        source = x if memory is None else memory
        k = split_heads_formula(self.w_k(source), n_kv_heads)  # (B, n_kv_heads, S, d_k)
        v = split_heads_formula(
            self.w_v(source if value is None else value), n_kv_heads
        )  # (B, n_kv_heads, S, d_v)
        if self.rotary:
            k = _rotated(k, start)
        if cache is None:
            return k, v, 1
        put = cache.append_unchecked if memory is None else cache.set_static_unchecked
        return *put(k, v), 1

    def backward(self, dout: Floats) -> tuple[Floats, Floats | None, Floats | None]:
        """Backward of the latest call; adds to the gradients of the projections.

        Args:
            dout: (B, T, d_model) gradient with respect to the output.
        Returns:
            dx, dmemory and dvalue; dmemory is None where x was its own memory, dvalue where the
            memory, or x, gave the values too.
        Raises:
            ValueError: dout is not shaped like the output, or no call in training mode is left.
        """
        q, k, v, mask, bias, causal, weights, self_attends, values_from_keys = self.pop_saved()
        d_model, n_heads, n_kv_heads, _, _ = self.sizes
        check_shapes("MultiHeadAttention.backward", dout=(dout, (len(q), q.shape[3], d_model)))
        dcontext = split_heads_formula(self.w_o.backward(dout), n_heads)  # (B, H, T, d_v)
        (dcontext,) = group_heads(n_kv_heads, dcontext)  # (B, n_kv_heads, G, T, d_v)
        dq, dk, dv, _ = attend_backward(
            dcontext, q, k, v, mask=mask, bias=bias, causal=causal, weights=weights
        )
        dq = ungroup_heads(dq)  # (B, H, T, d_k)
        # A head of keys has served several heads of queries: their gradients add.
        dk, dv = dk.sum(2), dv.sum(2)  # (B, n_kv_heads, S, d_k), (B, n_kv_heads, S, d_v)
        if self.rotary:
            dq, dk = _rotated(dq, 0, -1), _rotated(dk, 0, -1)
        dx = self.w_q.backward(merge_heads_formula(dq))  # (B, T, d_model)
        dmemory = self.w_k.backward(merge_heads_formula(dk))  # (B, S, kdim)
        dvalue = self.w_v.backward(merge_heads_formula(dv))  # (B, S, vdim)
        if not values_from_keys:
            return dx, dmemory, dvalue
        dmemory += dvalue
        return (dx + dmemory, None, None) if self_attends else (dx, dmemory, None)


def _rotated(x: Floats, start: int, sign: int = 1) -> Floats:
    """Queries or keys (…, T, d) rotated by their positions, of which the first is `start`."""
    positions = np.arange(start, start + x.shape[-2])  # (T,)
    return rotate_pairs(x, positions, sign)
