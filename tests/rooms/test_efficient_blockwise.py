"""Attention in blocks: equal to attention, forward and backward, and its weights never held."""

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import matches_differences
from tests.helpers.rooms import D_K, D_V, ROOMS, B, H, S, T, close, qkv, some_mask, tensor

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")

BLOCKS = [1, 2, 3, 5, 11, 128]
# q's leading axes, T, S, d_k, d_v; the shapes of mask and bias; further options.
CASES = {
    "plain": ((2, 3), 5, 11, 7, 13, None, None, {}),
    "no leading axes": ((), 5, 11, 7, 13, (5, 11), (5, 11), {}),
    "three leading axes": ((2, 1, 3), 5, 7, 11, 2, (2, 1, 1, 5, 7), (3, 1, 7), {}),
    "one query": ((2, 3), 1, 11, 7, 5, (2, 1, 1, 11), (2, 1, 1, 11), {}),
    "one key": ((2, 3), 5, 1, 7, 11, (2, 1, 5, 1), (3, 5, 1), {}),
    "batch of one, width of one": ((1, 1), 5, 7, 1, 1, None, (1, 1, 1, 1), {}),
    "bias of its own for each": ((2, 3), 5, 11, 7, 2, None, (2, 3, 5, 11), {}),
    "bias for each key": ((2, 3), 5, 11, 7, 2, (11,), (11,), {}),
    "bias for each query": ((2, 3), 5, 11, 7, 2, None, (3, 5, 1), {}),
    "bias for all": ((2, 3), 5, 11, 7, 2, None, (), {}),
    "causal": ((2, 3), 7, 7, 5, 2, None, None, {"causal": True}),
    "causal, more keys": ((2, 3), 5, 11, 7, 2, None, (3, 1, 1), {"causal": True}),
    "causal and mask": ((2, 3), 5, 11, 7, 2, (2, 1, 5, 11), None, {"causal": True}),
    "own scale": ((2, 3), 5, 11, 7, 2, None, None, {"scale": -0.3}),
    "no keys": ((2, 3), 5, 0, 7, 2, None, (3, 5, 1), {}),
    "no queries": ((2, 3), 0, 5, 7, 2, None, None, {}),
}


def make(name, seed=0):
    """Inputs of a case and an upstream gradient; the first row of a mask hides everything."""
    lead, T, S, d_k, d_v, mask_shape, bias_shape, options = CASES[name]
    rng = np.random.default_rng(seed)
    shapes = (*lead, T, d_k), (*lead, S, d_k), (*lead, S, d_v), (*lead, T, d_v)
    q, k, v, dout = (rng.standard_normal(shape) * 2 for shape in shapes)
    bias = None if bias_shape is None else np.array(rng.standard_normal(bias_shape))
    mask = None
    if mask_shape is not None:
        mask = rng.random(mask_shape) > 0.4
        mask.reshape(-1, S)[0] = len(mask_shape) == 1
    return dout, (q, k, v), {"mask": mask, "bias": bias, **options}


