"""GPT-2 of Hugging Face, with its own parameters: the same logits and the same text, in both rooms.

The small model here is drawn at random; a trained checkpoint has the same names and shapes.
"""

import dataclasses

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import qkv.numpy as qn
import qkv.torch as qt
from qkv.bridge import copy_parameters, state_dict
from qkv.config import TransformerConfig, parameter_count
from tests.helpers.rooms import ROOMS, close

V, D, EOS = 23, 12, 22
EPS = 1e-3  # not GPT-2's 1e-5, so that a model with an eps of its own would be noticed


@pytest.fixture(scope="module")
def theirs():
    """Every parameter is drawn, biases and norms too, so that none can be mixed up unnoticed."""
    config = GPT2Config(
        vocab_size=V, n_positions=17, n_embd=D, n_layer=2, n_head=3, layer_norm_epsilon=EPS,
        bos_token_id=0, eos_token_id=EOS, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    assert config.activation_function == "gelu_new"
    model = GPT2LMHeadModel(config).double().eval()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5, generator=generator)
    return model


def config_of(theirs):
    """Their configuration in our words."""
    theirs = theirs.config
    return TransformerConfig(
        vocab_size=theirs.vocab_size,
        d_model=theirs.n_embd,
        n_heads=theirs.n_head,
        d_ff=theirs.n_inner or 4 * theirs.n_embd,
        n_layers=theirs.n_layer,
        dropout=0.0,
        activation="gelu_tanh",
        norm_placement="pre",
        positions="learned",
        max_len=theirs.n_positions,
        scale_embedding=False,
        norm_eps=theirs.layer_norm_epsilon,
    )


def parameters_of(theirs):
    """Their parameters under our names: a Conv1D holds its matrix as (d_in, d_out), as we do."""
    found = {name: p.detach().numpy() for name, p in theirs.transformer.named_parameters()}
    state = {
        "embedding.weight": found["wte.weight"],
        "inputs.positions.weight": found["wpe.weight"],
    }
    for i in range(theirs.config.n_layer):
        for kind in ("weight", "bias"):
            of = f"h.{i}."
            parts = np.split(found[f"{of}attn.c_attn.{kind}"], 3, -1)
            ours = {f"self_attention.w_{x}": part for x, part in zip("qkv", parts, strict=True)}
            ours["self_attention.w_o"] = found[f"{of}attn.c_proj.{kind}"]
            ours["self_attention_add_norm.norm"] = found[f"{of}ln_1.{kind}"]
            ours["feed_forward.w_1"] = found[f"{of}mlp.c_fc.{kind}"]
            ours["feed_forward.w_2"] = found[f"{of}mlp.c_proj.{kind}"]
            ours["feed_forward_add_norm.norm"] = found[f"{of}ln_2.{kind}"]
            state |= {f"decoder.layers.{i}.{name}.{kind}": value for name, value in ours.items()}
    state |= {f"decoder.norm.{kind}": found[f"ln_f.{kind}"] for kind in ("weight", "bias")}
    return state


def load(room, theirs, config=None):
    config = config or config_of(theirs)
    ours = qn.DecoderOnly(config, dtype=np.float64)
    ours.load_state_dict(parameters_of(theirs))
    if room is qn:
        return ours.eval()
    module = qt.DecoderOnly(config, dtype=torch.float64)
    copy_parameters(ours, module)
    return module.eval()


IDS = np.random.default_rng(1).integers(0, V, (3, 11))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_logits_are_theirs(theirs, room, to):
    with torch.no_grad():
        expected = theirs(torch.tensor(IDS)).logits
    ours = load(room, theirs)
    with ours.evaluating():
        close(ours(to(IDS)), expected)
    assert sum(p.numel() for p in theirs.parameters()) == parameter_count(
        ours.config, "decoder-only"
    )


@pytest.mark.parametrize("change", [{"activation": "gelu"}, {"norm_eps": 1e-5}], ids=str)
def test_the_curve_and_the_eps_are_theirs_and_no_others(theirs, change):
    """What could be had before: near, and not the same."""
    with torch.no_grad():
        expected = theirs(torch.tensor(IDS)).logits.numpy()
    config = dataclasses.replace(config_of(theirs), **change)
    error = abs(load(qn, theirs, config)(IDS) - expected).max()
    assert 1e-4 < error < 1


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_text_is_theirs_token_by_token(theirs, room, to):
    """With our cache and theirs."""
    limits = {"max_new_tokens": 6, "pad_token_id": EOS, "do_sample": False}
    begin = IDS[:, :4]
    with torch.no_grad():
        expected = theirs.generate(
            torch.tensor(begin), attention_mask=torch.ones(3, 4, dtype=torch.long), **limits
        )
    ours = load(room, theirs)
    tokens, _ = room.greedy(
        ours.start_decoding(), to(begin), eos_id=EOS, max_new_tokens=6, pad_id=EOS
    )
    assert tokens.tolist() == expected.tolist()


def test_the_gradients_are_theirs(theirs):
    """Of every parameter, in the NumPy room by hand and in torch by autograd."""
    ours, module = load(qn, theirs).train(), load(qt, theirs)
    dlogits = np.random.default_rng(2).standard_normal((*IDS.shape, V))
    ours(IDS)
    ours.backward(dlogits)
    theirs.zero_grad()
    theirs(torch.tensor(IDS)).logits.backward(torch.tensor(dlogits))
    module(torch.tensor(IDS)).backward(torch.tensor(dlogits))
    slopes = GPT2LMHeadModel(theirs.config).double()
    with torch.no_grad():
        for (_, p), (_, q) in zip(
            slopes.named_parameters(), theirs.named_parameters(), strict=True
        ):
            p.copy_(q.grad)
    expected = parameters_of(slopes)
    theirs.zero_grad()
    for name, gradient in ours.named_gradients():
        close(gradient, expected[name])
    assert set(expected) == set(state_dict(module))
    for name, parameter in module.named_parameters():
        turned = expected[name].ndim == 2 and ".w_" in name
        close(parameter.grad.T if turned else parameter.grad, expected[name])
