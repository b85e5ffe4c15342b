"""A two-layer model with an induction head: how to load it, score its heads and take parts away.

Its task: a block of different letters, written twice. `qkv.experiments.families_induction` trains
it and stores it. Layers and heads count from 0. Source: Elhage et al. 2021; Olsson et al. 2022.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import qkv.numpy as qn
from qkv.bridge import copy_parameters, load_state_dict
from qkv.config import TransformerConfig
from qkv.translator.ablation import zero_ablation

__all__ = [
    "LETTERS",
    "MODEL",
    "WIDTH",
    "accuracy",
    "encode",
    "head_scores",
    "induction_model",
    "loss",
    "model_config",
    "repeated_blocks",
    "without_head",
    "without_layer",
]

Ids = NDArray[np.int64]

LETTERS = string.ascii_uppercase
WIDTH, HEADS = 32, 2
MODEL = Path(__file__).with_name("induction.safetensors")


def encode(text: str) -> Ids:
    """Token ids (1, T) of capital letters."""
    return np.array([[LETTERS.index(letter) for letter in text]])


def repeated_blocks(rng: np.random.Generator, n: int, period: int) -> Ids:
    """Token ids (n, 2 · period): `period` different letters in random order, written twice."""
    letters = np.tile(np.arange(len(LETTERS)), (n, 1))
    block = rng.permuted(letters, axis=1)[:, :period]
    return np.concatenate([block, block], axis=1)


def model_config(layers: int, width: int) -> TransformerConfig:
    """Pre-norm, rotary positions, a feed-forward part of twice the width, an output of its own."""
    return TransformerConfig(
        vocab_size=len(LETTERS),
        d_model=width,
        n_heads=HEADS,
        d_ff=2 * width,
        n_layers=layers,
        dropout=0.0,
        activation="gelu",
        norm_first=True,
        positions="rotary",
        tie_word_embeddings="none",
        scale_embedding=False,
    )


def induction_model() -> qn.DecoderOnly:
    """The two-layer model of seed 0, as it was stored: float16, computed in float32."""
    model = qn.DecoderOnly(model_config(2, WIDTH), rng=np.random.default_rng(0))
    copy_parameters(load_state_dict(MODEL), model)
    return model.eval()


def accuracy(model: qn.DecoderOnly, ids: Ids) -> float:
    """Share of the second block, its first letter left out, where the likeliest letter is right."""
    logits, targets = _second_block(model, ids)
    return round(float((logits.argmax(-1) == targets).mean()), 4)


def loss(model: qn.DecoderOnly, ids: Ids) -> float:
    """Mean cross-entropy of the same letters, in nats."""
    return round(float(qn.cross_entropy(*_second_block(model, ids))), 4)


def _second_block(model: qn.DecoderOnly, ids: Ids) -> tuple[Any, Ids]:
    """Logits (B, P − 1, V) and targets (B, P − 1) of the letters that stood there before."""
    period = ids.shape[1] // 2
    return model(ids)[:, period:-1], ids[:, period + 1 :]


def head_scores(model: qn.DecoderOnly, ids: Ids) -> dict[str, list[list[float]]]:
    """Mean weight of each head, from the second block, on two places: a row a layer.

    Returns:
        previous: on the token just before.
        induction: on the token after the earlier copy of this one.
    """
    period = ids.shape[1] // 2
    at = np.arange(period, 2 * period - 1)
    maps: dict[str, Any] = {}
    model(ids, attention_maps=maps)  # each (B, H, T, T)
    places = {"previous": at - 1, "induction": at - period + 1}
    return {
        name: [
            weights[:, :, at, keys].mean((0, 2)).astype(float).round(3).tolist()
            for weights in maps.values()
        ]
        for name, keys in places.items()
    }


@contextmanager
def without_head(
    model: qn.DecoderOnly, layer: int, head: int, mean_over: Ids | None = None
) -> Iterator[None]:
    """While it is open, a head writes nothing, or into every token its mean over some texts."""
    attention = model.decoder.layers[layer].self_attention
    weight, bias = (attention.w_o.params[kind] for kind in ("weight", "bias"))
    constant = np.zeros_like(bias)
    if mean_over is not None:
        part = slice(head * attention.sizes[-1], (head + 1) * attention.sizes[-1])
        constant = _mean_context(model, attention, mean_over)[part] @ weight[part]  # (d_model,)
    kept = bias.copy()
    with zero_ablation(attention, head):
        bias += constant
        try:
            yield
        finally:
            bias[:] = kept


def _mean_context(model: qn.DecoderOnly, attention: qn.MultiHeadAttention, ids: Ids) -> Any:
    """What the heads of an attention give on average, side by side: (H · d_v,)."""
    contexts = []
    w_o = attention.w_o

    def record(context: Any) -> Any:
        contexts.append(context)  # (B, T, H · d_v)
        return w_o(context)

    attention.w_o = record  # type: ignore[assignment]
    try:
        model(ids)
    finally:
        attention.w_o = w_o
    return contexts[0].mean((0, 1))


@contextmanager
def without_layer(model: qn.DecoderOnly, layer: int) -> Iterator[None]:
    """While it is open, the model has one layer less."""
    layers = model.decoder.layers
    model.decoder.layers = layers[:layer] + layers[layer + 1 :]
    try:
        yield
    finally:
        model.decoder.layers = layers
