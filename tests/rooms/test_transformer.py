"""Whole models: gradients, what reaches what, positions, dropout, names of what was looked at."""

import math

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import copy_parameters, matches_differences, same_gradients
from tests.helpers.models import CASES, MODELS, V, detached, tensors, texts, twins
from tests.helpers.rooms import ROOMS, close

BOTH = [(case, model) for case in CASES for model in MODELS]


# ------------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize(("case", "model"), BOTH)
def test_every_gradient_is_autograds(case, model, seen):
    ours, theirs = twins(case, model)
    ids = texts(ours.config, model)
    found, theirs_found = ({}, {}) if seen else (None, None)
    logits = ours(*ids, attention_maps=found)
    expected = theirs(*tensors(ids), attention_maps=theirs_found)
    close(logits, expected.detach())
    dlogits = np.random.default_rng(2).standard_normal(logits.shape)
    expected.backward(torch.tensor(dlogits))
    ours.backward(dlogits)
    same_gradients(ours, theirs)
    if seen:
        assert list(found) == list(theirs_found)
        for name, weights in found.items():
            close(weights, theirs_found[name].detach())


@pytest.mark.parametrize(("case", "model"), BOTH)
def test_hidden_states_and_the_projection_make_the_logits(case, model):
    """In both rooms, with the gradients of the hidden states alone."""
    ours, theirs = twins(case, model)
    ids = texts(ours.config, model)
    hidden, expected = ours.hidden_states(*ids), theirs.hidden_states(*tensors(ids))
    close(hidden, expected.detach())
    weight, bias, pad_id = ours.output_projection()
    close(hidden @ weight + (0 if bias is None else bias), ours(*ids))
    their_weight, their_bias, their_pad_id = theirs.output_projection()
    close(weight.T, their_weight.detach())
    assert (bias is None) == (their_bias is None)
    assert (
        pad_id
        == their_pad_id
        == (ours.config.pad_id if ours.config.tie_word_embeddings != "none" else None)
    )
    dout = np.random.default_rng(2).standard_normal(hidden.shape)
    ours.zero_grad()
    hidden = ours.hidden_states(*ids)
    ours.hidden_states_backward(dout)
    expected.backward(torch.tensor(dout))
    same_gradients(ours, theirs)


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("encoder-decoder", {"output_bias": True}),
        (
            "encoder-decoder",
            {"tie_word_embeddings": "none", "norm_first": True, "norm": "rms", "n_kv_heads": 1},
        ),
        ("decoder-only", {"positions": "learned", "max_len": 4, "activation": "swiglu"}),
    ],
)
def test_every_gradient_is_the_slope(model, more):
    tiny = {"vocab_size": 5, "d_model": 4, "n_heads": 2, "d_ff": 3, "n_layers": 1}
    tiny |= {"activation": "gelu", **more}
    layer, _ = twins("as in the paper", model, **tiny)
    ids = texts(layer.config, model, S=3, T=2)
    logits = layer(*ids)
    dlogits = np.random.default_rng(2).standard_normal(logits.shape)
    layer.backward(dlogits)
    layer.eval()

    def loss():
        return (layer(*ids) * dlogits).sum()

    found = dict(layer.named_gradients())
    for name, value in layer.named_parameters():
        if name.endswith("embedding.weight"):
            # The row of padding is no parameter: it stays zero, and has no gradient.
            assert not found[name][0].any()
            matches_differences(found[name][1:], loss, value[1:])
        else:
            matches_differences(found[name], loss, value)


def test_a_table_in_three_places_collects_from_all_of_them():
    """The gradient of one tied table is the sum of those of three tables of the same numbers."""
    tied, _ = twins("as in the paper")
    loose, _ = twins("no table tied", target_vocab_size=V, scale_embedding=True)
    state = tied.state_dict()
    table = state["source_embedding.weight"]
    state |= {"target_embedding.weight": table, "output.weight": table.T}
    loose.load_state_dict(state)
    ids = texts(tied.config)
    dlogits = np.random.default_rng(2).standard_normal((2, 5, V))
    for model in (tied, loose):
        model(*ids)
        model.backward(dlogits)
    found = dict(loose.named_gradients())
    together = found["source_embedding.weight"] + found["target_embedding.weight"]
    together += found["output.weight"].T
    together[0] = 0  # padding
    close(dict(tied.named_gradients())["source_embedding.weight"], together)


@pytest.mark.parametrize("case", ["as in the paper", "pre", "own widths"])
def test_encode_and_decode_go_back_one_by_one(case):
    """Two targets for one source: both send a gradient to the memory."""
    ours, theirs = twins(case)
    source, first = texts(ours.config)
    _, second = texts(ours.config, seed=3, T=3)
    rng = np.random.default_rng(2)
    douts = [rng.standard_normal((2, t, V)) for t in (5, 3)]
    memory, mask = ours.encode(source), ours.memory_mask(source)
    for target in (first, second):
        ours.decode(target, memory, memory_mask=mask)
    dmemory = ours.decode_backward(douts[1]) + ours.decode_backward(douts[0])
    ours.encode_backward(dmemory)

    memory = theirs.encode(torch.tensor(source))
    memory.retain_grad()
    mask = theirs.memory_mask(torch.tensor(source))
    for target, dout in zip((first, second), douts, strict=True):
        logits = theirs.decode(torch.tensor(target), memory, memory_mask=mask)
        logits.backward(torch.tensor(dout), retain_graph=True)
    close(dmemory, memory.grad)
    same_gradients(ours, theirs)


