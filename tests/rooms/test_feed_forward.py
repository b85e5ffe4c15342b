"""Activations and the feed-forward part: exact values, torch's own, gradients, refusals."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from qkv.shapes.choices import ACTIVATIONS
from tests.helpers.layers import copy_parameters, matches_differences, same_gradients
from tests.helpers.rooms import ROOMS, close, refused_alike, tensor

CALLS = [("relu", {}), ("silu", {}), ("gelu", {}), ("gelu", {"approximate": "tanh"})]
SHAPES = [(2, 3, 5), (1, 1, 5), (5,), (2, 1, 3, 5)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_activations_by_hand(room, to):
    x = to([-2.0, 0.0, math.log(3)])
    close(room.relu(x), [0, 0, math.log(3)])
    close(room.silu(x), [-2 / (1 + math.exp(2)), 0, 0.75 * math.log(3)])
    one = to([1.0, -1.0])
    close(room.gelu(one), [0.8413447460685429, -0.15865525393145707])  # 84 % lie below 1
    share = (1 + math.tanh(math.sqrt(2 / math.pi) * 1.044715)) / 2
    close(room.gelu(one, approximate="tanh"), [share, share - 1])


def test_gelu_has_the_exact_error_function():
    """math.erfc is exact in both tails; the shares agree to the last digits, where torch's do too.

    Asked of the shares themselves: their largest error, 2e-16, is half a unit in the last place
    of 1, and in the lower tail 13 digits are right down to 1e-300.
    """
    x = np.concatenate([np.linspace(-37, 9, 46_001), np.random.default_rng(0).normal(0, 2, 9_999)])
    shares = np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in x])
    exact = x * shares
    found = qn.gelu(x)
    assert abs(found - exact).max() < 2e-15  # of numbers up to 9, whose last place is 1.8e-15
    small = abs(x) <= 1
    assert abs(found[small] - exact[small]).max() < 3e-16
    lower = x < 0
    assert (abs(found[lower] / exact[lower] - 1)).max() < 1e-12
    np.testing.assert_allclose(found, F.gelu(torch.tensor(x)), rtol=0, atol=2e-15)
    slope = shares + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    assert abs(qn.gelu_backward(np.ones_like(x), x) - slope).max() < 1e-15
    narrow = qn.gelu(x.astype(np.float32))
    assert abs(narrow - exact).max() < 1e-6
    assert narrow.dtype == np.float32


def test_tanh_is_wrong_by_less_than_half_a_thousandth():
    x = np.linspace(-9, 9, 18_001)
    gap = abs(qn.gelu(x) - qn.gelu(x, approximate="tanh")).max()
    assert 4e-4 < gap < 5e-4


@pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("name", "options"), CALLS)
def test_activations_are_torchs_own_and_never_overflow(name, options, dtype):
    x = np.concatenate([np.linspace(-700, 700, 1401), np.linspace(-3, 3, 601)]).astype(dtype)
    out = getattr(qn, name)(x, **options)
    assert out.dtype == dtype
    close(out, getattr(F, name)(torch.tensor(x), **options), dtype)
    back = getattr(qn, f"{name}_backward")(x, x, **options)
    assert back.dtype == dtype
    assert np.isfinite(back).all()
    if dtype != "float16":
        big = np.array([3e4, -3e4, 1e9, -1e9], dtype)
        close(getattr(qn, name)(big, **options), np.maximum(big, 0), dtype)


def test_an_endless_number_stays_one():
    x = np.array([np.inf, np.nan])
    for name, options in CALLS:
        with np.errstate(invalid="ignore"):
            out = getattr(qn, name)(x, **options)
        np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize("shape", [*SHAPES, (3, 5000)])
@pytest.mark.parametrize(("name", "options"), CALLS)
def test_activations_go_back_as_autograd_and_as_differences_say(rng, name, options, shape):
    x, dout = 2 * rng.standard_normal((2, *shape))
    forward, backward = getattr(qn, name), getattr(qn, f"{name}_backward")
    x_t = torch.tensor(x, requires_grad=True)
    out = getattr(qt, name)(x_t, **options)
    out.backward(torch.tensor(dout))
    close(forward(x, **options), out.detach())
    gradient = backward(dout, x, **options)
    close(gradient, x_t.grad)
    if x.size < 100:
        matches_differences(gradient, lambda: (forward(x, **options) * dout).sum(), x)


def test_activations_take_any_memory_and_leave_it(rng):
    x = rng.standard_normal((200, 100)).T[::3]
    x.flags.writeable = False
    for name, options in CALLS:
        plain = np.ascontiguousarray(x)
        close(getattr(qn, name)(x, **options), getattr(qn, name)(plain, **options))
        back = getattr(qn, f"{name}_backward")
        close(back(x, x, **options), back(plain, plain, **options))


def test_relu_has_no_slope_at_zero():
    zero = torch.zeros(1, requires_grad=True)
    qt.relu(zero).backward()
    assert zero.grad == 0 == qn.relu_backward(np.ones(1), np.zeros(1))


def twins(rng, activation, bias, d_model=5, d_ff=7):
    layer = qn.FeedForward(d_model, d_ff, activation, bias, rng=rng, dtype=np.float64)
    for _, value in layer.named_parameters():
        value[:] = rng.standard_normal(value.shape)
    module = qt.FeedForward(d_model, d_ff, activation, bias, dtype=torch.float64)
    copy_parameters(layer, module)
    return layer, module


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feed_forward_goes_back_as_autograd_and_as_differences_say(rng, activation, bias, shape):
    layer, module = twins(rng, activation, bias)
    x, dout = rng.standard_normal((2, *shape))
    x_t = torch.tensor(x, requires_grad=True)
    out = module(x_t)
    out.backward(torch.tensor(dout))
    close(layer(x), out.detach())
    dx = layer.backward(dout)
    close(dx, x_t.grad)
    same_gradients(layer, module)
    layer.eval()
    loss = lambda: (layer(x) * dout).sum()  # noqa: E731 (reads as the formula)
    matches_differences(dx, loss, x)
    gradients = dict(layer.named_gradients())
    for name, value in layer.named_parameters():
        matches_differences(gradients[name], loss, value)


@pytest.mark.parametrize("d", [(1, 1), (1, 3), (3, 1)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_widths_of_one_do(rng, activation, d):
    layer, module = twins(rng, activation, True, *d)
    x = rng.standard_normal((2, 3, d[0]))
    x_t = torch.tensor(x, requires_grad=True)
    out = module(x_t)
    out.backward(torch.tensor(x))
    close(layer(x), out.detach())
    close(layer.backward(x), x_t.grad)
    same_gradients(layer, module)


def test_feed_forward_is_the_papers_formula_and_shazeers(rng):
    x = rng.standard_normal((2, 3, 5))
    for activation, bend in (("relu", F.relu), ("gelu", F.gelu)):
        layer, module = twins(rng, activation, True)
        sequence = [module.w_1, bend, module.w_2]
        out = torch.tensor(x)
        for step in sequence:
            out = step(out)
        close(layer(x), out.detach())
    layer, _ = twins(rng, "swiglu", False)
    assert [name for name, _ in layer.named_parameters()] == [
        "w_1.weight",
        "w_gate.weight",
        "w_2.weight",
    ]
    p = dict(layer.named_parameters())
    gate = x @ p["w_gate.weight"]
    swish = gate / (1 + np.exp(-gate))
    close(layer(x), (swish * (x @ p["w_1.weight"])) @ p["w_2.weight"])


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_feed_forward_is_that_of_torchs_encoder_layer(rng, activation):
    layer, module = twins(rng, activation, True, 6, 11)
    theirs = torch.nn.TransformerEncoderLayer(
        6, 2, 11, dropout=0, activation=activation, dtype=torch.float64
    )
    with torch.no_grad():
        for ours, other in ((module.w_1, theirs.linear1), (module.w_2, theirs.linear2)):
            other.weight.copy_(ours.weight)
            other.bias.copy_(ours.bias)
    x = rng.standard_normal((2, 3, 6))
    close(layer(x), theirs._ff_block(torch.tensor(x)).detach())


def test_each_position_is_for_itself(rng):
    layer, _ = twins(rng, "swiglu", True)
    x = rng.standard_normal((2, 7, 5))
    order = rng.permutation(7)
    close(layer(x[:, order]), layer(x)[:, order])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_dropout_acts_between_the_projections(rng, activation):
    layer = qn.FeedForward(5, 7, activation, dropout=0.5, rng=rng, dtype=np.float64)
    for _, value in layer.named_parameters():
        value[:] = rng.standard_normal(value.shape)
    x, dout = rng.standard_normal((2, 3, 5))

    def run():
        layer.dropout.rng = np.random.default_rng(3)
        return layer(x)

    out = run()
    dx = layer.backward(dout)
    matches_differences(dx, lambda: (run() * dout).sum(), x)
    layer.zero_grad()
    layer.eval()
    assert abs(out - layer(x)).max() > 0.1
    module = qt.FeedForward(5, 7, activation, dropout=0.5, rng=torch.Generator().manual_seed(1))
    twice = [module(torch.ones(1, 5)).tolist() for _ in range(2)]
    assert twice[0] != twice[1]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_the_rooms_agree_or_refuse_in_the_same_words(data):
    size = st.integers(0, 5)
    shape = tuple(data.draw(st.lists(size, max_size=4)))
    rng = np.random.default_rng(data.draw(size))
    floats = st.sampled_from(["float64"] * 6 + ["float32", "int64", "bool"])
    x = np.asarray(3 * rng.standard_normal(shape)).astype(data.draw(floats))
    name = data.draw(st.sampled_from(["relu", "silu", "gelu"]))
    options = {}
    if name == "gelu":
        options = {"approximate": data.draw(st.sampled_from(["none", "tanh", "erf"]))}
    d_model = shape[-1] if shape and data.draw(st.sampled_from([True] * 6 + [False])) else 3
    d_ff = data.draw(size)
    activation = data.draw(st.sampled_from([*ACTIVATIONS, "swish"]))
    dropout = data.draw(st.sampled_from([0, 0.5, 1, -0.5, "no"]))
    said, states = [], []
    for room, to in ((qn, np.asarray), (qt, tensor)):
        try:
            said.append(np.array(getattr(room, name)(to(x), **options).tolist()))
        except ValueError as error:
            said.append(str(error))
        try:
            wide = to(np.float64(0)).dtype
            layer = room.FeedForward(d_model, d_ff, activation, dropout=dropout, dtype=wide)
            states.append(layer)
            if room is qt:
                copy_parameters(*states)
            said.append(np.array(layer.eval()(to(x)).tolist()))
        except ValueError as error:
            said.append(str(error))
    for ours, theirs in zip(said[:2], said[2:], strict=True):
        if isinstance(ours, str) or isinstance(theirs, str):
            assert isinstance(ours, str)
            assert ours == theirs
        else:
            close(ours, theirs, "float32" if x.dtype == np.float32 else "float64")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r, to: r.relu(to(np.ones(3, int))), "relu: x must be a float array, got int64"),
        (
            lambda r, to: r.gelu(to(np.ones(3)), approximate="erf"),
            "gelu: approximate must be one of 'none', 'tanh', got 'erf'",
        ),
        (lambda r, to: r.FeedForward(5, 0), "FeedForward: d_ff must be a whole number of at least"),
        (
            lambda r, to: r.FeedForward(5, 7, "swish"),
            f"FeedForward: activation must be one of {', '.join(map(repr, ACTIVATIONS))}, got",
        ),
        (
            lambda r, to: r.FeedForward(5, 7, dropout=1),
            "FeedForward: dropout must be a number in [0, 1), got 1: 0 leaves nothing out",
        ),
        (
            lambda r, to: r.FeedForward(5, 7)(to(np.ones((2, 7), np.float32))),
            "FeedForward: x must be (..., d_model) = (..., 5), got (2, 7): check the width",
        ),
        (
            lambda r, to: r.FeedForward(5, 7)(to(np.ones((2, 5)))),
            "FeedForward: x must be float32 as weight is, got float64",
        ),
    ],
)
def test_both_rooms_refuse_in_the_same_words(call, words):
    refused_alike(call, words)


def test_no_backward_without_a_call_or_of_another_shape(rng):
    layer = qn.FeedForward(5, 7, rng=rng)
    x = np.ones((2, 5), np.float32)
    layer(x)
    with pytest.raises(ValueError, match=r"FeedForward\.backward: dout must be"):
        layer.backward(x[:1])
    with pytest.raises(ValueError, match=r"FeedForward\.backward: there is no call"):
        layer.backward(x)
    with pytest.raises(ValueError, match=r"gelu_backward: dout must be \(2, 5\)"):
        qn.gelu_backward(x[:1], x)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_torch_feed_forward_works_under_autocast_and_compiled(activation):
    module = qt.FeedForward(5, 7, activation, dropout=0.1)
    x = torch.randn(3, 5)
    with torch.autocast("cpu", torch.bfloat16):
        out = module(x)
        assert out.dtype == torch.bfloat16
        out.float().sum().backward()
    assert module.w_1.weight.grad.dtype == torch.float32
    module.eval()
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    close(compiled(x).detach(), module(x).detach(), "float32")
