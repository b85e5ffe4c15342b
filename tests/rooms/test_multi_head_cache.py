"""Keys and values kept from step to step: cached is uncached, in both rooms; beams; refusals."""

import numpy as np
import pytest
import torch
import torch._dynamo
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import copy_parameters
from tests.helpers.rooms import ROOMS, close

B, S, D = 2, 7, 12
OPTIONS = {
    "plain": {},
    "rotary": {"rotary": True},
    "grouped": {"n_kv_heads": 2},
    "multi-query, rotary": {"n_kv_heads": 1, "rotary": True},
}
WAYS = {
    "one by one": [1] * 11,
    "a prompt first": [7, 1, 1, 2],
    "past the room of 32": [31, 1, 1, 2, 40],
}
WIDTHS = 6, 4, 5  # heads, d_k, d_v


def twins(options, seed=0):
    """The same layer in both rooms, in eval mode."""
    layer = qn.MultiHeadAttention(
        D, *WIDTHS, **options, rng=np.random.default_rng(seed), dtype=np.float64
    )
    module = qt.MultiHeadAttention(D, *WIDTHS, **options, dtype=torch.float64)
    copy_parameters(layer, module)
    return {"numpy": layer.eval(), "torch": module.eval()}


def layer_in(room, options=None):
    return twins(options or {})["numpy" if room is qn else "torch"]


def detached(x):
    return x.detach() if isinstance(x, torch.Tensor) else x


def joined(parts):
    return np.concatenate([np.asarray(detached(part)) for part in parts], 1)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_cached_is_uncached(room, array, name, way, need_weights):
    """Every step stands at its own position, and sees all before it: pitfalls 16 and 24."""
    layer, steps = layer_in(room, OPTIONS[name]), WAYS[way]
    rng = np.random.default_rng(1)
    n = sum(steps)
    x, bias = rng.standard_normal((B, n, D)), rng.standard_normal((WIDTHS[0], n, n))
    words = rng.random((B, 1, 1, n)) > 0.2
    words[..., 0] = True
    expected, expected_weights = layer(
        array(x), mask=array(words), bias=array(bias), causal=True, need_weights=True
    )
    cache, outs, start = room.KeyValueCache(), [], 0
    with torch.no_grad():
        for t in steps:
            end = start + t
            out, weights = layer(
                array(x[:, start:end]),
                mask=array(words[..., :end]),
                bias=array(bias[:, start:end, :end]),
                causal=True,
                need_weights=need_weights,
                cache=cache,
            )
            outs.append(out)
            if need_weights:
                close(detached(weights), detached(expected_weights)[:, :, start:end, :end])
            start = end
            assert cache.length == start
    close(joined(outs), detached(expected))
    n_kv_heads = OPTIONS[name].get("n_kv_heads", WIDTHS[0])
    assert tuple(cache.keys.shape) == (B, n_kv_heads, n, WIDTHS[1])
    assert tuple(cache.values.shape) == (B, n_kv_heads, n, WIDTHS[2])


@pytest.mark.parametrize("options", [{}, {"kdim": 5, "vdim": 9}, {"n_kv_heads": 2, "vdim": 5}])
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_cached_is_uncached_with_a_value_beside_the_memory(room, array, options):
    """And a row of another sentence goes on with that sentence's value."""
    layer = layer_in(room, options)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((B, 6, D))
    memory, value = (rng.standard_normal((B, 7, options.get(d, D))) for d in ("kdim", "vdim"))
    expected, _ = layer(*map(array, (x, memory, value)))
    cache = room.KeyValueCache()
    with torch.no_grad():
        outs = [
            layer(*map(array, (x[:, t : t + 1], memory, value)), cache=cache)[0] for t in range(6)
        ]
        close(joined(outs), detached(expected))
        cache.reorder([1, 1, 0])
        rows = [1, 1, 0]
        turned = layer(*map(array, (x[rows], memory[rows], value[rows])), cache=cache)[0]
    close(detached(turned), np.asarray(detached(expected))[rows])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_a_memory_is_projected_once(room, array):
    layer = layer_in(room, OPTIONS["grouped"])
    rng = np.random.default_rng(2)
    x, memory = array(rng.standard_normal((B, 5, D))), array(rng.standard_normal((B, S, D)))
    mask = array(np.arange(S) < np.array([S, 4])[:, None, None, None])
    expected, _ = layer(x, memory, mask=mask)
    calls, cache = [], room.KeyValueCache()
    for name in ("w_k", "w_v"):
        count(layer, name, calls)
    outs = [layer(x[:, t : t + 1], memory, mask=mask, cache=cache)[0] for t in range(5)]
    close(joined(outs), detached(expected))
    assert calls == ["w_k", "w_v"]
    assert cache.is_static
    assert cache.length == S


