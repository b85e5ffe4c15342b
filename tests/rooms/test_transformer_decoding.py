"""Token by token is all at once: caches, positions, beams that part, searches that end."""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.models import CASES, MODELS, V, detached, tensors, texts, twins
from tests.helpers.rooms import ROOMS, close

BOTH = [(case, model) for case in CASES for model in MODELS]
WAYS = {"one by one": [1] * 11, "a beginning first": [7, 1, 2, 1]}
N = 11


def model_in(room, case="as in the paper", model="encoder-decoder", **more):
    return twins(case, model, **more)[0 if room is qn else 1].eval()


def array(x):
    return np.asarray(detached(x))


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("case", "model"), BOTH)
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_token_by_token_is_all_at_once(room, to, case, model, way, seen):
    """Every token stands at its own position and sees all before it: pitfall 24."""
    layer = model_in(room, case, model)
    *source, ids = map(to, texts(layer.config, model, T=N))
    whole = {}
    expected = array(layer(*source, ids, attention_maps=whole))
    state = layer.start_decoding(*source)
    start = 0
    for t in WAYS[way]:
        end, found = start + t, {} if seen else None
        close(array(state.extend(ids[:, start:end], attention_maps=found)), expected[:, start:end])
        assert state.length == end
        for name, weights in (found or {}).items():
            keys = slice(None) if "cross" in name else slice(end)
            close(array(weights), array(whole[name])[:, :, start:end, keys])
        if seen:
            assert list(found) == [name for name in whole if name.startswith("decoder")]
        start = end


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_state_is_a_step(room, to, model):
    """Called with whole prefixes, it tells how likely each token comes next."""
    layer = model_in(room, "as models are today", model)
    *source, ids = map(to, texts(layer.config, model, T=N))
    expected = log_softmax(array(layer(*source, ids)))
    state = layer.start_decoding(*source)
    for end in (3, 4, 5, 9, 11):
        found = array(state(ids[:, :end]))
        close(found, expected[:, end - 1])
        close(np.exp(found).sum(-1), np.ones(2))


@pytest.mark.parametrize("case", ["as in the paper", "falling scores", "no table tied, bias"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_rows_go_on_from_others(room, to, model, case):
    """Beams part, and texts end: each row keeps its tokens, its source and its mask."""
    layer = model_in(room, case, model)
    *source, ids = texts(layer.config, model, T=N)
    state = layer.start_decoding(*map(to, source))
    state(to(ids[:, :2]))
    length = 2
    for parents in ([1, 0], [0, 0, 1, 1, 1], [1, 0, 4, 2, 2], [4, 2], [1], [0, 0]):
        ids, source = ids[parents], [a[parents] for a in source]
        ids[:, length] = (ids[:, length] + np.arange(len(parents))) % (V - 1) + 1
        length += 1
        state.reorder(np.asarray(parents) if length % 2 else parents)
        expected = array(layer(*map(to, source), to(ids[:, :length])))
        close(array(state(to(ids[:, :length]))), log_softmax(expected[:, -1]))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_beams_of_one_text_share_a_memory(room, to):
    """Nothing of the source is copied while each row stays with its text."""
    layer = model_in(room)
    source, ids = texts(layer.config)
    state = layer.start_decoding(to(source))
    state(to(ids[:, :1]))
    cross_attention = state.caches[0].cross_attention
    state.reorder([0, 0, 1, 1])
    held = state.memory, state.memory_mask, cross_attention.shared_rows()[0]
    assert len(held[0]) == 4
    state.reorder([1, 0, 3, 3])
    after = state.memory, state.memory_mask, cross_attention.shared_rows()[0]
    for a, b in zip(held, after, strict=True):
        assert np.shares_memory(array(a), array(b))
    state.reorder([3])
    close(array(state.memory), array(held[0])[3:])


def uncached(layer, source, to, per_text):
    """The step that computes all of it again each time."""

    def step(prefixes):
        rows = np.repeat(np.arange(2), per_text)
        logits = layer(*(to(a[rows]) for a in source), prefixes)
        return to(log_softmax(array(logits)[:, -1]))

    return step


@pytest.mark.parametrize("case", ["as in the paper", "learned positions", "as models are today"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_searches_find_the_same_with_and_without(room, to, model, case):
    layer = model_in(room, case, model)
    *source, ids = texts(layer.config, model)
    begin, options = to(ids[:, :2]), {"eos_id": 3, "max_new_tokens": 7}
    for beam_size in (1, 2, 4):

        def search(step, beam_size=beam_size):
            if beam_size == 1:
                return room.greedy(step, begin, **options)
            return room.beam_search(step, begin, **options, beam_size=beam_size, n_best=beam_size)

        expected = search(uncached(layer, source, to, beam_size))
        found = search(layer.start_decoding(*map(to, source)))
        assert np.array_equal(array(found[0]), array(expected[0]))
        close(array(found[1]), array(expected[1]))


def test_both_rooms_write_the_same():
    ours, theirs = (m.eval() for m in twins("as in the paper"))
    source, ids = texts(ours.config)
    options = {"eos_id": 3, "max_new_tokens": 9, "beam_size": 3}
    found = qn.beam_search(ours.start_decoding(source), ids[:, :1], **options)
    expected = qt.beam_search(
        theirs.start_decoding(torch.tensor(source)), torch.tensor(ids[:, :1]), **options
    )
    assert np.array_equal(found[0], expected[0])
    close(found[1], expected[1])


def test_torch_keeps_no_graph_while_decoding():
    layer = model_in(None)
    source, ids = tensors(texts(layer.config))
    state = layer.start_decoding(source)
    assert not state.memory.requires_grad
    assert not state.extend(ids[:, :2]).requires_grad
    assert not state(ids[:, :3]).requires_grad


@pytest.mark.parametrize("way", ["call", "extend"])
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_refused_step_leaves_the_state_as_it_was(room, to, way):
    layer = model_in(room, "learned positions")
    source, ids = texts(layer.config, T=N)
    state = layer.start_decoding(to(source))
    expected = array(layer(to(source), to(ids)))
    state.extend(to(ids[:, :4]))
    wrong = ids.copy()
    wrong[1, 5] = 99
    more = np.concatenate([ids, ids], 1)
    for bad in (wrong, more, ids[:1]):
        with pytest.raises(ValueError, match=r"must be"):
            state(to(bad)) if way == "call" else state.extend(to(bad[:, 4:]))
        assert state.length == 4
    close(array(state.extend(to(ids[:, 4:]))), expected[:, 4:])
