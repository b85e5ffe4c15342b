"""Attention at the edges of the number types, on odd memory layouts, and on a GPU."""

import numpy as np
import pytest
import torch
from rooms import D_K, D_V, B, H, S, T, close, qkv, some_mask
from tolerances import TOLERANCE

import qkv.numpy as qn
import qkv.torch as qt

pytestmark = pytest.mark.filterwarnings("error")

D_A = 17
NUMPY_FLOATS = ["float16", "float32", "float64"]


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(
    ("room", "dtype"),
    [(qn, name) for name in NUMPY_FLOATS] + [(qt, name) for name in (*NUMPY_FLOATS, "bfloat16")],
)
def test_scores_of_ten_thousand_do_not_overflow(room, dtype, need_weights):
    def cast(x):
        return np.array(x, dtype) if room is qn else torch.tensor(x, dtype=getattr(torch, dtype))

    q, k, v = cast([[1e2], [-1e2]]), cast([[1e2], [-1e2], [0.0]]), cast([[3.0], [5.0], [7.0]])
    out, _ = room.scaled_dot_product_attention(q, k, v, scale=1.0, need_weights=need_weights)
    close(out.astype(np.float64) if room is qn else out.double(), [[3.0], [5.0]])
    weights = room.softmax(cast([1e4, -1e4, 1e4]))
    close(weights.astype(np.float64) if room is qn else weights.double(), [0.5, 0, 0.5])


@pytest.mark.parametrize("need_weights", [True, False])
def test_half_precision_scales_before_the_product(need_weights):
    """128 · 30 · 30 is more than float16 holds; divided by √128 it is not."""
    q, k = np.full((1, 128), 30, np.float16), np.full((2, 128), 30, np.float16)
    k[1] = 0
    v = np.array([[3.0], [5.0]], np.float16)
    for room, to in ((qn, np.asarray), (qt, torch.from_numpy)):
        out, _ = room.scaled_dot_product_attention(*map(to, (q, k, v)), need_weights=need_weights)
        close(out, [[3.0]])


@pytest.mark.parametrize("dtype", NUMPY_FLOATS)
def test_numpy_keeps_the_dtype(dtype):
    q, k, v = qkv(dtype=dtype)
    rng = np.random.default_rng(2)
    dout = rng.standard_normal((B, H, T, D_V)).astype(dtype)
    bias = rng.standard_normal((H, 1, S)).astype(dtype)
    shapes = (D_K, D_A), (D_K, D_A), (D_A,)
    weights_of_score = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    options = {"mask": some_mask(), "bias": bias}
    scaled = options | {"scale": np.float64(0.3), "causal": True}
    results = [
        qn.softmax(q),
        qn.softmax_backward(q, qn.softmax(q)),
        *qn.scaled_dot_product_attention(q, k, v, **scaled),
        *qn.scaled_dot_product_attention_backward(dout, q, k, v, **scaled),
        *qn.additive_attention(q, k, v, *weights_of_score, **options),
        *qn.additive_attention_backward(dout, q, k, v, *weights_of_score, **options),
    ]
    assert [result.dtype for result in results] == [np.dtype(dtype)] * len(results)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_short_floats_give_no_nan_forward_or_backward(dtype, need_weights, causal):
    arrays, mask = qkv(), some_mask()
    expected, _ = qn.scaled_dot_product_attention(*arrays, mask=mask, causal=causal)
    inputs = [torch.from_numpy(x).to(getattr(torch, dtype)).requires_grad_() for x in arrays]
    out, _ = qt.scaled_dot_product_attention(
        *inputs, mask=torch.from_numpy(mask), causal=causal, need_weights=need_weights
    )
    assert out.dtype == inputs[0].dtype
    out.square().sum().backward()
    # Rounding the inputs is part of the error here, and scores add seven of them.
    np.testing.assert_allclose(out.detach().double(), expected, atol=4 * TOLERANCE[dtype])
    assert all(torch.isfinite(x.grad).all() for x in inputs)
    assert (out[0, :, 2] == 0).all()
    assert (inputs[0].grad[0, :, 2] == 0).all()


@pytest.mark.parametrize("need_weights", [True, False])
def test_strided_and_read_only_inputs_are_taken_and_left_alone(need_weights):
    q, k, v = (np.moveaxis(x, 1, 2).copy().swapaxes(1, 2) for x in qkv(T=257, S=263))
    bias = np.random.default_rng(5).standard_normal((263, 257)).T
    mask = np.random.default_rng(6).random((263, 257)).T > 0.5
    inputs = [q, k, v, mask, bias]
    copies = [np.ascontiguousarray(x) for x in inputs]
    for x in inputs:
        assert not x.flags.c_contiguous
        x.setflags(write=False)

    def attend(q, k, v, mask, bias):
        return qn.scaled_dot_product_attention(
            q, k, v, mask=mask, bias=bias, need_weights=need_weights
        )[0]

    close(attend(*inputs), attend(*copies))
    for x, copy in zip(inputs, copies, strict=True):
        np.testing.assert_array_equal(x, copy)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", [*NUMPY_FLOATS, "bfloat16"])
def test_on_a_gpu(dtype, need_weights):
    arrays, mask = qkv(), some_mask()
    expected, _ = qn.scaled_dot_product_attention(*arrays, mask=mask, causal=True)
    inputs = [torch.tensor(x, dtype=getattr(torch, dtype), device="cuda") for x in arrays]
    inputs = [x.requires_grad_() for x in inputs]
    cuda_mask = torch.from_numpy(mask).cuda()
    out, _ = qt.scaled_dot_product_attention(
        *inputs, mask=cuda_mask, causal=True, need_weights=need_weights
    )
    out.sum().backward()
    np.testing.assert_allclose(out.detach().double().cpu(), expected, atol=4 * TOLERANCE[dtype])
    assert all(torch.isfinite(x.grad).all() for x in inputs)