def count(layer, name, calls):
    """Note each call of a projection."""
    projection = getattr(layer, name)
    if isinstance(projection, torch.nn.Module):
        projection.register_forward_pre_hook(lambda *_: calls.append(name))
        return

    class Counted(qn.Linear):
        def __call__(self, x):
            calls.append(name)
            return super().__call__(x)

    projection.__class__ = Counted


@pytest.mark.parametrize("indices", [[1, 0], [0, 0], [1], [0, 0, 1, 1, 1], [0, 1]], ids=str)
@pytest.mark.parametrize("as_array", [True, False])
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_a_reordered_row_goes_on_from_its_old_one(room, array, indices, as_array):
    layer = layer_in(room, OPTIONS["multi-query, rotary"])
    rng = np.random.default_rng(3)
    past, new = rng.standard_normal((B, 5, D)), rng.standard_normal((len(indices), 2, D))
    whole = np.concatenate([past[indices], new], 1)
    expected, _ = layer(array(whole), causal=True)
    cache = room.KeyValueCache()
    with torch.no_grad():
        layer(array(past), causal=True, cache=cache)
        cache.reorder(array(np.array(indices)) if as_array else indices)
        out, _ = layer(array(new), causal=True, cache=cache)
    close(out, detached(expected)[:, 5:])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_a_memory_is_reordered_too(room, array):
    layer, memory = layer_in(room), np.random.default_rng(4).standard_normal((B, S, D))
    x = np.random.default_rng(5).standard_normal((3, 1, D))
    cache = room.KeyValueCache()
    layer(array(x[:B]), array(memory), cache=cache)
    cache.reorder([1, 1, 0])
    out, _ = layer(array(x), array(memory[[1, 1, 0]]), cache=cache)
    close(detached(out), detached(layer(array(x), array(memory[[1, 1, 0]]))[0]))


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_room_doubles_and_a_step_writes_in_place(room, array):
    """A thousand tokens move the store a few times; in between, nothing held is copied."""
    cache, moves, before = room.KeyValueCache(), 0, None
    token = array(np.ones((1, 1, 1, 1)))
    with torch.no_grad():
        for n in range(1000):
            keys, _ = cache.append(token * n, token)
            at = keys.data_ptr() if room is qt else keys.ctypes.data
            moves, before = moves + (at != before), at
    assert moves <= 6
    close(cache.keys[0, 0, :, 0], np.arange(1000))


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_a_cache_keeps_no_hold_of_what_it_was_given(room, array):
    k = array(np.ones((1, 1, 2, 3)))
    cache = room.KeyValueCache()
    with torch.no_grad():
        cache.append(k, k)
    k[...] = 5
    close(cache.keys, np.ones((1, 1, 2, 3)))


def test_gradients_flow_through_a_cache_of_torch():
    layer = twins(OPTIONS["rotary"])["torch"]
    x = torch.randn(B, 5, D, dtype=torch.float64, requires_grad=True)
    dout = torch.randn(B, 5, D, dtype=torch.float64)
    expected = torch.autograd.grad(layer(x, causal=True)[0], x, dout)[0]
    cache = qt.KeyValueCache()
    outs = [layer(x[:, t : t + 1], causal=True, cache=cache)[0] for t in range(4)]
    cache.reorder([0, 1])
    outs.append(layer(x[:, 4:], causal=True, cache=cache)[0])
    close(torch.autograd.grad(torch.cat(outs, 1), x, dout)[0], expected)


@pytest.mark.parametrize("dynamic", [False, None])
@torch.no_grad()
def test_decoding_compiles_whole(dynamic):
    torch.compiler.reset()
    layer = twins(OPTIONS["multi-query, rotary"])["torch"]
    x = torch.randn(B, 5, D, dtype=torch.float64)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    cache = qt.KeyValueCache()
    outs = [compiled(x[:, t : t + 1], causal=True, cache=cache)[0] for t in range(5)]
    close(torch.cat(outs, 1), layer(x, causal=True)[0])


# ---------------------------------------------------------------- the rooms agree, or both refuse


