"""One new token at a time through the layers and their caches: the same as all at once."""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.numpy.decoding.stable_top_k import stable_top_k as numpy_top_k
from qkv.torch.decoding.stable_top_k import stable_top_k as torch_top_k
from tests.helpers.models import CASES, MODELS, detached, texts, twins
from tests.helpers.rooms import ROOMS, close

BOTH = [(case, model) for case in CASES for model in MODELS]


def model_in(room, case="as in the paper", model="encoder-decoder", **more):
    return twins(case, model, **more)[0 if room is qn else 1].eval()


def array(x):
    return np.asarray(detached(x))


def logits_one_by_one(layer, source, ids):
    """(B, T, V) from a state that is given one token of each text after the other."""
    state = layer.start_decoding(*source)
    steps = [array(state.extend(ids[:, t : t + 1])) for t in range(ids.shape[1])]
    return np.concatenate(steps, 1)


@pytest.mark.parametrize(("case", "model"), BOTH)
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_every_choice_of_a_model_token_by_token(room, to, case, model):
    layer = model_in(room, case, model)
    *source, ids = map(to, texts(layer.config, model, T=11))
    close(logits_one_by_one(layer, source, ids), array(layer(*source, ids)))


@pytest.mark.parametrize("B", [1, 3])
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_one_text_and_several(room, to, B):
    layer = model_in(room)
    source, ids = map(to, texts(layer.config, B=B))
    close(logits_one_by_one(layer, [source], ids), array(layer(source, ids)))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_text_that_may_attend_to_no_word(room, to):
    layer = model_in(room)
    source, ids = texts(layer.config)
    source[0] = layer.config.pad_id
    expected = array(layer(to(source), to(ids)))
    close(logits_one_by_one(layer, [to(source)], to(ids)), expected)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_layer_of_another_class_is_called(room, to):
    class Doubled(room.FeedForward):
        def __call__(self, x):
            return 2 * super().__call__(x)

    layer = model_in(room)
    layer.decoder.layers[1].feed_forward.__class__ = Doubled
    source, ids = map(to, texts(layer.config))
    close(logits_one_by_one(layer, [source], ids), array(layer(source, ids)))


@pytest.mark.parametrize("where", ["the inputs", "a layer below"])
def test_a_function_in_the_place_of_a_layer_is_called(where, monkeypatch):
    layer = model_in(qn)
    source, ids = texts(layer.config)
    holder, name = layer, "target_inputs"
    if where == "a layer below":
        holder, name = layer.decoder.layers[0], "feed_forward"
    inner = getattr(holder, name)
    monkeypatch.setattr(holder, name, lambda *args: inner(*(-x for x in args[:1]), *args[1:]))
    changed = layer(source, ids)
    assert not np.allclose(changed, model_in(qn)(source, ids))
    close(logits_one_by_one(layer, [source], ids), changed)


@pytest.mark.parametrize("way", ["hook", "hook before", "forward of its own"])
def test_a_hook_is_called_at_each_step(way):
    layer = model_in(qt)
    source, ids = map(torch.tensor, texts(layer.config))
    inner = layer.decoder.layers[0].self_attention.w_v
    if way == "hook":
        inner.register_forward_hook(lambda module, args, out: 2 * out)
    elif way == "hook before":
        inner.register_forward_pre_hook(lambda module, args: (2 * args[0],))
    else:
        plain = inner.forward
        inner.forward = lambda x: 2 * plain(x)
    changed = array(layer(source, ids))
    assert not np.allclose(changed, array(model_in(qt)(source, ids)))
    close(logits_one_by_one(layer, [source], ids), changed)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_training_mode_in_mid_search_is_refused_as_ever(room, to):
    layer = model_in(room)
    source, ids = map(to, texts(layer.config))
    state = layer.start_decoding(source)
    state.extend(ids[:, :1])
    state.extend(ids[:, 1:2])
    layer.train()
    with pytest.raises(ValueError, match="cache must be None in training mode"):
        state.extend(ids[:, 2:3])


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_maps_can_be_asked_for_between_steps(room, to):
    """Beyond what the caches first had room for."""
    layer = model_in(room)
    source, ids = map(to, texts(layer.config, T=41))
    maps = {}
    expected = array(layer(source, ids, attention_maps=maps))
    state = layer.start_decoding(source)
    for t in range(41):
        found = {} if t in (36, 40) else None
        close(array(state.extend(ids[:, t : t + 1], attention_maps=found))[:, 0], expected[:, t])
        for name, weights in (found or {}).items():
            keys = slice(None) if "cross" in name else slice(t + 1)
            close(array(weights), array(maps[name])[:, :, t : t + 1, keys])


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_maps_can_be_asked_for_after_beams_have_parted(room, to):
    layer = model_in(room)
    source, ids = texts(layer.config, T=5)
    state = layer.start_decoding(to(source))
    state.extend(to(ids[:, :2]))
    state.reorder([1, 1, 1, 0, 0, 0])
    rows = [1, 1, 1, 0, 0, 0]
    expected, maps, found = {}, {}, {}
    expected = array(layer(to(source[rows]), to(ids[rows]), attention_maps=maps))
    close(array(state.extend(to(ids[rows, 2:3]))), expected[:, 2:3])
    close(array(state.extend(to(ids[rows, 3:4]), attention_maps=found)), expected[:, 3:4])
    close(array(state.extend(to(ids[rows, 4:5]))), expected[:, 4:5])
    name = "decoder.layers.1.cross_attention"
    close(array(found[name]), array(maps[name])[:, :, 3:4])


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_beams_of_a_text_read_one_copy_of_its_memory(room, to):
    layer = model_in(room)
    source, ids = map(to, texts(layer.config))
    state = layer.start_decoding(source)
    state(ids[:, :1])
    cache = state.caches[0].cross_attention
    held, _, _ = cache.shared_rows()
    state.reorder([0, 0, 0, 1, 1, 1])
    keys, values, K = cache.shared_rows()
    assert (len(keys), len(values), K) == (2, 2, 3)
    assert np.shares_memory(array(keys), array(held))
    state.reorder([4, 3, 5])  # the first text has ended
    keys, _, K = cache.shared_rows()
    assert (len(keys), K) == (1, 3)
    assert np.array_equal(array(keys[0]), array(held[1]))
    assert len(cache.keys) == 3


