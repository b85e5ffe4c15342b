"""Load BERT: its names are ours after a table, and its matrices, (d_out, d_in), are transposed."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from qkv.bridge import StateDict
from qkv.config import TransformerConfig
from qkv.hugging_face.build import ROOMS, build
from qkv.hugging_face.folder import find_files
from qkv.hugging_face.settings import ACTIVATIONS, Settings
from qkv.hugging_face.tensors import Tensors
from qkv.shapes import check_choice

if TYPE_CHECKING:
    import qkv.numpy as qn
    import qkv.torch as qt

__all__ = ["load_bert"]

CALL = "load_bert"
# The pooler and the score of the next sentence, which a masked language model does not need.
UNUSED = re.compile(r"pooler\..*|cls\.seq_relationship\..*|embeddings\.position_ids")
OLD_WORDS = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
EMBEDDINGS = {
    "embeddings.word_embeddings": "embedding",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.position_embeddings": "inputs.positions",
}
LAYER = {
    "attention.self.query": "self_attention.w_q",
    "attention.self.key": "self_attention.w_k",
    "attention.self.value": "self_attention.w_v",
    "attention.output.dense": "self_attention.w_o",
    "attention.output.LayerNorm": "self_attention_add_norm.norm",
    "intermediate.dense": "feed_forward.w_1",
    "output.dense": "feed_forward.w_2",
    "output.LayerNorm": "feed_forward_add_norm.norm",
}
HEAD = {
    "cls.predictions.transform.dense": "head.dense",
    "cls.predictions.transform.LayerNorm": "head.norm",
}
COPIES = {
    "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}


def load_bert(
    folder: str | os.PathLike[str], room: str = "numpy"
) -> qn.EncoderOnly | qt.EncoderOnly:
    """Load BERT from a Hugging Face folder: the same hidden states and logits, in either room.

    >>> model = load_bert("bert-base-uncased")
    >>> logits = model(ids)  # (B, T) token ids, some of them [MASK] -> (B, T, V)

    The model is in eval mode and has no dropout. It is float32, or float64 where the file is. A
    file without the head of the masked language model gives hidden states only: `model.mlm_head`
    says which it is. The pooler and the score of the next sentence are left out. The token
    "pad_token_id" is hidden from all others, and where it is null none is.

    Args:
        folder: with config.json and model.safetensors.
        room: "numpy" or "torch".
    Returns:
        An `EncoderOnly` of the room.
    Raises:
        ValueError: a file is not there or damaged, is of another architecture, or of an option
            that `EncoderOnly` lacks; a tensor is missing, unknown or of another shape. What it is
            is named, and nothing is loaded.
        ImportError: the room is "torch", and torch is not installed.
    Source: Devlin et al. 2019; the names are those of Hugging Face's `BertForMaskedLM`.
    """
    check_choice(CALL, "room", room, ROOMS)
    config_path, tensors_path = find_files(CALL, folder)
    settings = Settings(CALL, config_path, "bert")
    config, n_token_types = _config(settings), settings.get("type_vocab_size", 2)
    tensors = Tensors(CALL, tensors_path, _short)
    tensors.check_layers("encoder.layer.", "num_hidden_layers", config.n_layers)
    mlm_head = any(name.startswith("cls.predictions.") for name in tensors.names)
    shapes = _shapes(config, n_token_types, mlm_head)
    found = tensors.read(shapes, COPIES if mlm_head else {})
    state = _parameters(found, config.n_layers, mlm_head)
    options: dict[str, Any] = {"n_token_types": n_token_types, "mlm_head": mlm_head}
    model: qn.EncoderOnly | qt.EncoderOnly = build(room, "EncoderOnly", config, state, **options)
    return model


def _config(settings: Settings) -> TransformerConfig:
    settings.require("the output is the transposed embedding here", tie_word_embeddings=True)
    settings.require("EncoderOnly looks both ways", is_decoder=False, add_cross_attention=False)
    settings.require("positions are added to the embedding", position_embedding_type="absolute")
    return settings.config(
        vocab_size=settings["vocab_size"],
        d_model=settings["hidden_size"],
        n_heads=settings["num_attention_heads"],
        d_ff=settings["intermediate_size"],
        n_layers=settings["num_hidden_layers"],
        dropout=0.0,
        activation=settings.choose("hidden_act", "gelu", ACTIVATIONS),
        norm_eps=settings.get("layer_norm_eps", 1e-12),
        positions="learned",
        max_len=settings["max_position_embeddings"],
        output_bias=True,
        scale_embedding=False,
        pad_id=settings.values.get("pad_token_id", 0),  # null says: no token is padding
        causal=False,
    )


def _short(name: str) -> str | None:
    """The name of a tensor as `BertModel` has it, in today's words; None for what is not needed."""
    short = name.removeprefix("bert.")
    for old, new in OLD_WORDS.items():
        short = short.replace(old, new)
    return None if UNUSED.fullmatch(short) else short


def _modules(n_layers: int, mlm_head: bool) -> dict[str, str]:
    """Their name of every module with weight and bias, and ours."""
    layers = {
        f"encoder.layer.{i}.{theirs}": f"encoder.layers.{i}.{ours}"
        for i in range(n_layers)
        for theirs, ours in LAYER.items()
    }
    return {"embeddings.LayerNorm": "inputs_norm"} | layers | (HEAD if mlm_head else {})


def _shapes(
    config: TransformerConfig, n_token_types: int, mlm_head: bool
) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor, by its short name."""
    d, d_ff = config.d_model, config.d_ff
    rows = config.vocab_size, n_token_types, config.max_len
    shapes: dict[str, tuple[int, ...]] = {
        f"{name}.weight": (n, d) for name, n in zip(EMBEDDINGS, rows, strict=True)
    }
    for name in _modules(config.n_layers, mlm_head):
        out = d_ff if name.endswith("intermediate.dense") else d
        into = d_ff if name.endswith(".output.dense") and ".attention." not in name else d
        shapes[f"{name}.weight"] = (out,) if name.endswith("LayerNorm") else (out, into)
        shapes[f"{name}.bias"] = (out,)
    if mlm_head:
        shapes["cls.predictions.bias"] = (config.vocab_size,)
    return shapes


def _parameters(found: StateDict, n_layers: int, mlm_head: bool) -> StateDict:
    """Their tensors under our names and in our layout: a matrix is (d_in, d_out)."""
    state = {f"{ours}.weight": found[f"{theirs}.weight"] for theirs, ours in EMBEDDINGS.items()}
    for theirs, ours in _modules(n_layers, mlm_head).items():
        state[f"{ours}.weight"] = found[f"{theirs}.weight"].T  # of a norm: (d_model,), as it was
        state[f"{ours}.bias"] = found[f"{theirs}.bias"]
    if mlm_head:
        state["head.output.bias"] = found["cls.predictions.bias"]
    return state
