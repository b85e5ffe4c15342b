"""Hugging Face's Marian with the parameters of a model of ours, so that both write the same."""

from __future__ import annotations

from typing import Any

from transformers import MarianConfig, MarianMTModel

from baselines.models import marian_sizes
from qkv.torch import Transformer

__all__ = ["marian_generator"]

# Ours on the left; what stands between these in a parameter's name is the same.
NAMES_IN_MARIAN = {
    "source_embedding.": "encoder.embed_tokens.",
    "target_embedding.": "decoder.embed_tokens.",
    ".self_attention_add_norm.norm.": ".self_attn_layer_norm.",
    ".cross_attention_add_norm.norm.": ".encoder_attn_layer_norm.",
    ".feed_forward_add_norm.norm.": ".final_layer_norm.",
    ".feed_forward.w_": ".fc",
    ".self_attention.w_": ".self_attn.",
    ".cross_attention.w_": ".encoder_attn.",
    "attn.q.": "attn.q_proj.",
    "attn.k.": "attn.k_proj.",
    "attn.v.": "attn.v_proj.",
    "attn.o.": "attn.out_proj.",
}


def marian_generator(model: Transformer) -> Any:
    """Marian with these parameters, whose `generate` stops at max_new_tokens alone.

    Args:
        model: with the paper's choices, no table tied, and waves in the layout "halves".
    Raises:
        RuntimeError: Marian has no place for a parameter.
    """
    untied: dict[str, Any] = {
        "share_encoder_decoder_embeddings": False,
        "tie_word_embeddings": False,
    }
    theirs: Any = MarianMTModel(MarianConfig(**marian_sizes(model.config), **untied))
    theirs.eval()
    state = {in_marian(name): value for name, value in model.state_dict().items()}
    missing, unknown = theirs.load_state_dict(state, strict=False)
    own = ("final_logits_bias", "embed_positions.weight")  # zeros, and the waves
    if unknown or not all(name.endswith(own) for name in missing):
        raise RuntimeError(f"Marian's parameters are others: {missing}, {unknown}")
    for name in ("eos_token_id", "forced_eos_token_id", "bad_words_ids"):
        setattr(theirs.generation_config, name, None)
    return theirs


def in_marian(name: str) -> str:
    """What Marian calls a parameter of ours."""
    if name == "output.weight":
        return "lm_head.weight"
    for ours, theirs in NAMES_IN_MARIAN.items():
        name = name.replace(ours, theirs)
    return f"model.{name}"