def to_room(array, options):
    return {n: array(x) if isinstance(x, np.ndarray) else x for n, x in options.items()}


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_blocks_give_what_attention_gives(room, array, name, block):
    _, arrays, options = make(name)
    expected, weights = qn.scaled_dot_product_attention(*arrays, **options)
    options = to_room(array, options)
    out, peak, total = room.blockwise_attention(*map(array, arrays), **options, block_size=block)
    close(out, expected)
    assert peak.shape == total.shape == expected.shape[:-1]
    np.testing.assert_array_equal(np.asarray(total) == 0, ~weights.any(-1))
    assert (np.asarray(total) >= weights.any(-1)).all()  # the peak alone gives 1


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_peak_and_total_by_hand(room, array):
    """Scores 0, ln 3 and one that is hidden: their exponentials are 1/3 and 1 of the peak's."""
    q, k = array([[1.0]]), array([[0.0], [np.log(3)], [9.0]])
    v, mask = array([[4.0], [8.0], [1.0]]), array([True, True, False])
    for block in (1, 2, 3):
        out, peak, total = room.blockwise_attention(q, k, v, mask=mask, block_size=block)
        close(out, [[7.0]])
        close(peak, [np.log(3)])
        close(total, [4 / 3])


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", CASES)
def test_backward_is_autograds_and_that_of_attention(name, block):
    dout, arrays, options = make(name)
    out, peak, total = qn.blockwise_attention(*arrays, **options, block_size=block)
    expected = qn.scaled_dot_product_attention_backward(dout, *arrays, **options)
    inputs = [torch.tensor(x, requires_grad=True) for x in arrays]
    bias = options["bias"]
    if bias is not None:
        inputs.append(torch.tensor(bias, requires_grad=True))
    others = to_room(torch.tensor, options) | {"bias": None if bias is None else inputs[3]}
    qt.blockwise_attention(*inputs[:3], **others, block_size=block)[0].backward(torch.tensor(dout))
    for kept in ({}, {"out": out, "peak": peak, "total": total}):
        gradients = qn.blockwise_attention_backward(
            dout, *arrays, **options, block_size=block, **kept
        )
        assert len(gradients) == 4
        assert (gradients[3] is None) == (bias is None)
        for gradient, attention, x in zip(gradients, expected, inputs, strict=False):
            close(gradient, attention)
            close(gradient, torch.zeros_like(x) if x.grad is None else x.grad)  # no keys, no bias


@pytest.mark.parametrize("name", CASES)
def test_backward_is_the_slope(name):
    dout, arrays, options = make(name)
    gradients = qn.blockwise_attention_backward(dout, *arrays, **options, block_size=3)

    def loss():
        return (qn.blockwise_attention(*arrays, **options, block_size=2)[0] * dout).sum()

    for gradient, x in zip(gradients, (*arrays, options["bias"]), strict=True):
        if x is not None:
            matches_differences(gradient, loss, x)


def test_backward_takes_the_peak_and_the_total_that_were_kept():
    """A peak that is higher by log 2, or twice the total, halves every weight, and dv with them."""
    dout, arrays, _ = make("plain")
    out, peak, total = qn.blockwise_attention(*arrays)

    def dv(peak, total):
        return qn.blockwise_attention_backward(dout, *arrays, out=out, peak=peak, total=total)[2]

    close(dv(peak, total * 2), dv(peak, total) / 2)
    close(dv(peak + np.log(2), total), dv(peak, total) / 2)


@pytest.mark.parametrize(
    ("dtype", "height"), [("float32", 1e9), ("float32", 2**21), ("float64", 2**60)]
)
@pytest.mark.parametrize("way", ["bias of padding", "large scores"])
def test_large_scores_do_not_swallow_the_number_of_keys(way, dtype, height):
    """Eleven equal scores of −1e9, a usual bias for padding: each key has a weight of 1/11."""
    q, k, v = qkv(dtype=dtype)
    dout = np.random.default_rng(2).standard_normal((B, H, T, D_V)).astype(dtype)
    bias, q[...] = None, 0
    if way == "bias of padding":
        bias = np.full((T, S), -height, dtype)
    else:
        q[..., 0], k[..., 0] = height, 1
    options = {"bias": bias, "scale": 1.0}
    expected = qn.scaled_dot_product_attention_backward(dout, q, k, v, **options)
    close(expected[2].sum(-2), dout.sum(-2), "float32")  # each row of weights sums to 1
    out, peak, total = qn.blockwise_attention(q, k, v, **options, block_size=3)
    close(total, np.full(total.shape, S, dtype), dtype)
    kept = {"out": out, "peak": peak, "total": total}
    inputs = [torch.tensor(x, requires_grad=True) for x in (q, k, v)]
    torch_bias = None if bias is None else torch.tensor(bias)
    torchs = qt.blockwise_attention(*inputs, bias=torch_bias, scale=1.0, block_size=3)
    close(torchs[2].detach(), total, dtype)
    torchs = torch.autograd.grad(torchs[0], inputs, torch.tensor(dout))
    for own in ({}, kept):
        gradients = qn.blockwise_attention_backward(dout, q, k, v, **options, block_size=3, **own)
        for gradient, other, of_torch in zip(gradients[:3], expected[:3], torchs, strict=True):
            unit = max(np.abs(other).max(), 1)
            close(gradient / unit, other / unit, dtype)
            close(of_torch / unit, other / unit, dtype)


