"""One concept, one name, in every room: names, calls, results, refusals, compilation."""

import inspect
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.rooms import close, qkv, tensor

SOURCE = Path(qn.__file__).parents[1]
FORWARD = [name for name in qn.__all__ if not name.endswith("_backward")]
# What makes an array takes a device besides in torch; each room has its own dtypes and generators.
OF_THE_ROOM = {"rng", "dtype", "device"}
# What a backward may take of its forward's results, and what it may do without.
KEPT = {"weights", "out", "peak", "total"}
NOT_FOR_BACKWARD = {"x", "need_weights"}
# What is added last does not stand in the slope of anything.
ADDED_LAST = {("layer_norm_backward", "bias")}


def test_the_rooms_hold_the_same_names():
    assert sorted(FORWARD) == sorted(qt.__all__)
    for name in set(qn.__all__) - set(FORWARD):
        assert name.removesuffix("_backward") in FORWARD
    for room in (qn, qt):
        public = {n for n, x in vars(room).items() if n[0] != "_" and not inspect.ismodule(x)}
        assert public == set(room.__all__)


@pytest.mark.parametrize("room", [qn, qt])
def test_each_public_name_is_listed_in_one_module(room):
    """Two star imports of one name would hide one of them."""
    modules = [m for name, m in sys.modules.items() if name.startswith(f"{room.__name__}.")]
    listed = Counter(
        name
        for module in modules
        if not hasattr(module, "__path__")
        for name in getattr(module, "__all__", ())
    )
    assert [name for name in room.__all__ if listed[name] > 1] == []


def test_the_rooms_hold_the_same_files():
    numpy_files, torch_files = (
        {path.relative_to(SOURCE / room) for path in (SOURCE / room).rglob("*.py")}
        for room in ("numpy", "torch")
    )
    numpy_files.remove(Path("array_types.py"))  # torch has one type of array, Tensor
    kernels = Path("efficient", "triton_attention")  # for a GPU; the NumPy one is blockwise.py
    torch_files -= {path for path in torch_files if path.is_relative_to(kernels)}
    assert numpy_files == torch_files


@pytest.mark.parametrize("name", [name for name in FORWARD if name != "Layer"])
def test_the_rooms_take_the_same_calls(name):
    def parameters(room):
        found = inspect.signature(getattr(room, name)).parameters.values()
        return [(p.name, p.kind, p.default) for p in found if p.name not in OF_THE_ROOM]

    assert parameters(qn) == parameters(qt)
    own = []
    for room in (qn, qt):
        taken = inspect.signature(getattr(room, name)).parameters
        own.append(OF_THE_ROOM & set(taken))
        assert {taken[p].kind for p in own[-1]} <= {inspect.Parameter.KEYWORD_ONLY}
    assert own[1] - own[0] <= {"device"}
    assert own[0] <= own[1]


@pytest.mark.parametrize("name", [n for n in qn.__all__ if n.endswith("_backward")])
def test_a_backward_takes_dout_and_what_its_forward_took(name):
    def names(function):
        return list(inspect.signature(function).parameters)

    first, *rest = names(getattr(qn, name))
    assert first == "dout"
    forward = names(getattr(qn, name.removesuffix("_backward")))
    assert [n for n in rest if n not in KEPT] == [n for n in forward if n in rest]
    spared = NOT_FOR_BACKWARD | {n for call, n in ADDED_LAST if call == name}
    assert set(forward) - set(rest) <= spared


SIZE = st.integers(0, 5)


