"""Load GPT-2: its names are ours after a table, and its matrices are (d_in, d_out), as ours are."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import numpy as np

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

__all__ = ["load_gpt2"]

CALL = "load_gpt2"
MASKS = re.compile(r"h\.\d+\.attn\.(bias|masked_bias)")  # causal masks, in older files
LAYER = {
    "ln_1": "self_attention_add_norm.norm",
    "attn.c_proj": "self_attention.w_o",
    "ln_2": "feed_forward_add_norm.norm",
    "mlp.c_fc": "feed_forward.w_1",
    "mlp.c_proj": "feed_forward.w_2",
}
UNTIED = "the output is the transposed embedding here"
SCALED = "scores are divided by √d_k here, and by nothing else"


def load_gpt2(
    folder: str | os.PathLike[str], room: str = "numpy"
) -> qn.DecoderOnly | qt.DecoderOnly:
    """Load GPT-2 from a Hugging Face folder: the same logits, in either room.

    >>> model = load_gpt2("gpt2")
    >>> logits = model(ids)  # (B, T) token ids -> (B, T, V)

    The model is in eval mode and has no dropout. It is float32, or float64 where the file is.

    Args:
        folder: with config.json and model.safetensors.
        room: "numpy" or "torch".
    Returns:
        A `DecoderOnly` of the room; `start_decoding` and `greedy` write with it.
    Raises:
        ValueError: a file is not there or damaged, is of another architecture, or of an option
            that `DecoderOnly` lacks; a tensor is missing, unknown or of another shape. What it is
            is named, and nothing is loaded.
        ImportError: the room is "torch", and torch is not installed.
    Source: Radford et al. 2019; the names are those of Hugging Face's `GPT2LMHeadModel`.
    """
    check_choice(CALL, "room", room, ROOMS)
    config_path, tensors_path = find_files(CALL, folder)
    config = _config(Settings(CALL, config_path, "gpt2"))
    tensors = Tensors(CALL, tensors_path, _short)
    tensors.check_layers("h.", "n_layer", config.n_layers)
    found = tensors.read(_shapes(config), copies={"lm_head.weight": "wte.weight"})
    state = _parameters(found, config.n_layers)
    model: qn.DecoderOnly | qt.DecoderOnly = build(room, "DecoderOnly", config, state)
    return model


def _config(settings: Settings) -> TransformerConfig:
    settings.require(UNTIED, tie_word_embeddings=True)
    settings.require("DecoderOnly reads one text", add_cross_attention=False)
    settings.require(SCALED, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False)
    d_model = settings["n_embd"]
    return settings.config(
        vocab_size=settings["vocab_size"],
        d_model=d_model,
        n_heads=settings["n_head"],
        d_ff=settings.get("n_inner", 4 * d_model),
        n_layers=settings["n_layer"],
        dropout=0.0,
        activation=settings.choose("activation_function", "gelu_new", ACTIVATIONS),
        norm_first=True,
        norm_eps=settings.get("layer_norm_epsilon", 1e-5),
        positions="learned",
        max_len=settings["n_positions"],
        scale_embedding=False,
    )


def _short(name: str) -> str | None:
    """The name of a tensor as `GPT2Model` has it; None for a mask."""
    short = name.removeprefix("transformer.")
    return None if MASKS.fullmatch(short) else short


def _shapes(config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor, by its short name."""
    d, d_ff = config.d_model, config.d_ff
    weights: dict[str, tuple[int, ...]] = {
        "ln_1": (d,),
        "attn.c_attn": (d, 3 * d),
        "attn.c_proj": (d, d),
        "ln_2": (d,),
        "mlp.c_fc": (d, d_ff),
        "mlp.c_proj": (d_ff, d),
    }
    modules = {f"h.{i}.{name}": weights[name] for i in range(config.n_layers) for name in weights}
    modules["ln_f"] = (d,)
    shapes: dict[str, tuple[int, ...]] = {
        "wte.weight": (config.vocab_size, d),
        "wpe.weight": (config.max_len, d),
    }
    for name, shape in modules.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[-1:]}
    return shapes


def _parameters(found: StateDict, n_layers: int) -> StateDict:
    """Their tensors under our names: one matrix of queries, keys and values becomes three."""
    state = {
        "embedding.weight": found["wte.weight"],
        "inputs.positions.weight": found["wpe.weight"],
    }
    for kind in ("weight", "bias"):
        state[f"decoder.norm.{kind}"] = found[f"ln_f.{kind}"]
        for i in range(n_layers):
            theirs, ours = f"h.{i}", f"decoder.layers.{i}"
            parts = np.split(found[f"{theirs}.attn.c_attn.{kind}"], 3, axis=-1)  # each (…, d_model)
            for x, part in zip("qkv", parts, strict=True):
                state[f"{ours}.self_attention.w_{x}.{kind}"] = part
            for name, our_name in LAYER.items():
                state[f"{ours}.{our_name}.{kind}"] = found[f"{theirs}.{name}.{kind}"]
    return state
