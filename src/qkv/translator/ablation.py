"""Ablation and patching of attention heads while a Transformer of the NumPy room runs.

Each change is a context manager; when it closes, the model is as before. Source: heads switched
off, Michel et al. 2019; weights changed while the values stay, Jain and Wallace 2019, Wiegreffe and
Pinter 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.corpus import Pair
from qkv.translator.translator import Translator

__all__ = [
    "attention_knockout",
    "attention_patching",
    "attentions",
    "changed_weights",
    "head_means",
    "mean_ablation",
    "uniform_attention",
    "without_positions",
    "zero_ablation",
]


def attentions(model: Any) -> dict[str, Any]:
    """The attention layers of a Transformer, by a name for readers."""
    found = {
        f"encoder {n}, self": layer.self_attention for n, layer in enumerate(model.encoder.layers)
    }
    for n, layer in enumerate(model.decoder.layers):
        found[f"decoder {n}, self"] = layer.self_attention
        found[f"decoder {n}, cross"] = layer.cross_attention
    return found


@contextmanager
def zero_ablation(attention: Any, head: int) -> Iterator[None]:
    """While it is open, a head writes nothing: its rows of W_O are 0."""
    d_v = attention.sizes[-1]
    rows = attention.w_o.params["weight"][head * d_v : (head + 1) * d_v]  # (d_v, d_model)
    kept = rows.copy()
    rows[:] = 0
    try:
        yield
    finally:
        rows[:] = kept


@contextmanager
def uniform_attention(attention: Any, head: int) -> Iterator[None]:
    """While it is open, a head has equal weights on all allowed keys: its queries are 0."""
    d_k = attention.sizes[-2]
    own = slice(head * d_k, (head + 1) * d_k)
    arrays = [attention.w_q.params["weight"][:, own], attention.w_q.params["bias"][own]]
    kept = [array.copy() for array in arrays]
    for array in arrays:
        array[:] = 0
    try:
        yield
    finally:
        for array, old in zip(arrays, kept, strict=True):
            array[:] = old


@contextmanager
def mean_ablation(attention: Any, head: int, mean: Any) -> Iterator[None]:
    """While it is open, a head gives the same (d_v,) vector for every word."""
    d_v = attention.sizes[-1]
    bias = attention.w_o.params["bias"]
    kept = bias.copy()
    bias += mean @ attention.w_o.params["weight"][head * d_v : (head + 1) * d_v]
    try:
        with zero_ablation(attention, head):
            yield
    finally:
        bias[:] = kept


def attention_patching(
    layer: Any, heads: Sequence[int], query: int, key: int
) -> AbstractContextManager[None]:
    """While it is open, heads of an encoder layer put all weight of the row `query` on `key`."""

    def all_on_key(row: Any, _: int) -> Any:
        return np.eye(row.shape[-1])[key]

    return _changed_row(layer, heads, query, all_on_key)


def attention_knockout(
    layer: Any, heads: Sequence[int], query: int, key: int | Sequence[int], *, rescale: bool = True
) -> AbstractContextManager[None]:
    """While it is open, `key` is blocked for the row `query`: its weight is 0.

    Args:
        key: one for all of these heads, or one for each.
        rescale: the other weights of the row grow until they sum to 1 again. If not, they stay as
            they are, and the row has a gap.
    """

    blocked = dict(zip(heads, np.broadcast_to(key, len(heads)), strict=True))

    def without_key(row: Any, head: int) -> Any:
        rest = np.where(np.arange(row.shape[-1]) == blocked[head], 0, row)
        return rest / rest.sum(-1, keepdims=True) if rescale else rest

    return _changed_row(layer, heads, query, without_key)


@contextmanager
def changed_weights(layer: Any, change: Callable[[Any], None]) -> Iterator[None]:
    """While it is open, the weights of a layer's self-attention are changed.

    Args:
        layer: of an encoder or a decoder.
        change: writes into the weights that it is given, (B, H, T, S).
    """
    attention = layer.self_attention

    def changed_attention(
        x: Any, *, need_weights: bool = False, cache: Any = None, **options: Any
    ) -> tuple[Any, Any]:
        _, weights = attention(x, need_weights=True, cache=cache, **options)
        weights = weights.copy()  # (B, H, T, S)
        change(weights)
        v = cache.values if cache else qn.split_heads(attention.w_v(x), attention.sizes[1])
        out = attention.w_o(qn.merge_heads(weights @ v))  # (B, T, d_model)
        return out, weights if need_weights else None

    layer.self_attention = changed_attention
    try:
        yield
    finally:
        layer.self_attention = attention


def _changed_row(
    layer: Any, heads: Sequence[int], query: int, change: Callable[[Any, int], Any]
) -> AbstractContextManager[None]:
    """While it is open, the weights (B, S) of one query are changed in some heads of a layer."""

    def change_row(weights: Any) -> None:
        for head in heads:
            weights[:, head, query] = change(weights[:, head, query], head)

    return changed_weights(layer, change_row)


@contextmanager
def without_positions(model: Any, parts: Sequence[str] = ("encoder", "decoder")) -> Iterator[None]:
    """While it is open, no token knows where it stands: nothing is added to the embeddings.

    Args:
        parts: of the model, whose inputs this is done to.
    Raises:
        ValueError: parts names something else than these two, or the positions of this model do not
            stand in its inputs, but in its attention.
    """
    inputs = {"encoder": model.source_inputs, "decoder": model.target_inputs}
    if isinstance(parts, str) or not set(parts) <= set(inputs):
        raise ValueError(
            "without_positions: parts must be some of 'encoder' and 'decoder', as a tuple, got "
            f"{parts!r}"
        )
    if model.config.positions not in ("sinusoidal", "learned"):
        raise ValueError(
            "without_positions: the model's positions must be 'sinusoidal' or 'learned', got "
            f"{model.config.positions!r}: only what is added to embeddings can be left out"
        )
    kept = {part: inputs[part].config for part in parts}
    for part, config in kept.items():
        inputs[part].config = replace(config, positions="none")
    try:
        yield
    finally:
        for part, config in kept.items():
            inputs[part].config = config


def head_means(translator: Translator, pairs: Sequence[Pair]) -> dict[str, Any]:
    """By the name of an attention: the mean (H, d_v) of what its heads give, over all words."""
    given: dict[str, list[Any]] = {}
    found = attentions(translator.model)
    with ExitStack() as stack:
        for name, attention in found.items():
            given[name] = []
            stack.enter_context(_recorded(attention, given[name]))
        for pair in pairs:
            translator.attention(" ".join(pair.source), " ".join(pair.target))
    means = {name: np.concatenate(rows).mean(0) for name, rows in given.items()}  # (H · d_v,)
    return {name: mean.reshape(found[name].sizes[1], -1) for name, mean in means.items()}


@contextmanager
def _recorded(attention: Any, rows: list[Any]) -> Iterator[None]:
    """While it is open, what goes into W_O is added to `rows`, a (words, H · d_v) each time."""
    w_o = attention.w_o

    def recording(context: Any) -> Any:
        rows.append(context.reshape(-1, context.shape[-1]))
        return w_o(context)

    attention.w_o = recording
    try:
        yield
    finally:
        attention.w_o = w_o