@st.composite
def steps(draw):
    """Sizes of a layer and of a run of calls, most of which fit."""
    n_heads = draw(st.integers(1, 6))
    sizes = {
        "d_model": draw(st.integers(0, 6)),
        "n_heads": n_heads,
        "d_k": draw(st.sampled_from([None, 1, 2, 4])),
        "d_v": draw(st.sampled_from([None, 1, 3])),
        "n_kv_heads": draw(st.sampled_from([None, 1, 2, n_heads])),
        "rotary": draw(st.booleans()),
    }
    batch = draw(st.integers(1, 3))

    def call():
        length = draw(st.integers(0, 3))
        return {
            "shape": (draw(st.sampled_from([batch] * 6 + [4])), length),
            "memory": draw(st.sampled_from([None, None, None, 0, 3])),
            "mask": draw(st.sampled_from([None, None, (1, 1), (length, 1), (n_heads, 1, 3)])),
            "causal": draw(st.booleans()),
            "cache": draw(st.sampled_from([True, True, False])),
            "reorder": draw(st.sampled_from([None, None, None, [0], [0, 3], [-1]])),
        }

    return sizes, [call() for _ in range(draw(st.integers(1, 4)))], draw(st.integers(0, 999))


def run(room, array, layer, calls, seed):
    """What each call of a run gives, or the words with which it is refused."""
    rng, cache, said = np.random.default_rng(seed), room.KeyValueCache(), []
    for call in calls:
        x = rng.standard_normal((*call["shape"], layer.sizes[0]))
        memory, mask = call["memory"], call["mask"]
        if memory is not None:
            memory = array(rng.standard_normal((call["shape"][0], memory, layer.sizes[0])))
        if mask is not None:
            mask = array(rng.random(mask) > 0.3)
        try:
            if call["reorder"] is not None:
                cache.reorder(call["reorder"])
            said += layer(
                array(x),
                memory,
                mask=mask,
                causal=call["causal"],
                need_weights=True,
                cache=cache if call["cache"] else None,
            )
        except ValueError as error:
            said.append(str(error))
        said.append(cache.length)
    return said


@settings(max_examples=200, deadline=None)
@given(steps())
def test_the_rooms_agree_or_refuse_in_the_same_words(run_of):
    sizes, calls, seed = run_of
    made = []
    for room, dtype in ((qn, np.float64), (qt, torch.float64)):
        try:
            made.append(room.MultiHeadAttention(**sizes, dtype=dtype))
        except ValueError as error:
            made.append(str(error))
    if isinstance(made[0], str) or isinstance(made[1], str):
        assert made[0] == made[1]
        return
    copy_parameters(*made)
    numpy_says = run(qn, np.asarray, made[0].eval(), calls, seed)
    torch_says = run(qt, torch.as_tensor, made[1].eval(), calls, seed)
    for a, b in zip(numpy_says, torch_says, strict=True):
        if isinstance(a, str | int) or isinstance(b, str | int):
            assert a == b
        else:
            close(a, b.detach())


# --------------------------------------------------------------------------------------- refusals


def filled(r, make, shape=(2, 6, 3, 4), memory=False):
    cache = r.KeyValueCache()
    k, v = make(np.ones(shape)), make(np.ones((*shape[:3], 5)))
    (cache.set_static if memory else cache.append)(k, v)
    return cache


def step(r, make, cache, memory=None, batch=2, **options):
    x = make(np.ones((batch, 1, D)))
    memory = None if memory is None else make(np.ones((batch, memory, D)))
    layer_in(r)(x, memory, cache=cache, **options)


