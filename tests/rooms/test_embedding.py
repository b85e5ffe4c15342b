"""The token table: looking up, going back, padding, tied weights, ids out of range."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import copy_parameters, matches_differences, same_gradients
from tests.helpers.rooms import ROOMS, close, refused_alike, tensor

V, D = 11, 5
IDS = {
    "sentences": np.array([[3, 1, 3, 0], [7, 3, 10, 0]]),
    "one token": np.array([[4]]),
    "no axes": np.array(4),
    "one axis": np.array([2, 2, 2]),
    "three axes": np.arange(12).reshape(2, 3, 2) % 7,
    "nothing but padding": np.zeros((2, 3), int),
    "no tokens": np.zeros((2, 0), int),
}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_embedding_by_hand(room, to):
    table = to([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    close(room.embedding(to(np.array([[2, 0, 2]])), table, 10), [[[50, 60], [10, 20], [50, 60]]])
    close(room.embedding(to(np.array(1)), table), [3, 4])


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("scale", [1.0, 1, 0.5, 10])
def test_a_scale_is_one_number_to_the_function_and_to_the_layer(room, to, scale):
    """Read as a flag, 1.0 multiplied by √d_model in the layer, and by 1 in the function."""
    layer = room.Embedding(V, D, scale=scale)
    ids, table = to(np.array([[2, 0, 2]])), dict(layer.named_parameters())["weight"]
    found, expected = layer(ids), room.embedding(ids, table, scale)
    if room is qt:
        found, expected = found.detach(), expected.detach()
    close(found, expected, "float32")
    assert str(found.dtype).endswith("float32")
    root = room.embedding(ids, table, math.sqrt(D))
    layer = room.Embedding(V, D)
    layer.load_state_dict({"weight": table})
    close(*(x.detach() if room is qt else x for x in (layer(ids), root)), "float32")


@pytest.mark.parametrize("scale", [True, False, -1.0, math.nan])
def test_a_backward_refuses_the_scale_that_its_forward_refuses(scale):
    with pytest.raises(ValueError, match="embedding_backward: scale must be a number above 0"):
        qn.embedding_backward(np.ones((1, 2)), np.array([0]), np.ones((3, 2)), scale)


def test_embedding_backward_by_hand():
    dout = np.array([[1.0, 2.0], [30.0, 40.0], [500.0, 600.0]])
    dtable = qn.embedding_backward(dout, np.array([2, 0, 2]), np.zeros((4, 2)), 0.5)
    close(dtable, [[15, 20], [0, 0], [250.5, 301], [0, 0]])


@pytest.mark.parametrize("name", IDS)
def test_embedding_goes_back_as_autograd_and_as_differences_say(rng, name):
    ids, table = IDS[name], rng.standard_normal((V, D))
    dout = np.asarray(rng.standard_normal((*ids.shape, D)))
    table_t = torch.tensor(table, requires_grad=True)
    out = qt.embedding(torch.tensor(ids), table_t, 1.7)
    out.backward(torch.tensor(dout))
    close(qn.embedding(ids, table, 1.7), out.detach())
    close(out.detach(), 1.7 * F.embedding(torch.tensor(ids), torch.tensor(table)))
    gradient = qn.embedding_backward(dout, ids, table, 1.7)
    close(gradient, table_t.grad)
    matches_differences(gradient, lambda: (qn.embedding(ids, table, 1.7) * dout).sum(), table)


def test_the_sum_of_each_row_is_that_of_add_at(rng):
    """Every token many times over, in memory of any kind, with ids of any width."""
    ids = rng.integers(0, V, (300, 7)).T
    dout = rng.standard_normal((D, 300, 7)).T
    dout.flags.writeable = ids.flags.writeable = False
    expected = np.zeros((V, D))
    np.add.at(expected, ids, dout)
    for kind in ("int64", "int32", "int8", "uint8", "uint64"):
        close(qn.embedding_backward(dout, ids.astype(kind), expected), expected)
    narrow = qn.embedding_backward(dout.astype(np.float32), ids, expected.astype(np.float32))
    assert narrow.dtype == np.float32


def twins(rng, pad_id=0, scale=None):
    layer = qn.Embedding(V, D, pad_id, scale, rng=rng, dtype=np.float64)
    module = qt.Embedding(V, D, pad_id, scale, dtype=torch.float64)
    copy_parameters(layer, module)
    return layer, module


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("pad_id", [None, 0, 3])
@pytest.mark.parametrize("scale", [None, 1.0, 2, 0.25])
def test_the_layer_looks_up_and_collects(rng, pad_id, scale, name):
    layer, module = twins(rng, pad_id, scale)
    ids = IDS[name]
    dout = np.asarray(rng.standard_normal((*ids.shape, D)))
    for _ in range(2):  # gradients add up
        out = module(torch.tensor(ids))
        out.backward(torch.tensor(dout))
        close(layer(ids), out.detach())
        close(out.detach(), layer.params["weight"][ids] * (scale or math.sqrt(D)))
        assert layer.backward(dout) is None
    same_gradients(layer, module)


@pytest.mark.parametrize("pad_id", [None, 0, 3])
@pytest.mark.parametrize("shape", [(2, 4), (1, 1), ()])
def test_one_table_used_three_times_collects_all_its_gradients(rng, shape, pad_id):
    """Source, target and logits, as in the paper; each row also by finite differences."""
    layer, module = twins(rng, pad_id)
    source, target = rng.integers(0, V, (2, *shape))
    dout = np.asarray(rng.standard_normal((*shape, V)))

    def logits(table, source, target):
        return table.project(table(source) * 0.5 + table(target))

    for _ in range(2):  # gradients add up, over uses and over calls
        out = logits(module, torch.tensor(source), torch.tensor(target))
        out.backward(torch.tensor(dout))
        close(logits(layer, source, target), out.detach())
        dx = layer.project_backward(dout)
        close(dx, dout @ layer.params["weight"])
        layer.backward(dx)
        layer.backward(0.5 * dx)
    same_gradients(layer, module)
    if pad_id is None:
        layer.eval()
        loss = lambda: 2 * (logits(layer, source, target) * dout).sum()  # noqa: E731 (as told)
        matches_differences(layer.grads["weight"], loss, layer.params["weight"])


@pytest.mark.parametrize("loaded", [False, True])
def test_the_row_of_padding_is_zero_and_learns_nothing(rng, loaded):
    """Not even where a loaded table has another row there: then it is a constant."""
    layer, module = twins(rng, 3)
    assert not layer.params["weight"][3].any()
    assert not qt.Embedding(V, D, 3).weight[3].any()
    if loaded:
        layer.params["weight"][3] = 1
        copy_parameters(layer, module)
    ids = np.array([[3, 1, 3]])
    x_t = module(torch.tensor(ids))
    x_t.retain_grad()
    out = module.project(x_t)
    dout = rng.standard_normal(out.shape)
    out.backward(torch.tensor(dout))
    close(layer.project(layer(ids)), out.detach())
    close(out.detach(), layer(ids) @ layer.params["weight"].T)
    layer.pop_saved()
    dx = layer.project_backward(dout)
    close(dx, x_t.grad)
    layer.backward(dx)
    assert not layer.grads["weight"][3].any()
    assert layer.grads["weight"][[0, 1, 2, 4]].all()
    same_gradients(layer, module)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_entries_have_variance_one_after_scaling(room, to):
    table = room.Embedding(500, 300)
    weight = np.array(dict(table.named_parameters())["weight"].tolist())
    assert np.isclose(weight.var(), 1 / 300, rtol=0.02)
    out = np.array(table(to(np.arange(500))).tolist())
    assert np.isclose(out.var(), 1, rtol=0.02)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_other_dtypes_stay_what_they_are(dtype):
    layer = qn.Embedding(V, D, dtype=dtype)
    x = layer(IDS["sentences"])
    assert x.dtype == layer.project(x).dtype == dtype
    module = qt.Embedding(V, D, 0, dtype=getattr(torch, dtype))
    x = module(torch.tensor(IDS["sentences"], dtype=torch.uint8))
    assert x.dtype == module.project(x).dtype == getattr(torch, dtype)


def test_backwards_come_in_the_opposite_order_of_the_calls(rng):
    layer, _ = twins(rng)
    x = layer(IDS["sentences"])
    logits = layer.project(x)
    with pytest.raises(ValueError, match=r"Embedding\.backward: the latest call .* of project"):
        layer.backward(x)
    layer(IDS["sentences"])
    with pytest.raises(ValueError, match=r"project_backward: the latest call .* the layer itself"):
        layer.project_backward(logits)
    layer.project(x)
    with pytest.raises(ValueError, match=r"project_backward: dout must be \(2, 4, 11\)"):
        layer.project_backward(x)
    layer.zero_grad()
    with pytest.raises(ValueError, match=r"there is no call of this Embedding left"):
        layer.project_backward(logits)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_the_rooms_agree_or_refuse_in_the_same_words(data):
    size = st.integers(0, 5)
    shape = tuple(data.draw(st.lists(size, max_size=3)))
    rng = np.random.default_rng(data.draw(size))
    ids = rng.integers(*data.draw(st.sampled_from([(0, 5)] * 4 + [(0, 9), (-2, 5)])), shape)
    kinds = ["int64"] * 4 + ["int32", "int8", "uint8", "float32", "bool"]
    ids = np.asarray(ids).astype(data.draw(st.sampled_from(kinds)))
    pad_id = data.draw(st.sampled_from([None, 0, 4, 5, -1]))
    table = rng.standard_normal(data.draw(st.sampled_from([(5, 3)] * 4 + [(5,), (1, 5, 3)])))
    d_model = data.draw(size)
    x = rng.standard_normal((*shape, 3))
    said, tables = [], []
    for room, to in ((qn, np.asarray), (qt, tensor)):
        wide = to(np.float64(0)).dtype

        def make(room=room, wide=wide):
            layer = room.Embedding(5, d_model, pad_id, dtype=wide)
            tables.append(layer)
            if room is qt:
                copy_parameters(*tables)
            return layer

        for call in (
            lambda room=room, to=to: room.embedding(to(ids), to(table), 2.0),
            lambda make=make, to=to: make()(to(ids)),
            lambda room=room, wide=wide, to=to: (
                0 * room.Embedding(5, d_model, dtype=wide).project(to(x))
            ),
        ):
            try:
                said.append(np.array(call().tolist(), np.float64))
            except ValueError as error:
                said.append(str(error))
    for ours, theirs in zip(said[:3], said[3:], strict=True):
        if isinstance(ours, str) or isinstance(theirs, str):
            assert isinstance(ours, str)
            assert ours == theirs
        else:
            close(ours, theirs)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda r, to: r.Embedding(V, D)(to(np.array([[1, 2], [3, 11]]))),
            "Embedding: ids must be in [0, vocab_size) = [0, 11), got 11 at ids[1, 1]: "
            "the tokens are of another vocabulary",
        ),
        (
            lambda r, to: r.Embedding(V, D)(to(np.array([[1, -2, 30], [3, 1, 1]]))),
            "got -2 at ids[0, 1]",
        ),
        (
            lambda r, to: r.embedding(to(np.array(12)), to(np.ones((V, D)))),
            "embedding: ids must be in [0, vocab_size) = [0, 11), got 12: the tokens",
        ),
        (
            lambda r, to: r.Embedding(V, D)(to(np.ones((2, 3)))),
            "Embedding: ids must be an integer array, got float64: pass token ids",
        ),
        (
            lambda r, to: r.embedding(to(np.array([1])), to(np.ones(5))),
            "embedding: table must be (vocab_size, d_model), got (5,): each token has one vector",
        ),
        (
            lambda r, to: r.Embedding(0, D),
            "Embedding: vocab_size must be a whole number of at least 1, got 0",
        ),
        (
            lambda r, to: r.Embedding(V, D, V),
            "Embedding: pad_id must be below vocab_size = 11, got 11: padding is a token",
        ),
        (
            lambda r, to: r.Embedding(V, D, -1),
            "Embedding: pad_id must be a whole number of at least 0, got -1",
        ),
        (
            lambda r, to: r.Embedding(V, D, scale=True),
            "Embedding: scale must be a number above 0, got True: write math.sqrt(d_model), or 1.0",
        ),
        (
            lambda r, to: r.embedding(to(np.array([1])), to(np.ones((V, D))), False),
            "embedding: scale must be a number above 0, got False: write math.sqrt(d_model), or",
        ),
        (
            lambda r, to: r.Embedding(V, D, scale=0),
            "Embedding: scale must be a number above 0, got 0",
        ),
        (
            lambda r, to: r.Embedding(V, D, scale="root"),
            "Embedding: scale must be a number above 0, got 'root'",
        ),
        (
            lambda r, to: r.Embedding(V, D).project(to(np.ones((2, 3), np.float32))),
            "Embedding.project: x must be (..., d_model) = (..., 5), got (2, 3)",
        ),
        (
            lambda r, to: r.Embedding(V, D).project(to(np.ones((2, 5)))),
            "Embedding.project: x must be float32 as weight is, got float64",
        ),
    ],
)
def test_both_rooms_refuse_in_the_same_words(call, words):
    refused_alike(call, words)


@pytest.mark.parametrize("pad_id", [None, 0])
def test_torch_embedding_works_under_autocast_and_compiled(pad_id):
    table = qt.Embedding(V, D, pad_id)
    ids = torch.tensor(IDS["sentences"])

    def logits(ids):
        return table.project(table(ids))

    with torch.autocast("cpu", torch.bfloat16):
        out = logits(ids)
        assert out.dtype == torch.bfloat16
        out.float().sum().backward()
    assert table.weight.grad.dtype == torch.float32
    assert table.to("meta")(ids.to("meta")).shape == (2, 4, D)
    table = qt.Embedding(V, D, pad_id)
    compiled = torch.compile(logits, backend="aot_eager", fullgraph=True)
    close(compiled(ids).detach(), logits(ids).detach(), "float32")
    dout = torch.randn(2, 4, V)
    gradients = [
        torch.autograd.grad(call(ids), table.weight, dout)[0] for call in (compiled, logits)
    ]
    close(*gradients, "float32")