@pytest.mark.parametrize("shape", [(6, 4, 3, 7), (6, 1, 1, 7), (1, 4, 3, 7), (3, 7), (7,)])
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_beams_that_share_a_memory_may_have_masks_of_their_own(room, to, shape):
    """As rows that have a copy of it each, with heads that share their keys besides."""
    rng = np.random.default_rng(0)
    x, memory = rng.normal(size=(6, 3, 8)), rng.normal(size=(2, 7, 8))
    rows, mask = np.repeat([1, 0], 3), rng.random(shape) < 0.5
    layer = room.MultiHeadAttention(8, 4, n_kv_heads=2, dtype=to(x).dtype).eval()
    cache = room.KeyValueCache()
    layer(to(x[:2]), to(memory), cache=cache)
    cache.reorder([1, 1, 1, 0, 0, 0])
    assert len(cache.shared_rows()[0]) == 2
    options = {"mask": to(mask), "need_weights": True}
    found = layer(to(x), to(memory[rows]), cache=cache, **options)
    for shared, own in zip(found, layer(to(x), to(memory[rows]), **options), strict=True):
        close(array(shared), array(own))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_an_id_that_is_no_token_is_named_and_nothing_is_kept(room, to):
    layer = model_in(room)
    source, ids = texts(layer.config)
    state = layer.start_decoding(to(source))
    for t in (0, 1):
        state.extend(to(ids[:, t : t + 1]))
    for wrong in (-1, 99):
        bad = ids[:, 2:3].copy()
        bad[1] = wrong
        with pytest.raises(ValueError, match=rf"DecodingState: .*{wrong}"):
            state.extend(to(bad))
        assert state.length == 2
    close(array(state.extend(to(ids[:, 2:3])))[:, 0], array(layer(to(source), to(ids)))[:, 2])


def test_what_torch_returns_can_be_written_to():
    layer = model_in(qt)
    source, ids = map(torch.tensor, texts(layer.config))
    state = layer.start_decoding(source)
    state(ids[:, :1])
    for result in (state(ids[:, :2]), state.extend(ids[:, 2:3])):
        result[0] += 1  # tensors of inference mode refuse that


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_in_torch(dtype):
    layer = model_in(qt).to(dtype)
    source, ids = map(torch.tensor, texts(layer.config))
    with torch.no_grad():
        expected = layer(source, ids).float()
        state = layer.start_decoding(source)
        found = torch.cat([state.extend(ids[:, t : t + 1]) for t in range(5)], 1)
    assert found.dtype == dtype
    close(found.float(), expected, "bfloat16")


def test_autocast():
    layer = model_in(qt).float()
    source, ids = map(torch.tensor, texts(layer.config))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        expected = layer(source, ids)
        state = layer.start_decoding(source)
        found = torch.cat([state.extend(ids[:, t : t + 1]) for t in range(5)], 1)
    assert found.dtype == expected.dtype == torch.bfloat16
    close(found.float(), expected.float(), "bfloat16")


@pytest.mark.parametrize("k", [1, 3, 7, 11])
@pytest.mark.parametrize("values", [2, 5, 1000])
def test_the_k_largest_and_of_equals_the_first(values, k):
    x = np.random.default_rng(values).integers(0, values, (17, 11)).astype(np.float32)
    x[0] = -np.inf
    x[1, 3:] = -np.inf
    order = np.argsort(-x, 1, kind="stable")[:, :k]
    for found in (numpy_top_k(x, k), torch_top_k(torch.tensor(x), k)):
        assert np.array_equal(found[1], order)
        assert np.array_equal(found[0], np.take_along_axis(x, order, 1))
