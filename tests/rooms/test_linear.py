"""The projection, dropout, and what every layer has: parameters, gradients, states, refusals."""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import copy_parameters, matches_differences, same_gradients
from tests.helpers.rooms import ROOMS, close, refused_alike

SHAPES = [(2, 3, 5), (1, 1, 5), (5,), (2, 1, 3, 5)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bias", [True, False])
def test_linear_goes_back_as_autograd_and_as_differences_say(rng, shape, bias):
    layer = qn.Linear(5, 7, bias, rng=rng, dtype=np.float64)
    module = qt.Linear(5, 7, bias, dtype=torch.float64)
    if bias:
        layer.params["bias"][:] = rng.standard_normal(7)
    copy_parameters(layer, module)
    x, dout = rng.standard_normal(shape), rng.standard_normal((*shape[:-1], 7))
    x_t = torch.tensor(x, requires_grad=True)
    out = module(x_t)
    out.backward(torch.tensor(dout))
    close(layer(x), out.detach())
    close(layer.backward(dout), x_t.grad)
    same_gradients(layer, module)

    def loss():
        return (qn.linear(x, layer.params["weight"], layer.params.get("bias")) * dout).sum()

    for name, value in layer.params.items():
        matches_differences(layer.grads[name], loss, value)


def test_gradients_add_up_over_calls_and_are_cleared(rng):
    layer = qn.Linear(5, 7, rng=rng, dtype=np.float64)
    xs, douts = rng.standard_normal((2, 3, 5)), rng.standard_normal((2, 3, 7))
    for x in xs:
        layer(x)
    close(layer.backward(douts[1]), douts[1] @ layer.params["weight"].T)
    close(layer.backward(douts[0]), douts[0] @ layer.params["weight"].T)
    close(layer.grads["weight"], sum(x.T @ dout for x, dout in zip(xs, douts, strict=True)))
    layer.zero_grad()
    assert not layer.grads["weight"].any()


def test_no_backward_without_a_call(rng):
    layer = qn.Linear(5, 7, rng=rng)
    dout = np.ones((3, 7), np.float32)
    with pytest.raises(ValueError, match=r"Linear\.backward: there is no call .* left"):
        layer.backward(dout)
    layer.eval()(np.ones((3, 5), np.float32))
    with pytest.raises(ValueError, match="in training mode"):
        layer.backward(dout)


def test_inputs_may_be_read_only_and_not_contiguous(rng):
    layer = qn.Linear(5, 7, rng=rng, dtype=np.float64)
    x = rng.standard_normal((5, 4)).T
    x.flags.writeable = False
    dout = rng.standard_normal((7, 4)).T
    dout.flags.writeable = False
    layer(x)
    close(layer.backward(dout), dout @ layer.params["weight"].T)


class Nest(qn.Layer):
    def __init__(self, rng):
        super().__init__()
        self.table = qn.Linear(5, 7, rng=rng)
        self.blocks = [qn.Linear(7, 7, rng=rng), self.table]
        self.last = self.table


def test_names_run_through_lists_and_a_shared_layer_has_one(rng):
    nest = Nest(rng)
    names = [name for name, _ in nest.named_parameters()]
    assert names == ["table.weight", "table.bias", "blocks.0.weight", "blocks.0.bias"]
    assert [name for name, _ in nest.named_gradients()] == names
    assert not nest.eval().last.training
    state = nest.state_dict()
    state["table.weight"] += 1
    assert not np.array_equal(nest.table.params["weight"], state["table.weight"])
    nest.load_state_dict(state)
    assert np.array_equal(nest.table.params["weight"], state["table.weight"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("weight"), "weight is missing"),
        (lambda s: s.update(more=s["bias"]), "more is not a parameter of this model"),
        (lambda s: s.update(bias=s["bias"][1:]), r"bias must be \(7,\), got \(6,\)"),
    ],
)
def test_a_state_that_does_not_fit_is_refused_by_name_and_changes_nothing(change, words):
    said = []
    for layer in (qn.Linear(5, 7), qt.Linear(5, 7)):
        before = {name: value.copy() for name, value in numpy_state(layer).items()}
        state = {name: value + 1 for name, value in layer.state_dict().items()}
        change(state)
        with pytest.raises(ValueError, match=words) as refusal:
            layer.load_state_dict(state)
        said.append(str(refusal.value))
        after = numpy_state(layer)
        assert all(np.array_equal(before[name], after[name]) for name in before)
    assert said[0] == said[1]


def numpy_state(layer):
    return {name: np.array(value.tolist()) for name, value in layer.state_dict().items()}


@pytest.mark.parametrize(("room", "make"), ROOMS)
def test_glorot_keeps_the_variance(room, make):
    weight = np.array(dict(room.Linear(300, 500).named_parameters())["weight"].tolist())
    assert np.isclose(weight.var(), 2 / 800, rtol=0.02)
    assert abs(weight).max() <= (6 / 800) ** 0.5


