"""What the tests of whole models share: small models of every kind, the same in both rooms."""

import numpy as np
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.config import TransformerConfig
from qkv.shapes.fields import Choice, field_types
from tests.helpers.layers import copy_parameters

V, B, S, T = 17, 2, 7, 5
SMALL = {
    "vocab_size": V,
    "d_model": 12,
    "n_heads": 3,
    "d_ff": 7,
    "n_layers": 2,
    "dropout": 0.0,
    "pad_id": 0,
}
# What differs from SMALL; a word of a choice that stands in none of these gets a case of its own.
CASES = {
    "as in the paper": {},
    "two tables tied": {"tie_word_embeddings": "target"},
    "two vocabularies": {
        "tie_word_embeddings": "target",
        "target_vocab_size": 19,
        "output_bias": True,
    },
    "no table tied": {
        "tie_word_embeddings": "none",
        "target_vocab_size": 13,
        "scale_embedding": False,
    },
    "no table tied, bias": {"tie_word_embeddings": "none", "output_bias": True, "pad_id": None},
    "pre": {"norm_first": True, "bias": False},
    "pre, no last norm": {"norm_first": True, "final_norm": False, "positions": "none"},
    "post, last norm": {"final_norm": True, "activation": "gelu", "layout": "halves"},
    "as models are today": {
        "norm_first": True,
        "norm": "rms",
        "activation": "swiglu",
        "positions": "rotary",
        "n_kv_heads": 1,
    },
    "learned positions": {
        "positions": "learned",
        "max_len": 11,
        "norm": "rms",
        "n_heads": 4,
        "n_kv_heads": 2,
    },
    "as GPT-2": {
        "norm_first": True,
        "activation": "gelu_tanh",
        "positions": "learned",
        "max_len": 11,
        "scale_embedding": False,
        "norm_eps": 1e-2,
        "n_layers": 1,
    },
    "no bias at all": {
        "bias": False,
        "feed_forward_bias": False,
        "norm_bias": False,
        "final_norm": True,
        "n_layers": 1,
    },
    "falling scores": {"positions": "alibi", "n_heads": 4, "n_kv_heads": 2, "output_bias": True},
    "own widths": {"d_k": 2, "d_v": 5, "n_heads": 5, "n_decoder_layers": 3, "n_layers": 1},
    "a head for each number": {"n_heads": 12, "n_layers": 1},
}
CHOICES = {  # the fields of a configuration that are one of some words
    name: field.rule.words
    for name, field in field_types(TransformerConfig).items()
    if isinstance(field.rule, Choice)
}
ONE_WORD = {
    f"{option} {word}": {option: word}
    for option, words in CHOICES.items()
    for word in words
    if all(getattr(TransformerConfig(**SMALL | case), option) != word for case in CASES.values())
}
CASES |= ONE_WORD
MODELS = ["encoder-decoder", "decoder-only"]


def config_of(case, model="encoder-decoder", **more):
    options = {**SMALL, **CASES[case], **more}
    if model == "decoder-only":
        options.pop("target_vocab_size", None)
        options.pop("n_decoder_layers", None)
    return TransformerConfig(**options)


def build(room, config, model, **own):
    return (room.Transformer if model == "encoder-decoder" else room.DecoderOnly)(config, **own)


def twins(case, model="encoder-decoder", seed=0, **more):
    """The same model in both rooms, with no parameter at its first value but the tables."""
    rng = np.random.default_rng(seed)
    config = config_of(case, model, **more)
    ours = build(qn, config, model, rng=rng, dtype=np.float64)
    for name, value in ours.named_parameters():
        if "embedding" not in name:
            value += rng.standard_normal(value.shape) * 0.3
    theirs = build(qt, config, model, dtype=torch.float64)
    copy_parameters(ours, theirs)
    return ours, theirs


def texts(config, model="encoder-decoder", seed=1, S=S, T=T, B=B):
    """What the model is called with: the first source is short, and padded where it can be."""
    rng = np.random.default_rng(seed)
    source = rng.integers(1, config.vocab_size, (B, S))
    if config.pad_id is not None:
        source[0, S - S // 3 :] = config.pad_id
    target = rng.integers(1, config.target_vocabulary, (B, T))
    return (source, target) if model == "encoder-decoder" else (target,)


def tensors(arrays):
    return tuple(torch.tensor(a) for a in arrays)


def detached(x):
    return x.detach() if isinstance(x, torch.Tensor) else x
