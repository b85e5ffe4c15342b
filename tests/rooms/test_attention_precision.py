"""Attention at the edges of the number types, on odd memory layouts, and on a GPU."""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.kernels import FusedAttentionDtypes
from tests.helpers.rooms import D_K, D_V, B, H, S, T, close, qkv, some_mask
from tests.helpers.tolerances import TOLERANCE

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")

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


def halves(*arrays):
    return [np.asarray(x, np.float16) for x in arrays]


def ways(room):
    """Calls of attention whose scores outgrow float16: 128 · 128 · 64 / √64 is 131,072."""
    q = np.full((1, 64), 128)
    k = np.concatenate([q, q, -q])
    v, e = [[3.0], [5.0], [7.0]], np.eye(3)
    attend = room.scaled_dot_product_attention
    w, down = np.full((64, 1), 128), np.full((64, 1), -128)
    return {
        "scaled": (attend, (q, k, v), {}, [[4.0]]),
        "scaled, causal": (attend, (k, k, v), {"causal": True}, [[3.0], [4.0], [7.0]]),
        "scaled, with a bias": (attend, (q, k, v), {"bias": [[6e4, -6e4, 0]]}, [[3.0]]),
        "scaled, no weights": (attend, (q, k, v), {"need_weights": False}, [[4.0]]),
        "linformer": (room.linformer_attention, (q, k, v, e, e), {}, [[4.0]]),
        # The hidden layer is tanh of 0, 0 and 2²¹, each a sum that would be ∞ − ∞ or ∞.
        "additive": (room.additive_attention, (q, k, v, w, down, [128]), {}, [[7.0]]),
    }


@pytest.mark.parametrize("name", ways(qn))
@pytest.mark.parametrize("room", [qn, qt])
def test_scores_beyond_half_precision_give_the_answer(room, name):
    call, arrays, options, expected = ways(room)[name]
    to = np.asarray if room is qn else torch.from_numpy
    options = {n: to(halves(x)[0]) if n == "bias" else x for n, x in options.items()}
    out, weights = call(*map(to, halves(*arrays)), **options)
    assert out.dtype == to(halves(0)[0]).dtype
    close(out, expected)
    if weights is not None:
        assert weights.dtype == out.dtype
        close(weights.sum(-1), np.ones(len(expected)))


@pytest.mark.parametrize("name", [n for n in ways(qn) if n != "scaled, no weights"])
def test_autocast_to_half_precision_gives_the_answer_too(name):
    call, arrays, options, expected = ways(qt)[name]
    options = {n: torch.tensor(x) if n == "bias" else x for n, x in options.items()}
    tensors = [torch.tensor(np.float32(x)) for x in arrays]
    with torch.autocast("cpu", torch.float16):
        close(call(*tensors, **options)[0], expected)


@pytest.mark.parametrize("options", [{"causal": True}, {"mask": torch.tensor([True, False, True])}])
@pytest.mark.parametrize("autocast", [True, False])
def test_on_a_cpu_the_fused_kernel_takes_gradients_of_half_precision_in_float32(autocast, options):
    """Its backward in bfloat16 is slow there; results and gradients keep their dtype."""
    numbers = torch.randn(3, 1, 2, 3, 4, generator=torch.Generator().manual_seed(0)).bfloat16()
    found = []
    for dtype in (torch.bfloat16, torch.float64):
        q, k, v = (x.to(dtype).requires_grad_() for x in numbers)
        narrow = dtype == torch.bfloat16
        with (
            FusedAttentionDtypes() as fused,
            torch.autocast("cpu", torch.bfloat16, enabled=autocast and narrow),
        ):
            out, weights = qt.scaled_dot_product_attention(q, k, v, need_weights=False, **options)
            (out * out).sum().backward()
        assert weights is None
        assert fused.forward == fused.backward == [torch.float32 if narrow else dtype]
        found.append([out.detach(), q.grad, k.grad, v.grad])
    for one, other in zip(*found, strict=True):
        assert one.dtype == torch.bfloat16
        close(one.double(), other, "bfloat16")
    with torch.no_grad(), FusedAttentionDtypes() as fused:
        qt.scaled_dot_product_attention(*numbers, need_weights=False, **options)
    assert fused.forward == [torch.bfloat16]  # the forward alone is as fast


@pytest.mark.parametrize("kept", [True, False])
def test_backward_of_sixty_thousand_in_half_precision(kept):
    """Values and gradients of 60,000, whose products and sums float16 cannot hold."""
    q, k, v = halves(np.zeros((1, 1)), np.ones((2, 1)), [[6e4, 6e4], [6e4, -6e4]])
    (dout,) = halves([[1, 1]])
    out, weights = qn.scaled_dot_product_attention(q, k, v)
    close(out, [[6e4, 0]])
    given = {"weights": weights} if kept else {}
    dq, dk, dv, _ = qn.scaled_dot_product_attention_backward(dout, q, k, v, **given)
    close(dq, [[0]])
    close(dk, [[0], [0]])
    close(dv, np.full((2, 2), 0.5))
    inputs = [torch.from_numpy(x).requires_grad_() for x in (q, k, v)]
    out, _ = qt.scaled_dot_product_attention(*inputs)
    out.backward(torch.from_numpy(dout))
    for gradient, of_torch in zip((dq, dk, dv), inputs, strict=True):
        close(gradient, of_torch.grad)
    (far,) = halves([[49152, -49152]])
    close(qn.softmax_backward(far, *halves([[0.25, 0.75]])), [[18432, -18432]])
    w = halves(np.ones((1, 1)), np.ones((1, 1)), [1])
    gradients = qn.additive_attention_backward(dout, q, k, v, *w)
    inputs = [torch.from_numpy(x).requires_grad_() for x in (q, k, v, *w)]
    qt.additive_attention(*inputs)[0].backward(torch.from_numpy(dout))
    for gradient, of_torch in zip(gradients, inputs, strict=False):
        close(gradient, of_torch.grad, "float16")


def test_softmax_of_more_keys_than_half_precision_counts():
    """70,000 equal scores: their sum is beyond float16, their weight 1 / 70,000 is not."""
    scores = np.zeros(70_000, np.float16)
    expected = np.full(scores.shape, np.float16(1 / 70_000))
    close(qn.softmax(scores), expected)
    close(qt.softmax(torch.from_numpy(scores)), expected)


def test_half_precision_rounds_scores_of_300_no_more_than_their_weights():
    """In bfloat16, 300 and 301 are the same number; their softmax is not 1 / 2."""
    q = torch.tensor([[1.0]], dtype=torch.bfloat16)
    k, bias = q.new_tensor([[256.0], [256.0]]), q.new_tensor([[44.0, 45.0]])
    _, weights = qt.scaled_dot_product_attention(q, k, k, bias=bias, scale=1.0)
    close(weights.double(), [[1 / (1 + np.e), np.e / (1 + np.e)]], "bfloat16")


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
