"""Decoders that look ahead: torch's without a mask, padding hidden, no token by token."""

import numpy as np
import pytest
import torch
from test_transformer_peers import DOUBLE, B, S, T, layer_state, shaken

import qkv.numpy as qn
import qkv.torch as qt
from qkv.config import parameter_count
from tests.helpers.layers import copy_parameters, same_gradients
from tests.helpers.models import MODELS, build, config_of, detached, tensors, texts, twins
from tests.helpers.rooms import ROOMS, close

D, HEADS, D_FF = 12, 3, 7


@pytest.mark.parametrize("causal", [True, False])
def test_a_decoder_layer_is_torchs_with_and_without_its_causal_mask(causal):
    theirs = shaken(
        torch.nn.TransformerDecoderLayer(D, HEADS, D_FF, 0.0, batch_first=True, **DOUBLE)
    )
    ours = qn.DecoderLayer(D, HEADS, D_FF, causal=causal, dtype=np.float64)
    ours.load_state_dict(
        {name: value.detach().numpy() for name, value in layer_state(theirs).items()}
    )
    module = qt.DecoderLayer(D, HEADS, D_FF, causal=causal, **DOUBLE)
    copy_parameters(ours, module)
    rng = np.random.default_rng(1)
    x, dout = rng.standard_normal((2, B, T, D))
    memory = rng.standard_normal((B, S, D))
    x_t = torch.tensor(x, requires_grad=True)
    blocked = ~qt.causal_mask(T)[0, 0] if causal else None
    expected = theirs(x_t, torch.tensor(memory), tgt_mask=blocked)
    expected.backward(torch.tensor(dout))
    close(ours(x, memory), expected.detach())
    close(ours.backward(dout)[0], x_t.grad)
    out = module(*tensors((x, memory)))
    close(out.detach(), expected.detach())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", ["as in the paper", "falling scores", "as models are today"])
def test_the_rooms_agree_where_the_decoder_looks_ahead(case, model):
    ours, theirs = twins(case, model, causal=False)
    ids = texts(ours.config, model)
    logits, expected = ours(*ids), theirs(*tensors(ids))
    close(logits, expected.detach())
    dlogits = np.random.default_rng(2).standard_normal(logits.shape)
    ours.backward(dlogits)
    expected.backward(torch.tensor(dlogits))
    same_gradients(ours, theirs)
    assert parameter_count(ours.config, model) == sum(p.numel() for p in theirs.parameters())


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("causal", [True, False])
def test_the_first_token_sees_the_last_and_none_sees_padding(room, to, model, causal):
    layer = twins("as in the paper", model, causal=causal)[room is qt].eval()
    *source, ids = texts(layer.config, model)

    def logits(ids):
        return np.array(detached(layer(*map(to, source), to(ids))).tolist())

    changed = ids.copy()
    changed[:, -1] = changed[:, -1] % (layer.config.vocab_size - 1) + 1
    seen = abs(logits(changed)[:, 0] - logits(ids)[:, 0]).max() > 1e-6
    assert seen != causal
    padded = np.concatenate([ids, np.zeros((len(ids), 3), int)], 1)
    close(logits(padded)[:, : ids.shape[1]], logits(ids))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_mask_can_let_a_prefix_be_seen_as_a_whole(room, to):
    """A prefix language model: the first two tokens see each other, the others look back."""
    layer = twins("as in the paper", "decoder-only", causal=False)[room is qt].eval()
    backward = twins("as in the paper", "decoder-only")[room is qt].eval()
    (ids,) = texts(layer.config, "decoder-only")
    n = ids.shape[1]
    prefix = np.tril(np.ones((n, n), bool))
    close(*(detached(x) for x in (layer(to(ids), mask=to(prefix)), backward(to(ids)))))
    prefix[:2, :2] = True
    found = detached(layer(to(ids), mask=to(prefix)))
    shorter = detached(layer(to(ids[:, :2])))
    close(found[:, :2], shorter)


def refused(room, to):
    """What each call that needs to look back alone is refused with."""
    own = {"dtype": np.float64} if room is qn else DOUBLE
    alone, both = (
        build(room, config_of("as in the paper", model, causal=False), model, **own).eval()
        for model in reversed(MODELS)
    )
    state = (
        build(room, config_of("as in the paper", MODELS[1]), MODELS[1], **own)
        .eval()
        .start_decoding()
    )
    ids = to(np.ones((1, 2), int))
    for call in (
        alone.start_decoding,
        lambda: both.start_decoding(ids),
        lambda: alone(ids, caches=state.caches),
        lambda: room.DecoderLayer(D, HEADS, D_FF, causal="no"),
    ):
        with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the words are compared below)
            call()
        yield str(refusal.value)


def test_what_needs_to_look_back_alone_is_refused():
    said, same = (list(refused(*param.values)) for param in ROOMS)
    assert said == same
    assert said[0].startswith(
        "DecoderOnly.start_decoding: the configuration must have causal=True, got F"
    )
    assert said[1].startswith(
        "Transformer.start_decoding: the configuration must have causal=True, got F"
    )
    assert said[2].startswith("DecoderOnly: cache must be None with causal=False: what is held")
    assert said[3] == "DecoderLayer: causal must be True or False, got 'no'"