LAYERS = {
    "EncoderLayer": {},
    "EncoderLayer, pre": {"norm_first": True, "norm": "rms", "activation": "swiglu"},
    "EncoderLayer, widths": {"d_k": 2, "d_v": 5, "n_kv_heads": 1, "bias": False, "rotary": True},
    "DecoderLayer": {},
    "DecoderLayer, pre": {"norm_first": True, "activation": "gelu"},
    "DecoderLayer, alone": {"cross_attention": False, "norm": "rms"},
    "DecoderLayer, widths": {"d_k": 2, "d_v": 5, "n_kv_heads": 1, "bias": False, "rotary": True},
}


@pytest.mark.parametrize("B", [1, 2])
@pytest.mark.parametrize("T", [1, 5])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_and_stacks_go_back_to_x_and_memory(name, T, B):
    rng = np.random.default_rng(0)
    kind = name.partition(",")[0]
    stack = kind.removesuffix("Layer")
    layers = [getattr(qn, kind)(12, 3, 7, **LAYERS[name], rng=rng, dtype=np.float64) for _ in "ab"]
    ours = getattr(qn, stack)(layers, qn.LayerNorm(12, dtype=np.float64))
    own = {"dtype": torch.float64}
    layers = [getattr(qt, kind)(12, 3, 7, **LAYERS[name], **own) for _ in "ab"]
    theirs = getattr(qt, stack)(layers, qt.LayerNorm(12, **own))
    copy_parameters(ours, theirs)

    x, dout = rng.standard_normal((2, B, T, 12))
    mask = rng.random((B, 1, T, T)) > 0.4
    mask[..., 0] = True
    mask[0, :, T // 2] = False  # a query that may attend to nothing
    given = {"mask": mask, "bias": rng.standard_normal((3, T, T))}
    memory = None
    if stack == "Decoder" and LAYERS[name].get("cross_attention", True):
        memory = rng.standard_normal((B, 4, 12))
        given["memory_mask"] = np.arange(4) < np.array([4, 3][:B])[:, None, None, None]
    x_t = torch.tensor(x, requires_grad=True)
    m_t = None if memory is None else torch.tensor(memory, requires_grad=True)
    between = (memory,) if stack == "Decoder" else ()
    out = ours(x, *between, **given)
    given = {n: torch.tensor(a) for n, a in given.items()}
    expected = theirs(x_t, *((m_t,) if between else ()), **given)
    close(out, expected.detach())
    expected.backward(torch.tensor(dout))
    result = ours.backward(dout)
    dx, dmemory = result if stack == "Decoder" else (result, None)
    close(dx, x_t.grad)
    assert (dmemory is None) == (memory is None)
    if memory is not None:
        close(dmemory, m_t.grad)
    same_gradients(ours, theirs)


# ------------------------------------------------------------------------------ what reaches what


def run(room, to, model, ids, **given):
    return np.asarray(detached(model(*map(to, ids), **given)))


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize(("case", "model"), BOTH)
def test_no_token_sees_a_later_one(room, to, case, model):
    pair = twins(case, model)
    layer = pair[0] if room is qn else pair[1]
    *source, target = texts(layer.config, model)
    other = target.copy()
    other[:, 3] = other[:, 3] % (layer.config.target_vocabulary - 1) + 1
    assert (other[:, 3] != target[:, 3]).all()
    a, b = (run(room, to, layer, (*source, t)) for t in (target, other))
    close(a[:, :3], b[:, :3])
    assert (abs(a[:, 3:] - b[:, 3:]).max(-1) > 1e-6).all()


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize(("case", "model"), BOTH)
def test_padding_changes_nothing(room, to, case, model):
    """Each text of a padded batch gets the scores that it gets alone."""
    layer = twins(case, model, pad_id=0)[room is qt]
    ids = texts(layer.config, model)
    lengths = [5, 7], [3, 5]  # of source and target
    for text, ends in zip(ids, lengths[-len(ids) :], strict=True):
        for row, end in zip(text, ends, strict=True):
            row[:end] = np.maximum(row[:end], 1)
            row[end:] = 0
    together = run(room, to, layer, ids)
    for n in range(2):
        end = lengths[1][n]
        short = [
            text[n : n + 1, : ends[n]] for text, ends in zip(ids, lengths[-len(ids) :], strict=True)
        ]
        close(together[n, :end], run(room, to, layer, short)[0])


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_masks_hide_from_encoder_and_decoder(room, to):
    """A hidden token may be any: by source_mask where padding has no id of its own."""
    layer = twins("no table tied, bias")[room is qt]
    source, target = texts(layer.config)
    other = source.copy()
    other[:, 2] = other[:, 2] % (V - 1) + 1
    mask = np.ones((1, 1, 1, 7), bool)
    seen = [run(room, to, layer, (s, target), source_mask=to(mask)) for s in (source, other)]
    assert abs(seen[0] - seen[1]).max() > 1e-6
    mask[..., 2] = False
    seen = [run(room, to, layer, (s, target), source_mask=to(mask)) for s in (source, other)]
    close(*seen)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_target_mask_is_on_top_of_the_causal_one(room, to):
    layer = twins("as in the paper")[room is qt]
    ids, found = texts(layer.config), {}
    mask = np.ones((5, 5), bool)
    mask[4, 1] = False
    run(room, to, layer, ids, target_mask=to(mask), attention_maps=found)
    expected = np.tril(mask)
    for name in ("decoder.layers.0.self_attention", "decoder.layers.1.self_attention"):
        assert np.array_equal(
            np.asarray(detached(found[name])) > 0, np.tile(expected, (2, 3, 1, 1))
        )


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_source_of_padding_alone_is_no_number_but_zeros(room, to):
    layer = twins("as in the paper")[room is qt]
    source, target = texts(layer.config)
    source[0] = 0
    found = {}
    assert np.isfinite(run(room, to, layer, (source, target), attention_maps=found)).all()
    assert not np.asarray(detached(found["decoder.layers.0.cross_attention"]))[0].any()


# -------------------------------------------------------------------------- the weights, by name


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_weights_have_the_names_of_their_attentions(room, to):
    layer = twins("own widths")[room is qt]
    ids, found = texts(layer.config), {}
    run(room, to, layer, ids, attention_maps=found)
    assert list(found) == ["encoder.layers.0.self_attention"] + [
        f"decoder.layers.{i}.{kind}_attention" for i in range(3) for kind in ("self", "cross")
    ]
    attentions = dict(layer.named_modules())
    words = np.asarray(ids[0] != 0)
    for name, weights in found.items():
        assert isinstance(attentions[name], room.MultiHeadAttention)
        weights = np.asarray(detached(weights))
        T, S = (7, 7) if "encoder" in name else (5, 5) if "self" in name else (5, 7)
        assert weights.shape == (2, 5, T, S)
        close(weights.sum(-1), np.ones((2, 5, T)))
        if S == 7:
            assert not weights[~np.broadcast_to(words[:, None, None], weights.shape)].any()
        else:
            assert not np.triu(weights, 1).any()


def test_what_is_looked_at_changes_nothing():
    ours, theirs = twins("as models are today")
    ids = texts(ours.config)
    close(ours(*ids), ours(*ids, attention_maps={}))
    close(theirs(*tensors(ids)).detach(), theirs(*tensors(ids), attention_maps={}).detach())


# -------------------------------------------------------------------------- positions and dropout


class Through(torch.nn.Module):
    """In the place of the encoder: what goes in comes out."""

    def forward(self, x, **given):
        return x


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("scale", [True, False])
def test_waves_are_added_to_the_scaled_table_and_are_not_scaled(room, to, scale):
    layer = twins("as in the paper", scale_embedding=scale)[room is qt]
    source, _ = texts(layer.config)
    table = np.array(dict(layer.named_parameters())["source_embedding.weight"].tolist())
    layer.encoder = Through()
    expected = table[source] * (math.sqrt(12) if scale else 1)
    expected += qn.sinusoidal_encoding(7, 12, dtype=np.float64)
    close(detached(layer.encode(to(source))), expected)


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_the_order_of_the_source_counts_unless_there_are_no_positions(room, to, positions):
    layer = twins("as in the paper", positions=positions, n_heads=2)[room is qt]
    source, target = texts(layer.config)
    other = source[:, [0, 2, 1, 3, 4, 5, 6]]
    a, b = (run(room, to, layer, (s, target)) for s in (source, other))
    if positions == "none":
        close(a, b)
    else:
        assert abs(a - b).max() > 1e-4


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("norm_first", [False, True])
def test_dropout_falls_on_the_same_places_in_both_rooms(model, norm_first, monkeypatch):
    """With the same draws: on the sum of embedding and position, and after each sub-layer."""
    ours, theirs = twins("as in the paper", model, dropout=0.4, norm_first=norm_first)
    ids = texts(ours.config, model)
    draws, shapes = np.random.default_rng(7), []

    def rand(shape, **given):
        shapes.append(tuple(shape))
        return torch.tensor(draws.random(tuple(shape)))

    monkeypatch.setattr(torch, "rand", rand)
    same = np.random.default_rng(7)
    for _, layer in ours.named_modules():
        if isinstance(layer, qn.Dropout):
            layer.rng = same
    logits = ours(*ids)
    expected = theirs(*tensors(ids))
    close(logits, expected.detach())
    dlogits = np.random.default_rng(2).standard_normal(logits.shape)
    ours.backward(dlogits)
    expected.backward(torch.tensor(dlogits))
    same_gradients(ours, theirs)
    if model == "encoder-decoder":
        assert shapes == [(2, 7, 12)] * 5 + [(2, 5, 12)] * 7
    else:
        assert shapes == [(2, 5, 12)] * 5
    close(ours.eval()(*ids), theirs.eval()(*tensors(ids)).detach())