@pytest.mark.parametrize("size", [1.0, 1e5, 1e10])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_rounding_leaves_grows_with_the_keys_as_the_docstring_says(dtype, size):
    """Scores so far apart that one key has all the weight: exactly, q and k have no gradient."""
    q, k, v = qkv(dtype=dtype)
    dout = np.random.default_rng(2).standard_normal((B, H, T, D_V)).astype(dtype)
    options = {"scale": 1e8 / size}
    k *= k.dtype.type(size)
    assert not any(
        x.any() for x in qn.scaled_dot_product_attention_backward(dout, q, k, v, **options)[:2]
    )
    inputs = [torch.tensor(x, requires_grad=True) for x in (q, k, v)]
    out = qt.blockwise_attention(*inputs, **options, block_size=3)[0]
    dq, dk = torch.autograd.grad(out, inputs[:2], torch.tensor(dout))

    def longest(x):
        return np.linalg.norm(x, axis=-1).max()

    dscore = 2 * np.finfo(dtype).eps * longest(dout) * longest(v)
    gradients = qn.blockwise_attention_backward(dout, q, k, v, **options, block_size=3)
    for of_q, of_k in (gradients[:2], (dq.numpy(), dk.numpy())):
        assert longest(of_q) <= dscore * options["scale"] * longest(k)
        assert longest(of_k) <= dscore * options["scale"] * longest(q) * T


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_with_long_keys_what_rounding_leaves_is_no_small_number(dtype):
    """What the docstring warns of: a gradient that is exactly 0 comes out in the thousands."""
    q, k, v = qkv(dtype=dtype)
    k *= k.dtype.type(1e10 if dtype == "float32" else 1e19)
    dout = np.random.default_rng(2).standard_normal((B, H, T, D_V)).astype(dtype)
    assert not qn.scaled_dot_product_attention_backward(dout, q, k, v)[0].any()
    inputs = [torch.tensor(x, requires_grad=True) for x in (q, k, v)]
    out = qt.blockwise_attention(*inputs, block_size=3)[0]
    (dq,) = torch.autograd.grad(out, inputs[:1], torch.tensor(dout))
    ours = qn.blockwise_attention_backward(dout, q, k, v, block_size=3)[0]
    for gradient in (ours, dq.numpy()):
        assert abs(gradient).max() > 1


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_an_empty_row_is_zeros_and_nothing_flows_through_it(room, array):
    q, k, v = qkv()
    mask = some_mask()
    out, peak, total = room.blockwise_attention(
        *map(array, (q, k, v)), mask=array(mask), block_size=3
    )
    assert not np.asarray(out)[0, :, 2].any()
    assert not np.asarray(total)[0, :, 2].any()
    assert (np.asarray(peak)[0, :, 2] == np.finfo(np.float64).min).all()
    dout = np.random.default_rng(2).standard_normal(out.shape)
    if room is qn:
        gradients = qn.blockwise_attention_backward(dout, q, k, v, mask=mask, block_size=3)[:3]
        dout[0, :, 2] = 1e6
        again = qn.blockwise_attention_backward(dout, q, k, v, mask=mask, block_size=3)[:3]
    else:
        inputs = [torch.tensor(x, requires_grad=True) for x in (q, k, v)]
        out = qt.blockwise_attention(*inputs, mask=array(mask), block_size=3)[0]
        gradients = torch.autograd.grad(out, inputs, array(dout), retain_graph=True)
        dout[0, :, 2] = 1e6
        again = torch.autograd.grad(out, inputs, array(dout))
    for gradient, other in zip(gradients, again, strict=True):
        close(gradient, other)
    assert not np.asarray(gradients[0])[0, :, 2].any()


