"""The Triton kernel: blockwise attention in NumPy, through Triton's interpreter and on a GPU."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from qkv.torch.efficient import triton_attention
from tests.helpers.processes import run_python
from tests.helpers.rooms import close
from tests.helpers.tolerances import TOLERANCE
from tests.helpers.triton_interpreter import attend, interpreter, take_gradients_twice

triton = pytest.importorskip("triton")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")

NAMES = ("out", "dq", "dk", "dv")
# q's leading axes, T, S, d_k, d_v, the shape of the mask, further options; blocks are of 32.
CASES = {
    "plain": ((1, 2), 37, 67, 16, 16, None, {}),
    "whole blocks": ((1, 2), 64, 64, 64, 64, None, {}),
    "odd widths": ((1, 2), 37, 67, 40, 7, None, {}),
    "no leading axes": ((), 37, 67, 16, 40, (67,), {}),
    "three leading axes": ((2, 1, 2), 5, 37, 16, 16, (2, 1, 1, 1, 37), {}),
    "one query": ((2, 2), 1, 67, 16, 16, (2, 1, 1, 67), {}),
    "one key": ((1, 3), 37, 1, 16, 16, (3, 1, 1), {}),
    "padding": ((2, 2), 37, 67, 16, 16, (2, 1, 1, 67), {}),
    "widest": ((1, 1), 37, 67, 128, 128, None, {}),
    "causal": ((1, 1), 97, 97, 16, 16, None, {"causal": True}),
    "causal, whole blocks": ((1, 2), 64, 64, 64, 64, None, {"causal": True}),
    "causal, more keys": ((2, 2), 37, 71, 16, 16, None, {"causal": True}),
    "causal, one query": ((2, 2), 1, 67, 16, 16, None, {"causal": True}),
    "causal and padding": ((2, 2), 37, 71, 16, 40, (2, 1, 1, 71), {"causal": True}),
    "own scale": ((1, 2), 37, 67, 16, 16, None, {"scale": -0.3}),
    "no keys": ((2, 3), 5, 0, 16, 16, None, {}),
    "no queries": ((2, 3), 0, 5, 16, 16, None, {}),
}


@pytest.fixture(scope="module")
def call():
    with interpreter() as found:
        yield found


def make(lead, T, S, d_k, d_v, mask_shape, options, dtype="float32", seed=0):
    """Inputs that the dtype holds exactly; the first row of a mask hides every key."""
    rng = np.random.default_rng(seed)
    shapes = (*lead, T, d_k), (*lead, S, d_k), (*lead, S, d_v), (*lead, T, d_v)
    q, k, v, dout = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    mask = None
    if mask_shape is not None:
        mask = rng.random(mask_shape) > 0.4
        mask.reshape(-1, mask_shape[-1])[0] = len(mask_shape) == 1
    return dout, (q, k, v), {"mask": mask, **options}


def in_numpy(dout, arrays, options):
    """Output and gradients of the NumPy room in float64."""
    dout, *arrays = (x.astype(np.float64) for x in (dout, *arrays))
    out, *_ = qn.blockwise_attention(*arrays, **options)
    return out, *qn.blockwise_attention_backward(dout, *arrays, **options)[:3]


def agree(found, expected, tolerance):
    for name, one, other in zip(NAMES, found, expected, strict=True):
        assert one.shape == other.shape, name
        assert np.isfinite(one).all(), name
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", CASES)
def test_the_interpreted_kernel_gives_what_numpy_gives(call, name, dtype):
    dout, arrays, options = make(*CASES[name], dtype=dtype)
    found = call(attend, arrays, dout, dtype=dtype, **options)
    agree(found, in_numpy(dout, arrays, options), TOLERANCE[dtype])


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_the_interpreted_kernel_in_any_shape(call, data):
    lead = tuple(data.draw(st.lists(st.integers(0, 2), max_size=3)))
    S = data.draw(st.integers(0, 70))
    causal = data.draw(st.booleans())
    T = data.draw(st.integers(0, min(S, 70) if causal else 70))
    d_k, d_v = data.draw(st.integers(1, 20)), data.draw(st.integers(0, 20))
    mask_shape = (*lead, 1, S) if data.draw(st.booleans()) else None
    mask_shape = mask_shape if mask_shape and 0 not in mask_shape else None
    seed = data.draw(st.integers(0, 2**32))
    dout, arrays, options = make(lead, T, S, d_k, d_v, mask_shape, {"causal": causal}, seed=seed)
    expected = in_numpy(dout, arrays, options) if 0 not in lead else [*map(np.zeros_like, arrays)]
    expected = expected if 0 not in lead else [np.zeros_like(dout), *expected]
    agree(call(attend, arrays, dout, **options), expected, TOLERANCE["float32"])


def test_a_query_without_keys_is_zeros_and_nothing_flows_through_it(call):
    dout, arrays, options = make(*CASES["padding"])
    found = call(attend, arrays, dout, **options)
    assert not any(x[0].any() for x in found)  # the first sentence is all padding
    dout[0] = 1e6
    for one, other in zip(found, call(attend, arrays, dout, **options), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_hidden_changes_nothing(call):
    """Keys and values of padding may be anything finite: neither output nor gradients move."""
    dout, (q, k, v), options = make(*CASES["causal and padding"])
    hidden = np.broadcast_to(~options["mask"].mT, (*k.shape[:-1], 1))
    moved = (q, np.where(hidden, 1e3, k).astype(k.dtype), np.where(hidden, -1e3, v).astype(v.dtype))
    found = call(attend, (q, k, v), dout, **options)
    for name, one, other in zip(NAMES, found, call(attend, moved, dout, **options), strict=True):
        np.testing.assert_allclose(one, other, atol=TOLERANCE["float32"], err_msg=name)
    assert not found[2][hidden[..., 0]].any()
    assert not found[3][hidden[..., 0]].any()


def test_large_scores(call):
    """Scores of ±10,000, whose exponentials no float32 holds; equal ones share the values."""
    q, k = [[1e2], [-1e2]], [[1e2], [-1e2], [0.0], [1e2]]
    v = [[3.0], [5.0], [7.0], [4.0]]
    arrays = [np.array(x, np.float32) for x in (q, k, v)]
    out, _, _, dv = call(attend, arrays, np.ones((2, 1)), scale=1.0)
    close(out, [[3.5], [5.0]], "float32")
    close(dv, [[0.5], [1.0], [0.0], [0.5]], "float32")


def test_large_scores_do_not_swallow_the_number_of_keys(call):
    """Eleven equal scores of 10⁹: each key has a weight of 1/11, in the backward too."""
    dout, (q, k, v), _ = make((2, 3), 5, 11, 16, 16, None, {})
    q[...] = k[...] = 0
    q[..., 0], k[..., 0] = 1e9, 1
    out, _, _, dv = call(attend, (q, k, v), dout, scale=1.0)
    close(out, np.broadcast_to(v.mean(-2, keepdims=True), out.shape), "float32")
    close(dv, np.broadcast_to(dout.sum(-2, keepdims=True) / 11, v.shape), "float32")


def test_arrays_that_are_not_contiguous(call):
    """Heads as `split_heads` leaves them, (B, T, H, d_k) seen as (B, H, T, d_k)."""
    dout, arrays, options = make((2, 2), 5, 37, 16, 16, (2, 1, 1, 37), {})
    turned = [np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) for x in arrays]
    agree(
        call(attend, turned, dout.mT.copy().mT, **options),
        in_numpy(dout, arrays, options),
        TOLERANCE["float32"],
    )


def test_under_autocast_everything_has_its_dtype(call):
    dout, arrays, options = make(*CASES["padding"], dtype="float16")
    expected = call(attend, arrays, dout, dtype="float16", **options)
    found = call(attend, arrays, dout, dtype="float32", autocast="float16", **options)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_gradients_of_gradients_are_refused(call):
    with pytest.raises(NotImplementedError, match="has no gradients of gradients"):
        call(take_gradients_twice, make(*CASES["one query"])[1])


def tensors(dtype=torch.float32, d_k=16, d_v=16, device="cpu"):
    lead = (2, 3)
    shapes = (*lead, 5, d_k), (*lead, 7, d_k), (*lead, 7, d_v)
    return [torch.ones(shape, dtype=dtype, device=device) for shape in shapes]


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ({"dtype": torch.float64}, {}, "q must be float16, bfloat16 or float32, got float64"),
        ({"d_k": 129}, {}, "d_k must be at most 128, got 129: a block of it has to fit on chip"),
        ({"d_v": 300}, {}, "d_v must be at most 128, got 300"),
        ({}, {}, "q must be on a GPU, got cpu: call blockwise_attention"),
        ({}, {"mask": torch.ones(2, 1, 5, 7) > 0}, r"mask must broadcast to \(B, H, 1, S\)"),
        ({}, {"mask": torch.ones(7)}, "mask must be a bool array, got float32"),
        ({}, {"mask": torch.ones(7, device="meta") > 0}, "mask must be on cpu as q is, got meta"),
        ({}, {"scale": float("nan")}, "scale must be a finite number"),
    ],
)
def test_what_is_refused(given, options, words):
    with pytest.raises(ValueError, match=f"^triton_attention: {words}"):
        triton_attention(*tensors(**given), **options)


def test_shapes_that_do_not_fit_are_refused():
    q, k, v = tensors()
    with pytest.raises(ValueError, match=r"^triton_attention: k must be \(B, H, S, d_k\)"):
        triton_attention(q, k[..., 1:], v)
    with pytest.raises(ValueError, match=r"^triton_attention: T must be at most S"):
        triton_attention(torch.cat([q, q], -2), k, v, causal=True)


def test_the_interpreter_refuses_bfloat16_which_it_computes_wrongly(call):
    dout, arrays, _ = make(*CASES["one query"])
    with pytest.raises(ValueError, match="interpreter computes bfloat16 wrongly"):
        call(attend, arrays, dout, dtype="bfloat16")


def test_triton_is_imported_at_the_first_call_alone():
    found = run_python("import sys, qkv.torch.efficient; print('triton' in sys.modules)")
    assert found.stdout.strip() == "False", found.stderr


def test_without_triton_the_error_says_what_to_install():
    found = run_python(
        "import sys; sys.modules['triton'] = None\n"
        "import torch; from qkv.torch.efficient import triton_attention\n"
        "triton_attention(*torch.ones(3, 1, 4, 16))"
    )
    assert "ImportError: triton_attention needs Triton: pip install 'qkv[triton]'" in found.stderr


def test_the_compiler_takes_what_the_interpreter_takes(tmp_path, monkeypatch):
    """For an A100 and an H100, which need not be there; in bfloat16, and with room on any GPU."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from qkv.torch.efficient.triton_attention.launch import SMALL, TUNED

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    sizes = {"D_K": 40, "D_V": 64, "WIDTH_K": 64, "WIDTH_V": 64, "CAUSAL": True}
    sizes |= {name: SMALL[name] for name in ("R", "C")}
    types = {"T": "i32", "S": "i32", "scale": "fp32", "factor": "fp32", "mask": "*i1"}
    types |= dict.fromkeys(("peaks", "totals", "means"), "*fp32")
    types |= dict.fromkeys(sizes, "constexpr")
    for kernel in TUNED:
        names = kernel.arg_names
        signature = {name: types.get(name, "*bf16") for name in names}
        constants = {(names.index(name),): size for name, size in sizes.items()}
        for capability in (80, 90):
            options = {"num_stages": SMALL["num_stages"], "enable_fp_fusion": True}
            source = ASTSource(kernel, signature, constants)
            target = GPUTarget("cuda", capability, 32)
            found = triton.compile(source, target=target, options=options)
            assert found.metadata.shared < 64 * 1024, kernel.__name__


