"""Multi-head attention: several attentions in parallel, context by one projection."""

from typing import Any

import torch
from torch import Tensor

from qkv.shapes.multi_head import head_sizes, source_widths
from qkv.torch.attention.scaled_dot_product import attend
from qkv.torch.checks import check_multi_head, checked_by
from qkv.torch.layer import Layer
from qkv.torch.linear import Linear
from qkv.torch.multi_head.heads import (
    join_beams,
    merge_heads_formula,
    part_beams,
    split_heads_formula,
)
from qkv.torch.multi_head.key_value_cache import KeyValueCache
from qkv.torch.positional import rotate_pairs

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention(Layer):
    """Multi-head attention: Concat(head₁ …) W_O, each head in a part of the width.

    As `qkv.numpy.MultiHeadAttention`, with:
        rng: draws the weights; None is torch's own generator.
        dtype, device: of the parameters.
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
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        d_k, d_v, n_kv_heads = head_sizes(
            "MultiHeadAttention", d_model, n_heads, d_k, d_v, n_kv_heads, rotary
        )
        self.sizes = d_model, n_heads, n_kv_heads, d_k, d_v
        self.widths = source_widths("MultiHeadAttention", d_model, kdim, vdim, rotary)
        self.rotary = rotary
        # The paper's n_heads matrices, d_model × d_k each, stand side by side in one.
        self.w_q = Linear(d_model, n_heads * d_k, bias, rng=rng, dtype=dtype, device=device)
        self.w_k = Linear(
            self.widths[0], n_kv_heads * d_k, bias, rng=rng, dtype=dtype, device=device
        )
        self.w_v = Linear(
            self.widths[1], n_kv_heads * d_v, bias, rng=rng, dtype=dtype, device=device
        )
        self.w_o = Linear(n_heads * d_v, d_model, bias, rng=rng, dtype=dtype, device=device)

    def _check_inputs(
        self,
        call: str,
        x: Tensor,
        memory: Tensor | None = None,
        value: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
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
            parameter=self.w_q.weight,
            sizes=self.sizes,
            widths=self.widths,
            causal=causal,
            rotary=self.rotary,
            training=self.training,
            **options,
        )

    @checked_by(_check_inputs, "MultiHeadAttention")
    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        value: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = False,
        need_weights: bool = False,
        cache: KeyValueCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Self-attention of x; or cross-attention, where a memory gives the keys.

        As `qkv.numpy.MultiHeadAttention.__call__`, with:
            bias: float, broadcast to (B, H, T, S); added to the scores.
            need_weights: also return the weights of each head; False takes the fused kernel.
        """
        n_heads = self.sizes[1]
        start = 0 if cache is None or memory is not None else cache.length
        q = split_heads_formula(self.w_q(x), n_heads)  # (B, H, T, d_k)
        if self.rotary:
            q = _rotated(q, start)
        k, v, K = self._keys_and_values(
            x, memory, value, cache, start
        )  # (B, n_kv_heads, S, d_k), (…, d_v)
        if K > 1:
            q, mask, bias = join_beams(K, q, mask, bias)
        context, weights = attend(
            q,
            _shared(k, n_heads),
            _shared(v, n_heads),
            mask=mask,
            bias=None if bias is None else bias.to(q.dtype),
            causal=causal,
            need_weights=need_weights,
        )  # (B, H, T, d_v), (B, H, T, S)
        if K > 1:
            context, weights = part_beams(K, context, weights)
        return self.w_o(merge_heads_formula(context)), weights  # (B, T, d_model)

    def _keys_and_values(
        self,
        x: Tensor,
        memory: Tensor | None,
        value: Tensor | None,
        cache: KeyValueCache | None,
        start: int,
    ) -> tuple[Tensor, Tensor, int]:
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


def _rotated(x: Tensor, start: int) -> Tensor:
    """Queries or keys (…, T, d) rotated by their positions, of which the first is `start`."""
    positions = torch.arange(start, start + x.shape[-2], device=x.device)  # (T,)
    return rotate_pairs(x, positions)


def _shared(x: Tensor, n_heads: int) -> Tensor:
    """(B, n_kv_heads, S, d) to (B, H, S, d): each head once for each of those that share it."""
    B, n_kv_heads, S, d = x.shape
    if n_kv_heads == n_heads:
        return x
    # The fused kernel knows no axis of groups, so where heads are shared this is a copy.
    shared = x[:, :, None].expand(B, n_kv_heads, n_heads // n_kv_heads, S, d)
    return shared.flatten(1, 2)  # (B, H, S, d)