@st.composite
def calls(draw):
    """Inputs of one call, most of them fitting, some off by an axis, a size or a type."""

    def spoil(shape):
        kind = draw(st.sampled_from(["no"] * 12 + ["size", "axis", "more"]))
        if kind == "size" and shape:
            at = draw(st.integers(0, len(shape) - 1))
            return (*shape[:at], shape[at] + 1, *shape[at + 1 :])
        return {"axis": shape[1:], "more": (1, *shape)}.get(kind, shape)

    def broadcast(shape):
        kept = tuple(n if draw(st.booleans()) else 1 for n in shape)
        return spoil(kept[draw(st.integers(0, len(kept))) :])

    def dtype(usual):
        return draw(st.sampled_from([usual] * 15 + ["float64", "float32", "int64", "bool"]))

    lead = tuple(draw(st.lists(SIZE, max_size=3)))
    T, S, d_k, d_v = (draw(SIZE) for _ in range(4))
    floats = draw(st.sampled_from(["float16", "float32", "float64"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))

    def array(shape, dtype):
        return np.asarray(rng.standard_normal(shape) * 2).astype(dtype)

    q, k, v = (
        array(spoil((*lead, *last)), dtype(floats)) for last in ((T, d_k), (S, d_k), (S, d_v))
    )
    masks = draw(st.booleans()), draw(st.booleans())
    mask = array(broadcast((*lead, T, S)), "float64") > 0.5 if masks[0] else None
    mask = mask.astype(dtype("bool")) if mask is not None else None
    bias = array(broadcast((*lead, T, S)), dtype(floats)) if masks[1] else None
    causal, need_weights = draw(st.booleans()), draw(st.booleans())
    return (q, k, v), (mask, bias), {"causal": causal, "need_weights": need_weights}


def outcome(room, to, arrays, extras, options):
    """The call's output and weights, or the text of its refusal."""
    mask, bias = (None if x is None else to(x) for x in extras)
    try:
        return room.scaled_dot_product_attention(*map(to, arrays), mask=mask, bias=bias, **options)
    except ValueError as error:
        return str(error)


@settings(max_examples=300, deadline=None)
@given(calls())
def test_the_rooms_agree_or_refuse_in_the_same_words(call):
    numpy_says = outcome(qn, np.asarray, *call)
    torch_says = outcome(qt, tensor, *call)
    if isinstance(numpy_says, str) or isinstance(torch_says, str):
        assert numpy_says == torch_says
        return
    (q, *_), _, _ = call
    for a, b in zip(numpy_says, torch_says, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a.dtype == q.dtype
            assert str(b.dtype) == f"torch.{q.dtype}"
            # Half precision rounds scores of about 10 first: 0.005 there is half a percent here.
            close(a, b, "bfloat16" if q.dtype == np.float16 else str(q.dtype))


@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_compiles_whole(need_weights):
    q, k, v = (torch.from_numpy(x).requires_grad_() for x in qkv())
    mask = torch.rand(2, 1, 5, 11) > 0.5

    def attend(q, k, v, mask):
        mask = qt.combine_masks(mask, qt.causal_mask(5, 11), qt.padding_mask(ids, 0))
        return qt.scaled_dot_product_attention(
            q, k, v, mask=mask, causal=True, need_weights=need_weights
        )[0]

    ids = torch.tensor([[1] * 9 + [0] * 2, [1] * 11])
    compiled = torch.compile(attend, backend="aot_eager", fullgraph=True)
    out = compiled(q, k, v, mask)
    close(out.detach(), attend(q, k, v, mask).detach())
    gradients = torch.autograd.grad(out.sum(), (q, k, v))
    expected = torch.autograd.grad(attend(q, k, v, mask).sum(), (q, k, v))
    for gradient, other in zip(gradients, expected, strict=True):
        close(gradient, other)


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def test_softmax_and_additive_attention_compile_whole():
    q, k, v = map(torch.from_numpy, qkv())
    w_q, w_k, w_s = (torch.ones(shape, dtype=torch.float64) for shape in ((7, 17), (7, 17), (17,)))
    for call, arrays in ((qt.softmax, [q]), (qt.additive_attention, [q, k, v, w_q, w_k, w_s])):
        compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
        for a, b in zip(as_tuple(compiled(*arrays)), as_tuple(call(*arrays)), strict=True):
            close(a, b)