def test_torchs_log_sum_exp_has_the_softmax_as_its_gradient():
    q, k, v = (torch.tensor(x, requires_grad=True) for x in qkv())
    _, peak, total = qt.blockwise_attention(q, k, v, mask=torch.tensor(some_mask()), block_size=3)
    lse = peak + total.log()
    lse[total > 0].sum().backward()
    _, weights = qt.scaled_dot_product_attention(q, k, v, mask=torch.tensor(some_mask()))
    close(q.grad, (weights @ k / D_K**0.5).detach())


@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16"])
@pytest.mark.parametrize("room", [qn, qt])
def test_scores_of_ten_thousand_and_sums_of_many(room, dtype):
    """4,000 equal scores: in half precision, a sum of ones ends at 2,048 or 256."""

    def cast(x):
        return np.array(x, dtype) if room is qn else torch.tensor(x, dtype=getattr(torch, dtype))

    if room is qn and dtype == "bfloat16":
        return
    q, k, v = cast([[1e2], [-1e2]]), cast([[1e2], [-1e2], [0.0]]), cast([[3.0], [5.0], [7.0]])
    out, peak, total = room.blockwise_attention(q, k, v, scale=1.0, block_size=1)
    close(out.tolist(), [[3.0], [5.0]])
    close(np.array(peak.tolist()) / 1e4, [1, 1], "float32")
    assert total.tolist() == [1, 1]
    many = cast(np.ones((4000, 1)))
    out, peak, total = room.blockwise_attention(q[:1], many * 0, many, block_size=1000)
    close(out.tolist(), [[1.0]])
    assert (peak.tolist(), total.tolist()) == ([0], [4000])


def test_numpy_keeps_the_dtype_of_gradients():
    dout = np.ones((B, H, T, D_V))
    bias = np.ones((H, 1, S))
    for dtype in ("float16", "float32", "float64"):
        arrays = [x.astype(dtype) for x in (dout, *qkv())]
        gradients = qn.blockwise_attention_backward(
            *arrays, bias=bias.astype(dtype), scale=np.float64(0.3)
        )
        assert [x.dtype for x in gradients] == [np.dtype(dtype)] * 4


def test_numpy_never_holds_the_scores():
    """2,048 × 2,048 numbers are 32 MiB; in blocks of 64, a few hundred kB and the gradients do."""
    n, whole = 2048, 2048 * 2048 * 8
    q, k, v, dout = np.random.default_rng(0).standard_normal((4, n, 5))
    mask = np.broadcast_to(np.random.default_rng(1).random(n) > 0.1, (n, n))
    options = {"mask": mask, "bias": np.zeros((n, 1)), "causal": True, "block_size": 64}

    def peak(call):
        tracemalloc.start()
        try:
            kept = call()
            return tracemalloc.get_traced_memory()[1], kept
        finally:
            tracemalloc.stop()

    forward, (out, peaks, totals) = peak(lambda: qn.blockwise_attention(q, k, v, **options))
    backward, _ = peak(
        lambda: qn.blockwise_attention_backward(
            dout, q, k, v, **options, out=out, peak=peaks, total=totals
        )
    )
    assert forward < whole / 32
    assert backward < whole / 32
    full, _ = peak(lambda: qn.scaled_dot_product_attention(q, k, v))
    assert full > whole  # the measure sees what it has to see


class LargestStorage(TorchDispatchMode):
    """The size of the largest memory that any operation has made."""

    largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for x in result if isinstance(result, tuple | list) else (result,):
            if isinstance(x, torch.Tensor):
                self.largest = max(self.largest, x.untyped_storage().nbytes())
        return result


