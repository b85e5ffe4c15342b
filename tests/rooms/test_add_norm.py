"""Norms and the residual path: by hand, torch's own kernels, gradients, refusals."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from qkv.shapes.choices import NORMS
from tests.helpers.layers import copy_parameters, matches_differences, same_gradients
from tests.helpers.rooms import ROOMS, close, refused_alike, tensor

SHAPES = [(2, 3, 5), (1, 1, 5), (5,), (2, 1, 3, 7), (3, 1), (4, 2)]
LAYERS = {"layer": "LayerNorm", "rms": "RMSNorm"}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_norms_by_hand(room, to):
    """The biased variance of 1 and 3 is 1; with ε = 0.21 inside the root, √1.21 = 1.1."""
    ones, zeros = to(np.ones(2)), to(np.zeros(2))
    close(room.layer_norm(to([1.0, 3.0]), ones, zeros, 0.21), [-1 / 1.1, 1 / 1.1])
    weight, bias = to([1.1, 2.2]), to([5.0, 7.0])
    close(room.layer_norm(to([[1.0, 3.0]]), weight, bias, 0.21), [[4, 9]])
    close(room.rms_norm(to([1.0, 7.0]), to([6.0, 60.0]), 11), [1, 70])  # √(25 + 11) = 6


@pytest.mark.parametrize("shape", SHAPES)
def test_norms_are_torchs_own(rng, shape):
    x, weight, bias = (rng.standard_normal(s) for s in (shape, shape[-1:], shape[-1:]))
    x_t, weight_t, bias_t = map(torch.tensor, (x, weight, bias))
    expected = F.layer_norm(x_t, shape[-1:], weight_t, bias_t, 1e-3)
    close(qn.layer_norm(x, weight, bias, 1e-3), expected)
    close(qt.layer_norm(x_t, weight_t, bias_t, 1e-3), expected)
    unmoved = F.layer_norm(x_t, shape[-1:], weight_t, None, 1e-3)
    close(qn.layer_norm(x, weight, eps=1e-3), unmoved)
    close(qt.layer_norm(x_t, weight_t, eps=1e-3), unmoved)
    expected = F.rms_norm(x_t, shape[-1:], weight_t, 1e-3)
    close(qn.rms_norm(x, weight, 1e-3), expected)
    close(qt.rms_norm(x_t, weight_t, 1e-3), expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", NORMS)
def test_norms_go_back_as_autograd_and_as_differences_say(rng, shape, kind):
    x, dout = rng.standard_normal((2, *shape))
    parameters = [rng.standard_normal(shape[-1]) for _ in range(2 if kind == "layer" else 1)]
    forward, backward = (getattr(qn, f"{kind}_norm{end}") for end in ("", "_backward"))
    # At width 1 and a small ε the slope is so steep that differences miss it.
    eps = 0.1
    inputs = [torch.tensor(array, requires_grad=True) for array in (x, *parameters)]
    getattr(qt, f"{kind}_norm")(*inputs, eps).backward(torch.tensor(dout))
    found = backward(dout, x, parameters[0], eps)
    assert len(found) == len(inputs)
    for gradient, other, array in zip(found, inputs, (x, *parameters), strict=True):
        close(gradient, other.grad)
        matches_differences(gradient, lambda: (forward(x, *parameters, eps) * dout).sum(), array)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", NORMS)
def test_layers_hold_the_functions_and_torchs_fused_kernels(rng, shape, kind):
    layer = getattr(qn, LAYERS[kind])(shape[-1], 0.1, dtype=np.float64)
    module = getattr(qt, LAYERS[kind])(shape[-1], 0.1, dtype=torch.float64)
    for name, value in layer.named_parameters():
        close(value, np.full(shape[-1], name == "weight"))
        close(dict(module.named_parameters())[name].detach(), value)
        value[:] = rng.standard_normal(value.shape)
    copy_parameters(layer, module)
    for _ in range(2):  # gradients add up
        x, dout = rng.standard_normal((2, *shape))
        x_t = torch.tensor(x, requires_grad=True)
        out = module(x_t)
        out.backward(torch.tensor(dout))
        close(layer(x), out.detach())
        close(layer.backward(dout), x_t.grad)
    same_gradients(layer, module)


@pytest.mark.parametrize("kind", NORMS)
def test_no_gradient_is_left_where_the_norm_is_blind(rng, kind):
    """A norm divides the length out, and layer norm also the mean: dx is at right angles to both.

    An upstream gradient of ones would hide a missing term: without weights, it gives zeros.
    """
    x, dout = rng.standard_normal((2, 3, 7))
    weight = rng.standard_normal(7)
    dx = getattr(qn, f"{kind}_norm_backward")(dout, x, weight, 1e-300)[0]
    close((dx * x).sum(-1), np.zeros(3))
    assert (abs(dx.sum(-1)).max() < 1e-10) == (kind == "layer")
    ones = np.ones((3, 7))
    close(qn.layer_norm_backward(ones, x, np.ones(7), 1e-300)[0], np.zeros((3, 7)))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_equal_numbers_and_zeros_stay_finite(room, to):
    weight, bias = to([2.0, 2.0, 2.0]), to([5.0, 6.0, 7.0])
    close(room.layer_norm(to([[4.0] * 3]), weight, bias), [[5, 6, 7]])
    close(room.rms_norm(to([[0.0] * 3]), weight), [[0, 0, 0]])
    close(qn.layer_norm_backward(np.ones((1, 3)), np.full((1, 3), 4.0), np.ones(3))[0], [[0] * 3])


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_narrow_types_stay_what_they_are_and_large_numbers_finite(rng, room, to, dtype):
    """The square of 300 is no float16."""
    x = (300 * rng.standard_normal((5, 7))).astype(dtype)
    weight, bias = rng.standard_normal((2, 7)).astype(dtype)
    exact = qn.layer_norm(*(a.astype(np.float64) for a in (x, weight, bias)))
    out = room.layer_norm(to(x), to(weight), to(bias))
    assert str(out.dtype).endswith(dtype)
    close(out, exact, dtype)
    out = room.rms_norm(to(x), to(weight))
    assert str(out.dtype).endswith(dtype)
    close(out, qn.rms_norm(x.astype(np.float64), weight.astype(np.float64)), dtype)
    for gradient in (
        *qn.layer_norm_backward(x, x, weight),
        *qn.rms_norm_backward(x, x, weight),
    ):
        assert gradient.dtype == dtype


def twins(rng, kind, norm_first, **options):
    """An AddNorm around a projection in both rooms, from the same parameters."""
    around = qn.AddNorm(5, norm_first, norm=kind, eps=0.1, rng=rng, dtype=np.float64, **options)
    inside = qn.Linear(5, 5, rng=rng, dtype=np.float64)
    for _, value in around.named_parameters():
        value[:] = rng.standard_normal(value.shape)
    module = qt.AddNorm(5, norm_first, norm=kind, eps=0.1, dtype=torch.float64, **options)
    linear = qt.Linear(5, 5, dtype=torch.float64)
    copy_parameters(around, module)
    copy_parameters(inside, linear)
    return around, inside, module, linear


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 1, 5), (5,)])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("kind", NORMS)
def test_add_norm_is_its_formula_and_goes_back_through_both_paths(rng, kind, norm_first, shape):
    around, inside, module, linear = twins(rng, kind, norm_first)
    assert next(name for name, _ in around.named_parameters()) == "norm.weight"
    x, dout = rng.standard_normal((2, *shape))
    x.flags.writeable = False
    x_t = torch.tensor(x, requires_grad=True)
    out = module(x_t, linear)
    expected = x_t + linear(module.norm(x_t)) if norm_first else module.norm(x_t + linear(x_t))
    close(out.detach(), expected.detach())
    out.backward(torch.tensor(dout))
    close(around(x, inside), out.detach())
    close(around.backward(dout, inside.backward), x_t.grad)
    same_gradients(around, module)
    same_gradients(inside, linear)


@pytest.mark.parametrize("norm_first", [False, True])
def test_dropout_acts_on_what_is_added_and_not_on_x(rng, norm_first):
    around, inside, *_ = twins(rng, "layer", norm_first, dropout=0.5)
    x, dout = rng.standard_normal((2, 2, 3, 5))

    def run():
        around.dropout.rng = np.random.default_rng(3)
        return around(x, inside)

    def loss():
        out = (run() * dout).sum()
        around._saved.clear(), around.norm._saved.clear(), around.dropout._saved.clear()
        return out

    run()
    dx = around.backward(dout, inside.backward)
    matches_differences(dx, loss, x)
    kept = np.random.default_rng(3).random(x.shape) >= 0.5
    inner = inside(around.norm(x) if norm_first else x)
    total = x + inner * kept * 2
    close(run(), total if norm_first else around.norm(total))
    around.eval()
    close(run(), around.norm(x + inner) if not norm_first else x + inner)
    torch_room = qt.AddNorm(5, norm_first=True, dropout=0.5, rng=torch.Generator().manual_seed(1))
    ones = torch.ones(40, 5)
    added = torch_room(ones, lambda y: ones) - ones
    assert set(added.flatten().tolist()) == {0.0, 2.0}


def test_without_the_path_around_a_deep_stack_loses_the_gradient(rng):
    """Forty small sub-layers: with the path the gradient arrives, without it nothing does."""
    weights = [0.1 * rng.standard_normal((5, 5)) for _ in range(40)]
    around = [qn.AddNorm(5, norm_first=True, dtype=np.float64) for _ in weights]
    x = rng.standard_normal((3, 5))
    for layer, w in zip(around, weights, strict=True):
        x = layer(x, lambda y, w=w: y @ w)
    dx = alone = dout = rng.standard_normal((3, 5))
    for layer, w in zip(around[::-1], weights[::-1], strict=True):
        dx = layer.backward(dx, lambda d, w=w: d @ w.T)
        alone = alone @ w.T
    assert abs(dx).max() > 0.1 * abs(dout).max()
    assert abs(alone).max() < 1e-15


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_the_rooms_agree_or_refuse_in_the_same_words(data):
    size = st.integers(0, 5)
    shape = tuple(data.draw(st.lists(size, max_size=4)))
    floats = st.sampled_from(["float64"] * 8 + ["float32", "int64"])
    rng = np.random.default_rng(data.draw(size))
    x = np.asarray(rng.standard_normal(shape)).astype(data.draw(floats))
    width = shape[-1] if shape and data.draw(st.sampled_from([True] * 6 + [False])) else 3
    weight, bias = (rng.standard_normal(width).astype(data.draw(floats)) for _ in range(2))
    eps = data.draw(st.sampled_from([1e-5, 0.1, 1, 0, "small"]))
    norm_first = data.draw(st.sampled_from([False, True, "pre"]))
    kind = data.draw(st.sampled_from([*NORMS, "batch"]))
    said = []
    for room, to in ((qn, np.asarray), (qt, tensor)):
        wide = to(np.float64(0)).dtype

        def add_norm(room=room, to=to, wide=wide):
            return room.AddNorm(width, norm_first, norm=kind, eps=eps, dtype=wide)(
                to(x), lambda y: 2 * y[:1]
            )

        for call in (
            lambda room=room, to=to: room.layer_norm(to(x), to(weight), to(bias), eps),
            lambda room=room, to=to: room.rms_norm(to(x), to(weight), eps),
            add_norm,
        ):
            try:
                said.append(np.array(call().tolist()))
            except ValueError as error:
                said.append(str(error))
    for ours, theirs in zip(said[:3], said[3:], strict=True):
        if isinstance(ours, str) or isinstance(theirs, str):
            assert isinstance(ours, str)
            assert ours == theirs
        else:
            close(ours, theirs, "float32" if x.dtype == np.float32 else "float64")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda r, to: r.layer_norm(to(np.ones((2, 5))), to(np.ones(4)), to(np.ones(5))),
            "layer_norm: weight must be (d_model,) = (5,), got (4,): "
            "weight has one number for each entry of a vector",
        ),
        (
            lambda r, to: r.rms_norm(to(np.ones((2, 5))), to(np.ones(5)), 0),
            "rms_norm: eps must be a number above 0, got 0: 1e-5 is usual",
        ),
        (
            lambda r, to: r.LayerNorm(7)(to(np.ones((2, 5), np.float32))),
            "LayerNorm: x must be (..., d_model) = (..., 7), got (2, 5)",
        ),
        (lambda r, to: r.RMSNorm(5)(to(np.ones((2, 5)))), "RMSNorm: x must be float32 as weight"),
        (lambda r, to: r.LayerNorm(0), "LayerNorm: d_model must be a whole number of at least 1"),
        (lambda r, to: r.AddNorm(5, "pre"), "norm_first must be True or False, got 'pre'"),
        (lambda r, to: r.AddNorm(5, norm="batch"), "norm must be one of 'layer', 'rms', got 'bat"),
        (lambda r, to: r.AddNorm(5, dropout=1.0), "AddNorm: dropout must be a number in [0, 1)"),
        (
            lambda r, to: r.AddNorm(5)(to(np.ones((2, 5), np.float32)), lambda x: x[:1]),
            "AddNorm: sublayer(x) must be (2, 5), got (1, 5): x is added to it, entry by entry",
        ),
    ],
)
def test_both_rooms_refuse_in_the_same_words(call, words):
    refused_alike(call, words)


def test_no_backward_without_a_call_or_of_another_shape():
    x = np.ones((2, 5), np.float32)
    for layer in (qn.LayerNorm(5), qn.RMSNorm(5)):
        layer(x)
        with pytest.raises(ValueError, match=r"dout must be \(2, 5\), got \(1, 5\)"):
            layer.backward(x[:1])
        with pytest.raises(ValueError, match=r"Norm\.backward: there is no call"):
            layer.backward(x)
    around = qn.AddNorm(5, norm_first=True)
    for dout, back, words in (
        (x[:1], lambda d: d, r"AddNorm\.backward: dout must be"),
        (x, lambda d: d[:1], r"AddNorm\.backward: sublayer_backward\(dout\) must be"),
    ):
        around(x, lambda y: y)
        with pytest.raises(ValueError, match=words):
            around.backward(dout, back)


@pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("kind", NORMS)
def test_torch_norms_work_under_autocast_and_compiled(kind, norm_first):
    around, inside = qt.AddNorm(5, norm_first, 0.1, kind), qt.Linear(5, 5)
    x = torch.randn(3, 5)
    with torch.autocast("cpu", torch.bfloat16):
        narrow = around.norm(x.bfloat16())
        assert narrow.dtype == torch.bfloat16
        close(narrow.detach().float(), around.norm(x).detach(), "bfloat16")
        around(x, inside).sum().backward()
    assert x.dtype == torch.float32
    assert around.norm.weight.grad.dtype == torch.float32
    around.eval()
    compiled = torch.compile(around, backend="aot_eager", fullgraph=True)
    close(compiled(x, inside).detach(), around(x, inside).detach(), "float32")
