"""NumPy's hand-written backward against torch's autograd and against finite differences."""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import numeric
from tests.helpers.rooms import close

# q's leading axes, T, S, d_k, d_v; the shapes of mask and bias; further options.
CASES = {
    "plain": ((2, 3), 5, 11, 7, 13, None, None, {}),
    "no leading axes": ((), 5, 11, 7, 13, (5, 11), (5, 11), {}),
    "one leading axis": ((3,), 5, 11, 7, 2, (3, 1, 11), (5, 1), {}),
    "three leading axes": ((2, 1, 3), 5, 7, 11, 2, (2, 1, 1, 5, 7), (3, 1, 7), {}),
    "one query": ((2, 3), 1, 11, 7, 5, (2, 1, 1, 11), (2, 1, 1, 11), {}),
    "one key": ((2, 3), 5, 1, 7, 11, (2, 1, 5, 1), (3, 5, 1), {}),
    "batch of one, width of one": ((1, 1), 5, 7, 1, 1, None, (1, 1, 1, 1), {}),
    "bias of its own for each": ((2, 3), 5, 11, 7, 2, None, (2, 3, 5, 11), {}),
    "bias for each key": ((2, 3), 5, 11, 7, 2, (11,), (11,), {}),
    "bias for all": ((2, 3), 5, 11, 7, 2, None, (), {}),
    "causal": ((2, 3), 7, 7, 5, 2, None, None, {"causal": True}),
    "causal, more keys": ((2, 3), 5, 11, 7, 2, None, (3, 1, 1), {"causal": True}),
    "causal and mask": ((2, 3), 5, 11, 7, 2, (2, 1, 5, 11), None, {"causal": True}),
    "own scale": ((2, 3), 5, 11, 7, 2, None, None, {"scale": 0.3}),
}


def make(name, seed=0):
    """Inputs of a case, an upstream gradient and the options; one row may attend to nothing."""
    lead, T, S, d_k, d_v, mask_shape, bias_shape, options = CASES[name]
    rng = np.random.default_rng(seed)
    shapes = (*lead, T, d_k), (*lead, S, d_k), (*lead, S, d_v), (*lead, T, d_v)
    q, k, v, dout = (rng.standard_normal(shape) for shape in shapes)
    bias = None if bias_shape is None else np.array(rng.standard_normal(bias_shape))
    mask = None
    if mask_shape is not None:
        mask = rng.random(mask_shape) > 0.4
        mask.reshape(-1, S)[0] = len(mask_shape) == 1
    return dout, q, k, v, mask, bias, options


def autograd(call, dout, *arrays):
    """Torch's output and gradients, as NumPy arrays; None stays None."""
    inputs = [None if x is None else torch.tensor(x, requires_grad=True) for x in arrays]
    out = call(*inputs)
    out.backward(torch.from_numpy(dout))
    return out.detach().numpy(), [None if x is None else x.grad.numpy() for x in inputs]


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_attention_backward_is_autograds(name, need_weights):
    dout, q, k, v, mask, bias, options = make(name)

    def call(q, k, v, bias):
        torch_mask = None if mask is None else torch.from_numpy(mask)
        return qt.scaled_dot_product_attention(
            q, k, v, mask=torch_mask, bias=bias, need_weights=need_weights, **options
        )[0]

    expected_out, expected = autograd(call, dout, q, k, v, bias)
    out, weights = qn.scaled_dot_product_attention(q, k, v, mask=mask, bias=bias, **options)
    close(out, expected_out)
    for kept in (None, weights):
        gradients = qn.scaled_dot_product_attention_backward(
            dout, q, k, v, mask=mask, bias=bias, weights=kept, **options
        )
        assert (gradients[3] is None) == (bias is None)
        for gradient, other in zip(gradients, expected, strict=True):
            if other is not None:
                close(gradient, other)


@pytest.mark.parametrize("name", CASES)
def test_attention_backward_is_the_slope(name):
    dout, q, k, v, mask, bias, options = make(name)
    options = options | {"mask": mask, "bias": bias}
    gradients = qn.scaled_dot_product_attention_backward(dout, q, k, v, **options)

    def loss():
        return (qn.scaled_dot_product_attention(q, k, v, **options)[0] * dout).sum()

    for gradient, x in zip(gradients, (q, k, v, bias), strict=True):
        if x is not None:
            close(gradient, numeric(loss, x), "finite differences")


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax_backward_is_the_slope_and_autograds(axis):
    rng = np.random.default_rng(1)
    x, dout = rng.standard_normal((2, 3, 5, 7))
    gradient = qn.softmax_backward(dout, qn.softmax(x, axis), axis)
    loss = lambda: (qn.softmax(x, axis) * dout).sum()  # noqa: E731 (reads as the formula)
    close(gradient, numeric(loss, x), "finite differences")
    _, (expected,) = autograd(lambda x: qt.softmax(x, axis), dout, x)
    close(gradient, expected)


@pytest.mark.parametrize("name", [name for name in CASES if not CASES[name][-1]])
def test_additive_backward_is_the_slope_and_autograds(name):
    dout, _, k, v, mask, bias, _ = make(name)
    rng = np.random.default_rng(2)
    d_q, d_k, d_a = 3, k.shape[-1], 5
    q = rng.standard_normal((*dout.shape[:-1], d_q))
    parameters = [rng.standard_normal(shape) for shape in ((d_q, d_a), (d_k, d_a), (d_a,))]
    arrays = [q, k, v, *parameters]
    gradients = qn.additive_attention_backward(dout, *arrays, mask=mask, bias=bias)

    def call(*inputs):
        torch_mask = None if mask is None else torch.from_numpy(mask)
        return qt.additive_attention(*inputs[:-1], mask=torch_mask, bias=inputs[-1])[0]

    def loss():
        return (qn.additive_attention(*arrays, mask=mask, bias=bias)[0] * dout).sum()

    out, expected = autograd(call, dout, *arrays, bias)
    close(qn.additive_attention(*arrays, mask=mask, bias=bias)[0], out)
    assert (gradients[-1] is None) == (bias is None)
    for gradient, other, x in zip(gradients, expected, [*arrays, bias], strict=True):
        if x is not None:
            close(gradient, other)
            close(gradient, numeric(loss, x), "finite differences")


def test_an_empty_row_gets_and_gives_no_gradient():
    dout, q, k, v, _, bias, _ = make("bias of its own for each")
    mask = np.ones((2, 1, 5, 11), bool)
    mask[1, :, 3] = False
    full = qn.scaled_dot_product_attention_backward(dout, q, k, v, mask=mask, bias=bias)
    assert not full[0][1, :, 3].any()
    assert not full[3][1, :, 3].any()
    dout[1, :, 3] = 1e6  # what comes down into an empty row reaches nothing
    again = qn.scaled_dot_product_attention_backward(dout, q, k, v, mask=mask, bias=bias)
    for gradient, other in zip(full, again, strict=True):
        close(gradient, other)
