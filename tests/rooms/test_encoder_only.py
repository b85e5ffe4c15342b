"""Encoder-only models in both rooms: logits, every gradient, padding, token types, refusals."""

import dataclasses

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import copy_parameters, matches_differences, same_gradients
from tests.helpers.models import config_of, detached, tensors
from tests.helpers.rooms import ROOMS, close, refused_alike

CASES = {
    "as BERT": {"output_bias": True, "norm_eps": 1e-12},
    "as BERT, pre-norm and untied": {
        "norm_first": True,
        "tie_word_embeddings": "none",
        "pad_id": None,
    },
    "as models are today": {"n_kv_heads": 1, "positions": "rotary", "norm": "rms"},
    "falling scores": {"positions": "alibi", "activation": "gelu_tanh", "n_heads": 4},
}
TYPES = 3
IDS = np.random.default_rng(0).integers(1, 17, (2, 5))
IDS[0, 3:] = 0
TOKEN_TYPES = np.random.default_rng(1).integers(0, TYPES, IDS.shape)


def bert_config(case, **more):
    options = {"positions": "learned", "activation": "gelu", "scale_embedding": False}
    return config_of("as in the paper", **{**options, **CASES[case], **more})


def twins(case, mlm_head=True, **more):
    """The same model in both rooms, none of its numbers at its first value."""
    rng = np.random.default_rng(2)
    config = bert_config(case, **more)
    ours = qn.EncoderOnly(config, TYPES, mlm_head, rng=rng, dtype=np.float64)
    for _, value in ours.named_parameters():
        value += rng.standard_normal(value.shape) * 0.3
    theirs = qt.EncoderOnly(config, TYPES, mlm_head, dtype=torch.float64)
    copy_parameters(ours, theirs)
    return ours, theirs


@pytest.mark.parametrize("case", CASES)
def test_the_rooms_agree_in_logits_maps_and_every_gradient(case):
    ours, theirs = twins(case)
    maps, their_maps = {}, {}
    logits = ours(IDS, token_types=TOKEN_TYPES, attention_maps=maps)
    ids, token_types = tensors((IDS, TOKEN_TYPES))
    expected = theirs(ids, token_types=token_types, attention_maps=their_maps)
    close(logits, expected.detach())
    assert set(maps) == {f"encoder.layers.{i}.self_attention" for i in range(2)}
    for name, weights in maps.items():
        close(weights, their_maps[name].detach())
    dlogits = np.random.default_rng(3).standard_normal(logits.shape)
    ours.backward(dlogits)
    expected.backward(torch.tensor(dlogits))
    same_gradients(ours, theirs)


@pytest.mark.parametrize(
    "name",
    ["token_types.weight", "inputs_norm.bias", "head.dense.weight", "head.norm.weight"],
)
def test_the_gradients_are_those_of_differences(name):
    ours, _ = twins("as BERT")
    dlogits = np.random.default_rng(3).standard_normal((*IDS.shape, 17))

    def loss():
        with ours.inference_mode():
            return (ours(IDS, token_types=TOKEN_TYPES) * dlogits).sum()

    ours(IDS, token_types=TOKEN_TYPES)
    ours.backward(dlogits)
    gradients, parameters = dict(ours.named_gradients()), dict(ours.named_parameters())
    matches_differences(gradients[name], loss, parameters[name])


def test_without_a_head_hidden_states_go_back_too():
    ours, theirs = twins("as BERT", mlm_head=False)
    x, expected = ours.hidden_states(IDS), theirs.hidden_states(torch.tensor(IDS))
    close(x, expected.detach())
    dx = np.random.default_rng(3).standard_normal(x.shape)
    ours.hidden_states_backward(dx)
    expected.backward(torch.tensor(dx))
    same_gradients(ours, theirs)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_each_token_sees_the_whole_text_and_no_padding(room, to):
    model = twins("as BERT")[room is qt].eval()

    def logits(ids, **given):
        return np.array(detached(model(to(ids), **given)).tolist())

    changed = IDS.copy()
    changed[:, 2] = changed[:, 2] % 16 + 1
    assert (abs(logits(changed) - logits(IDS)).max(-1) > 1e-6).all()
    longer = np.concatenate([IDS, np.zeros((2, 2), int)], 1)
    close(logits(longer)[:, :5], logits(IDS))
    close(logits(IDS, token_types=to(IDS * 0)), logits(IDS))
    blocked = np.eye(5, dtype=bool)
    close(logits(IDS, mask=to(blocked))[:, 0], logits(changed, mask=to(blocked))[:, 0])


def test_dropout_comes_after_the_norm_of_the_inputs():
    """What it leaves is 0 or twice a number of the norm, in the same places as in its backward."""
    ours, _ = twins("as BERT", dropout=0.5)
    whole, _ = twins("as BERT")
    found = {}
    for name, model in (("half", ours), ("whole", whole)):
        model.encoder = lambda x, name=name, **_: found.setdefault(name, x)
        model.hidden_states(IDS)
    kept = found["half"] != 0
    assert 0.3 < kept.mean() < 0.7
    close(found["half"][kept], 2 * found["whole"][kept])


CONFIG = bert_config("as BERT")
ONES = np.ones((2, 5), int)
REFUSED = {
    "EncoderOnly: ids must be an integer array, got float64: pass token ids": (
        lambda r, to: r.EncoderOnly(CONFIG)(to(np.ones((2, 5))))
    ),
    "EncoderOnly: token_types must be (B, T) = (2, 5), got (2, 4)": (
        lambda r, to: r.EncoderOnly(CONFIG)(to(ONES), token_types=to(ONES[:, :4]))
    ),
    "EncoderOnly: n_token_types must be": lambda r, to: r.EncoderOnly(CONFIG, 0),
    "EncoderOnly: mlm_head must be True or False, got 'no'": (
        lambda r, to: r.EncoderOnly(CONFIG, mlm_head="no")
    ),
    "EncoderOnly: target_vocab_size must be None, got 17": lambda r, to: r.EncoderOnly(
        dataclasses.replace(CONFIG, target_vocab_size=17)
    ),
    "EncoderOnly: the model must have a head, got mlm_head=False: hidden_states gives": (
        lambda r, to: r.EncoderOnly(CONFIG, mlm_head=False)(to(ONES))
    ),
    "MaskedLanguageModelHead: activation must be one of 'gelu', 'gelu_tanh', got 'relu'": (
        lambda r, to: r.EncoderOnly(dataclasses.replace(CONFIG, activation="relu"))
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_fit_is_refused_in_the_same_words(words):
    refused_alike(REFUSED[words], words)
