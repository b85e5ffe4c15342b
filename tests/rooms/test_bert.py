"""BERT of Hugging Face, with its own parameters: the same hidden states and logits, in both rooms.

The small model here is drawn at random; a trained checkpoint has the same names and shapes.
"""

import json
import shutil

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertModel

from qkv.hugging_face import load_bert
from tests.helpers.hugging_face import ROOM_NAMES, save_gradients
from tests.helpers.layers import same_gradients
from tests.helpers.rooms import ROOMS, close

V, TYPES = 23, 3
IDS = np.random.default_rng(1).integers(1, V, (3, 11))
IDS[0, 7:] = 0
IDS[2, 10:] = 0
TOKEN_TYPES = np.random.default_rng(2).integers(0, TYPES, IDS.shape)


def bert(kind=BertForMaskedLM, dtype=torch.float64, std=0.5):
    """Every parameter is drawn, biases and norms too, so that none can be mixed up unnoticed."""
    config = BertConfig(
        vocab_size=V, hidden_size=12, num_hidden_layers=2, num_attention_heads=3,
        intermediate_size=19, max_position_embeddings=13, type_vocab_size=TYPES,
        layer_norm_eps=1e-3, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    assert config.hidden_act == "gelu"
    model = kind(config).to(dtype).eval()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=std, generator=generator)
    return model


def run(model):
    """What it gives with its padding hidden."""
    return model(
        torch.tensor(IDS),
        attention_mask=torch.tensor(IDS != 0).long(),
        token_type_ids=torch.tensor(TOKEN_TYPES),
        output_hidden_states=True,
    )


@pytest.fixture(scope="module")
def theirs():
    return bert()


@pytest.fixture(scope="module")
def folder(theirs, tmp_path_factory):
    """The folder that transformers saves."""
    path = tmp_path_factory.mktemp("bert")
    theirs.save_pretrained(path)
    return path


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_logits_and_the_last_hidden_states_are_theirs(theirs, folder, room, to):
    with torch.no_grad():
        found = run(theirs)
    ours = load_bert(folder, ROOM_NAMES[room])
    ids, token_types = to(IDS), to(TOKEN_TYPES)
    with ours.inference_mode():
        close(ours(ids, token_types=token_types), found.logits)
        close(ours.hidden_states(ids, token_types=token_types), found.hidden_states[-1])


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_float32_file_gives_a_float32_model(tmp_path, room, to):
    theirs = bert(dtype=torch.float32, std=0.1)
    theirs.save_pretrained(tmp_path)
    ours = load_bert(tmp_path, ROOM_NAMES[room])
    with torch.no_grad():
        expected = run(theirs).logits
    with ours.inference_mode():
        logits = ours(to(IDS), token_types=to(TOKEN_TYPES))
    assert str(logits.dtype).removeprefix("torch.") == "float32"
    close(logits, expected, "float32")


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_file_without_a_head_gives_hidden_states(tmp_path, room, to):
    """`BertModel` saves no head, and names without "bert."."""
    theirs = bert(BertModel)
    theirs.save_pretrained(tmp_path)
    ours = load_bert(tmp_path, ROOM_NAMES[room])
    assert not ours.mlm_head
    with torch.no_grad():
        expected = run(theirs).last_hidden_state
    with ours.inference_mode():
        close(ours.hidden_states(to(IDS), token_types=to(TOKEN_TYPES)), expected)
    with pytest.raises(ValueError, match="the model must have a head"):
        ours(to(IDS))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_without_a_token_for_padding_none_is_hidden(theirs, folder, tmp_path, room, to):
    """Where `pad_token_id` is null. Left out, it is 0, as Hugging Face has it."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    shutil.copy(folder / "model.safetensors", tmp_path)
    with torch.no_grad():
        seen = theirs(torch.tensor(IDS), token_type_ids=torch.tensor(TOKEN_TYPES)).logits
        hidden = run(theirs).logits
    assert (seen - hidden).abs().max() > 0.01
    del config["pad_token_id"]
    for entry, expected in (({}, hidden), ({"pad_token_id": None}, seen)):
        (tmp_path / "config.json").write_text(json.dumps(config | entry), "utf-8")
        ours = load_bert(tmp_path, ROOM_NAMES[room])
        with ours.inference_mode():
            close(ours(to(IDS), token_types=to(TOKEN_TYPES)), expected)


def test_the_gradients_are_theirs(theirs, folder, tmp_path):
    """Of every parameter, by hand in NumPy, read as if they were the parameters of a file.

    The row of padding alone differs: here it is a constant, there the tied output moves it.
    """
    ours, module = load_bert(folder).train(), load_bert(folder, "torch")
    dlogits = np.random.default_rng(3).standard_normal((*IDS.shape, V))
    ours(IDS, token_types=TOKEN_TYPES)
    ours.backward(dlogits)
    theirs.zero_grad()
    run(theirs).logits.backward(torch.tensor(dlogits))
    save_gradients(theirs, tmp_path)
    expected = load_bert(tmp_path).state_dict()
    expected["embedding.weight"][0] = 0
    gradients = dict(ours.named_gradients())
    assert set(gradients) == set(expected)
    for name, gradient in gradients.items():
        close(gradient, expected[name])
    logits = module(torch.tensor(IDS), token_types=torch.tensor(TOKEN_TYPES))
    logits.backward(torch.tensor(dlogits))
    same_gradients(ours, module)
