"""GPT-2 of Hugging Face, with its own parameters: the same logits and the same text, in both rooms.

The small model here is drawn at random; a trained checkpoint has the same names and shapes.
"""

import copy
import dataclasses

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import qkv.numpy as qn
from qkv.config import parameter_count
from qkv.hugging_face import load_gpt2
from tests.helpers.hugging_face import ROOM_NAMES, save_gradients
from tests.helpers.layers import same_gradients
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


@pytest.fixture(scope="module")
def folder(theirs, tmp_path_factory):
    """The folder that transformers saves."""
    path = tmp_path_factory.mktemp("gpt2")
    theirs.save_pretrained(path)
    return path


IDS = np.random.default_rng(1).integers(0, V, (3, 11))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_logits_and_the_last_hidden_states_are_theirs(theirs, folder, room, to):
    with torch.no_grad():
        found = theirs(torch.tensor(IDS), output_hidden_states=True)
    ours = load_gpt2(folder, ROOM_NAMES[room])
    with ours.inference_mode():
        close(ours(to(IDS)), found.logits)
        close(ours.hidden_states(to(IDS)), found.hidden_states[-1])
    assert sum(p.numel() for p in theirs.parameters()) == parameter_count(
        ours.config, "decoder-only"
    )


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_float32_file_gives_a_float32_model(theirs, tmp_path, room, to):
    single = copy.deepcopy(theirs).float()
    single.save_pretrained(tmp_path)
    ours = load_gpt2(tmp_path, ROOM_NAMES[room])
    with torch.no_grad():
        expected = single(torch.tensor(IDS)).logits
    with ours.inference_mode():
        logits = ours(to(IDS))
    assert str(logits.dtype).removeprefix("torch.") == "float32"
    close(logits, expected, "float32")


@pytest.mark.parametrize("change", [{"activation": "gelu"}, {"norm_eps": 1e-5}], ids=str)
def test_the_curve_and_the_eps_are_theirs_and_no_others(theirs, folder, change):
    """What could be had before: near, and not the same."""
    with torch.no_grad():
        expected = theirs(torch.tensor(IDS)).logits.numpy()
    loaded = load_gpt2(folder)
    ours = qn.DecoderOnly(dataclasses.replace(loaded.config, **change), dtype=np.float64)
    ours.load_state_dict(loaded.state_dict())
    error = abs(ours.eval()(IDS) - expected).max()
    assert 1e-4 < error < 1


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_text_is_theirs_token_by_token(theirs, folder, room, to):
    """With our cache and theirs."""
    limits = {"max_new_tokens": 6, "pad_token_id": EOS, "do_sample": False}
    begin = IDS[:, :4]
    with torch.no_grad():
        expected = theirs.generate(
            torch.tensor(begin), attention_mask=torch.ones(3, 4, dtype=torch.long), **limits
        )
    ours = load_gpt2(folder, ROOM_NAMES[room])
    tokens, _ = room.greedy(
        ours.start_decoding(), to(begin), eos_id=EOS, max_new_tokens=6, pad_id=EOS
    )
    assert tokens.tolist() == expected.tolist()


def test_the_gradients_are_theirs(theirs, folder, tmp_path):
    """Of every parameter, by hand in NumPy, read as if they were the parameters of a file."""
    ours, module = load_gpt2(folder).train(), load_gpt2(folder, "torch")
    dlogits = np.random.default_rng(2).standard_normal((*IDS.shape, V))
    ours(IDS)
    ours.backward(dlogits)
    theirs.zero_grad()
    theirs(torch.tensor(IDS)).logits.backward(torch.tensor(dlogits))
    save_gradients(theirs, tmp_path)
    expected = load_gpt2(tmp_path).state_dict()
    for name, gradient in ours.named_gradients():
        close(gradient, expected[name])
    module(torch.tensor(IDS)).backward(torch.tensor(dlogits))
    same_gradients(ours, module)