def in_float64(dout, arrays, options):
    """Output and gradients of the torch room, on the GPU in float64."""
    inputs = [torch.tensor(x, dtype=torch.float64, device="cuda") for x in arrays]
    inputs = [x.requires_grad_() for x in inputs]
    mask = None if options["mask"] is None else torch.tensor(options["mask"], device="cuda")
    out, *_ = qt.blockwise_attention(*inputs, **options | {"mask": mask, "block_size": 1024})
    gradients = torch.autograd.grad(out, inputs, torch.tensor(dout, device="cuda").double())
    return [x.detach().cpu().numpy() for x in (out, *gradients)]


def on_a_gpu(case, dtype):
    """What the kernel gives there, and what it should, of numbers that the dtype holds."""
    dout, arrays, options = make(*case, dtype="float32" if dtype == "float32" else "float16")
    if dtype == "bfloat16":
        dout, *arrays = (torch.tensor(x).bfloat16().float().numpy() for x in (dout, *arrays))
    found = attend(arrays, dout, dtype=dtype, device="cuda", **options)
    return found, in_float64(dout, arrays, options)


@gpu
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", CASES)
def test_on_a_gpu(name, dtype):
    agree(*on_a_gpu(CASES[name], dtype), TOLERANCE[dtype])


@gpu
@pytest.mark.parametrize(
    ("dtype", "T", "S", "d_k", "padding", "options"),
    [
        ("float16", 4096, 4096, 64, False, {}),
        ("float16", 4096, 4096, 128, False, {"causal": True}),
        ("bfloat16", 4096, 4096, 64, False, {"causal": True}),
        ("bfloat16", 4096, 4096, 128, False, {}),
        ("bfloat16", 1100, 2500, 64, True, {"causal": True}),
        ("float32", 2048, 4096, 64, False, {"causal": True}),
        ("float32", 4096, 4096, 128, True, {}),
    ],
)
def test_long_texts_on_a_gpu(dtype, T, S, d_k, padding, options):
    """Long enough in 16 bits that several sizes of block are tried, and the fastest is taken.

    Compared in units of the largest number: the mean of thousands of values is small.
    """
    mask_shape = (2, 1, 1, S) if padding else None
    found, expected = on_a_gpu(((2, 2), T, S, d_k, d_k, mask_shape, options), dtype)
    for name, one, other in zip(NAMES, found, expected, strict=True):
        worst = np.abs(one - other).max() / np.abs(other).max()
        assert worst < TOLERANCE[dtype], name


@gpu
def test_autocast_on_a_gpu():
    dout, arrays, options = make(*CASES["padding"], dtype="float16")
    expected = attend(arrays, dout, dtype="float16", device="cuda", **options)
    found = attend(arrays, dout, autocast="float16", device="cuda", **options)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