def test_torch_never_holds_the_scores_and_keeps_none_for_backward():
    n, whole = 512, 512 * 512 * 8
    q, k, v = (torch.randn(n, 5, dtype=torch.float64, requires_grad=True) for _ in range(3))
    mask = torch.rand(n) > 0.1
    kept = []

    def keep(x):
        kept.append(x.untyped_storage().nbytes())
        return x

    with LargestStorage() as made, torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        out = qt.blockwise_attention(q, k, v, mask=mask, causal=True, block_size=32)[0]
        assert sum(kept) < whole
        out.sum().backward()
    assert 0 < made.largest <= 32 * n * 8
    with LargestStorage() as made:
        qt.scaled_dot_product_attention(q, k, v)
    assert made.largest == whole


def test_causal_blocks_of_the_future_are_not_computed():
    """Keys that no query sees may be NaN: they are never touched."""
    q, k, v = qkv(T=12, S=12)
    k[..., 4:, :] = np.nan
    out = qn.blockwise_attention(q, k, v, causal=True, block_size=4)[0]
    assert np.isfinite(out[..., :4, :]).all()
    assert np.isnan(out[..., 4:, :]).all()


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (lambda out, peak: {"out": out[..., 1:]}, "out must be (B, H, T, d_v) = (2, 3,"),
        (lambda out, peak: {"peak": peak[0]}, "peak must be (2, 3, 5), got"),
        (lambda out, peak: {"total": peak[0]}, "total must be (2, 3, 5), got"),
        (lambda out, peak: {"out": np.float32(out)}, "out must be float64 as q is"),
        (lambda out, peak: {"total": peak > 0}, "total must be a float array, got bool"),
        (
            lambda out, peak: {"peak": peak, "total": np.float32(peak)},
            "total must be float64 as peak",
        ),
        (
            lambda out, peak: {"block_size": 1.5},
            "block_size must be a whole number of at least 1, got 1.5",
        ),
    ],
)
def test_backward_refuses_what_is_not_of_its_forward(kept, words):
    q, k, v = qkv()
    out, peak, _ = qn.blockwise_attention(q, k, v)
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the words are compared below)
        qn.blockwise_attention_backward(out, q, k, v, **kept(out, peak))
    assert str(refusal.value).startswith(f"blockwise_attention_backward: {words}")
    with pytest.raises(ValueError, match="dout must be"):
        qn.blockwise_attention_backward(q, q, k, v)


SIZE = st.integers(0, 5)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_rooms_agree_or_refuse_in_the_same_words(data):
    lead = tuple(data.draw(st.lists(SIZE, max_size=3)))
    T, S, d_k, d_v = (data.draw(SIZE) for _ in range(4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    shapes = [[*lead, T, d_k], [*lead, S, d_k], [*lead, S, d_v]]
    if data.draw(st.integers(0, 9)) == 0:
        shapes[data.draw(st.integers(0, 2))][-1] += 1
    dtype = data.draw(st.sampled_from(["float32", "float64"]))
    arrays = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    mask = rng.random((T, S)) > 0.4 if data.draw(st.booleans()) else None
    options = {"causal": data.draw(st.booleans()), "block_size": data.draw(st.integers(0, 6))}

    def outcome(room, array):
        given = {} if mask is None else {"mask": array(mask)}
        try:
            return room.blockwise_attention(*map(array, arrays), **given, **options)
        except ValueError as error:
            return str(error)

    numpy_says, torch_says = outcome(qn, np.asarray), outcome(qt, tensor)
    if isinstance(numpy_says, str) or isinstance(torch_says, str):
        assert numpy_says == torch_says
        return
    for a, b in zip(numpy_says, torch_says, strict=True):
        assert str(b.dtype) == f"torch.{a.dtype}"
        close(np.maximum(a, -1e9), np.maximum(b.numpy(), -1e9), dtype)  # empty rows' peaks are huge