def test_dropout_leaves_out_a_share_and_keeps_the_mean(rng):
    layer = qn.Dropout(0.3, rng=rng)
    x = np.ones((200, 500))
    out = layer(x)
    assert np.isclose((out == 0).mean(), 0.3, atol=0.01)
    assert np.isclose(out.mean(), 1, atol=0.01)
    dout = rng.standard_normal(x.shape)
    assert np.array_equal(layer.backward(dout), dout * out)
    assert layer.eval()(x) is x


def test_dropout_draws_the_same_from_the_same_generator():
    x = np.ones((5, 7))
    first, second = (qn.Dropout(0.5, rng=np.random.default_rng(3))(x) for _ in range(2))
    assert np.array_equal(first, second)
    draws = [qt.Dropout(0.5, rng=torch.Generator().manual_seed(3))(torch.ones(5, 7)) for _ in "ab"]
    assert torch.equal(*draws)
    assert not torch.equal(draws[0], torch.ones(5, 7))


X64 = np.ones((2, 5))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda r, make: r.Linear(0, 7),
            "Linear: d_in must be a whole number of at least 1, got 0",
        ),
        (lambda r, make: r.Linear(5, 7.0), "Linear: d_out must be a whole number"),
        (
            lambda r, make: r.Linear(5, 7)(make(np.ones((2, 3), np.float32))),
            "(..., d_in) = (..., 5)",
        ),
        (lambda r, make: r.Linear(5, 7)(make(np.ones((2, 5)))), "x must be float32"),
        (lambda r, make: r.Linear(5, 7)(make(np.ones((2, 5), int))), "must be a float array"),
        (
            lambda r, make: r.linear(make(X64), make(X64)),
            "linear: weight must be (d_in, d_out) = (5, d_out), got (2, 5): "
            "its rows are the width of x; nn.Linear holds the transpose",
        ),
        (lambda r, make: r.linear(make(X64), make(np.ones(5))), "weight must be (d_in, d_out)"),
        (
            lambda r, make: r.linear(make(X64), make(np.ones((5, 3))), make(np.ones((3, 1)))),
            "linear: bias must be (d_out,) = (3,), got (3, 1): one number for each column",
        ),
        (
            lambda r, make: r.linear(make(X64), make(np.ones((5, 3))), make(np.ones((2, 3)))),
            "bias must be (d_out,)",
        ),
        (
            lambda r, make: r.linear(make(X64), make(np.ones((5, 3), np.float32))),
            "linear: weight must be float64 as x is, got float32: convert it",
        ),
        (
            lambda r, make: r.linear(make(X64), make(np.ones((5, 3))), make(np.ones(3, int))),
            "linear: bias must be a float array, got int64: convert it first",
        ),
        (
            lambda r, make: r.linear([[1.0]], make(np.ones((5, 3)))),
            "linear: x must be a float array",
        ),
        (lambda r, make: r.linear(make(np.array(1.0)), make(X64)), "one number is a vector of one"),
        (lambda r, make: r.Dropout(1), "Dropout: p must be a number in [0, 1), got 1"),
        (lambda r, make: r.Dropout(-0.1), "Dropout: p must be a number in [0, 1)"),
        (
            lambda r, make: r.dropout(make(np.ones(3)), make(np.ones(3)), 0.5),
            "keep_mask must be a bool",
        ),
        (
            lambda r, make: r.dropout(make(np.ones(3)), make(np.ones(2, bool)), 0.5),
            "keep_mask must be",
        ),
    ],
)
def test_both_rooms_refuse_in_the_same_words(call, words):
    refused_alike(call, words)


@pytest.mark.parametrize(
    ("dout", "x", "weight", "bias", "words"),
    [
        ((2, 4), (2, 5), (5, 3), None, "dout must be (2, 3), got (2, 4)"),
        ((3,), (2, 5), (5, 3), None, "dout must be (2, 3), got (3,)"),
        ((2, 3), (2, 5), (3, 5), None, "weight must be (d_in, d_out) = (5, d_out), got (3, 5)"),
        ((2, 3), (2, 5), (5, 3), (2,), "bias must be (d_out,) = (3,), got (2,)"),
    ],
)
def test_linear_backward_refuses_what_is_not_of_its_forward(dout, x, weight, bias, words):
    arrays = [None if shape is None else np.ones(shape) for shape in (dout, x, weight, bias)]
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the words are compared below)
        qn.linear_backward(*arrays)
    assert str(refusal.value).startswith(f"linear_backward: {words}")


def test_torchs_linear_converts_under_autocast():
    x, weight = torch.ones(2, 5), torch.ones(5, 3, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        assert qt.linear(x, weight).dtype == torch.bfloat16
    compiled = torch.compile(qt.linear, backend="aot_eager", fullgraph=True)
    close(compiled(x, weight.float()), qt.linear(x, weight.float()), "float32")


def test_torch_layers_work_under_autocast_and_compiled():
    model = torch.nn.Sequential(qt.Linear(5, 7), qt.Dropout(0.5), qt.Linear(7, 3))
    x = torch.randn(3, 5)
    with torch.autocast("cpu", torch.bfloat16):
        assert model(x).dtype == torch.bfloat16
    compiled = torch.compile(model.eval(), backend="aot_eager", fullgraph=True)
    close(compiled(x).detach(), model(x).detach(), "float32")