NAME = "MultiHeadAttention: "
EACH = ": each attention has a cache of its own"
REFUSED = {
    NAME + "cache.keys must be (B, n_kv_heads, S, d_k) = (3, 6, 3, 4), got (2, 6, 3, 4): "
    "begin a new cache with each batch, and reorder it when sentences go": lambda r, m: step(
        r, m, filled(r, m), batch=3
    ),
    NAME
    + "cache.keys must be (B, n_kv_heads, S, d_k) = (2, 6, 3, 4), got (2, 2, 3, 4)"
    + EACH: lambda r, m: step(r, m, filled(r, m, (2, 2, 3, 4))),
    NAME + "cache.keys must be (B, n_kv_heads, S, d_k) = (2, 6, 7, 4), got (2, 6, 3, 4): "
    "begin a new cache with each memory": lambda r, m: step(r, m, filled(r, m, memory=True), 7),
    NAME + "cache must hold keys of x, got keys of a memory" + EACH: lambda r, m: step(
        r, m, filled(r, m, memory=True)
    ),
    NAME + "cache must hold keys of a memory, got keys of x" + EACH: lambda r, m: step(
        r, m, filled(r, m), 3
    ),
    NAME + "causal must be False with a memory and a cache: "
    "no key of a memory comes after a query": lambda r, m: step(
        r, m, r.KeyValueCache(), 3, causal=True
    ),
    NAME + "mask must broadcast to (B, H, T, S) = (2, 6, 1, 4), got (1, 3): "
    "a padding mask is (B, 1, 1, S), a causal one (1, 1, T, S)": lambda r, m: step(
        r, m, filled(r, m), mask=m(np.ones((1, 3), bool))
    ),
    "KeyValueCache.append: the cache must be empty, got 3 keys: "
    "a memory is put in once, tokens are appended: begin a new cache": lambda r, m: filled(
        r, m, memory=True
    ).append(m(np.ones((2, 6, 1, 4))), m(np.ones((2, 6, 1, 5)))),
    "KeyValueCache.append: k must be (B, n_kv_heads, T, d_k) = (2, 6, T, 4), got (2, 6, 1, 5): "
    "pass the heads of the new tokens alone": lambda r, m: filled(r, m).append(
        m(np.ones((2, 6, 1, 5))), m(np.ones((2, 6, 1, 5)))
    ),
    "KeyValueCache.append: v must be (B, n_kv_heads, T, d_v) = (2, 6, 1, 5), got (2, 6, 2, 5): "
    "pass the heads of the new tokens alone": lambda r, m: filled(r, m).append(
        m(np.ones((2, 6, 1, 4))), m(np.ones((2, 6, 2, 5)))
    ),
    "KeyValueCache.append: k must be float64 as cache is, got float32: convert it": lambda r, m: (
        filled(r, m).append(
            m(np.ones((2, 6, 1, 4), np.float32)), m(np.ones((2, 6, 1, 5), np.float32))
        )
    ),
    "KeyValueCache.set_static: k must be (B, n_kv_heads, T, d_k), "
    "got (2, 6, 3): pass the heads of the new tokens alone": lambda r, m: (
        r.KeyValueCache().set_static(m(np.ones((2, 6, 3))), m(np.ones((2, 6, 3))))
    ),
    "KeyValueCache.reorder: the cache must hold keys, got none: append some first": lambda r, m: (
        r.KeyValueCache().reorder([0])
    ),
    "KeyValueCache.reorder: indices[1] must be a row of the cache, 0 to 1, got 2: "
    "name the old row that each new row goes on from": lambda r, m: filled(r, m).reorder([0, 2]),
    "KeyValueCache.reorder: indices[0] must be a row of the cache, 0 to 1, got -1: "
    "name the old row that each new row goes on from": lambda r, m: filled(r, m).reorder(
        m(np.array([-1]))
    ),
    "KeyValueCache.reorder: indices[0] must be a row of the cache, 0 to 1, got 1.0: "
    "name the old row that each new row goes on from": lambda r, m: filled(r, m).reorder(
        m(np.array([1.0]))
    ),
    "KeyValueCache.reorder: indices must be (N,), got 1: one for each new row": lambda r, m: filled(
        r, m
    ).reorder(m(np.array(1))),
}


@pytest.mark.parametrize(("room", "array"), ROOMS)
@pytest.mark.parametrize("words", REFUSED)
def test_refused_in_the_same_words(words, room, array):
    with torch.no_grad(), pytest.raises(ValueError) as refusal:  # noqa: PT011 (compared below)
        REFUSED[words](room, array)
    assert str(refusal.value) == words


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_a_refused_step_leaves_the_cache_as_it_was(room, array):
    layer, cache = layer_in(room), room.KeyValueCache()
    x = array(np.random.default_rng(6).standard_normal((B, 3, D)))
    layer(x[:, :2], causal=True, cache=cache)
    with pytest.raises(ValueError, match="mask must broadcast"):
        layer(x[:, 2:], mask=array(np.ones((1, 2), bool)), causal=True, cache=cache)
    assert cache.length == 2
    out, _ = layer(x[:, 2:], causal=True, cache=cache)
    close(detached(out), detached(layer(x, causal=True)[0])[:, 2:])


@pytest.mark.parametrize("length", [5, 32])
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_reordering_writes_over_nobodys_keys(room, to, length):
    """Those of a memory, and those that fill the cache to its end, are copied."""
    rng = np.random.default_rng(0)
    k, v = to(rng.standard_normal((3, 2, length, 7))), to(rng.standard_normal((3, 2, length, 4)))
    before = np.asarray(k).copy()
    memory, tokens = room.KeyValueCache(), room.KeyValueCache()
    memory.set_static(k, v)
    tokens.append(k, v)
    for cache in (memory, tokens):
        with torch.no_grad():
            cache.reorder([2, 0, 2])
        assert np.array_equal(np.asarray(cache.keys), before[[2, 0, 2]])
    assert np.array_equal(np.asarray(k), before)
