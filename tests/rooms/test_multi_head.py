"""Multi-head attention: heads by hand, torch's own, every gradient, refusals, other floats."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import copy_parameters, matches_differences, same_gradients
from tests.helpers.rooms import ROOMS, close, some_mask
from tests.helpers.tolerances import TOLERANCE

B, T, S, D = 2, 5, 7, 12

# Constructor arguments after d_model = 12, and what the call takes.
CASES = {
    "self": ((3,), {}, {}),
    "cross": ((3,), {}, {"S": S}),
    "own widths": ((2, 5, 7), {}, {"S": S}),
    "no bias": ((4, None, None, False), {}, {}),
    "a head for each number": ((12,), {}, {}),
    "one head": ((1,), {}, {}),
    "d_k = 1": ((3, 1, 2), {}, {"causal": True}),
    "grouped": ((6, 3), {"n_kv_heads": 2}, {"S": S}),
    "multi-query": ((3, 5, 2), {"n_kv_heads": 1}, {"mask": (B, 1, 1, T)}),
    "grouped, mask and bias for each head": (
        (6, 3),
        {"n_kv_heads": 3},
        {"mask": (B, 6, T, T), "bias": (6, T, 1)},
    ),
    "grouped, one mask": ((6, 3), {"n_kv_heads": 3}, {"mask": (T, T), "bias": (1, T, T)}),
    "rotary": ((3,), {"rotary": True}, {"causal": True}),
    "rotary, grouped": ((4, 6), {"rotary": True, "n_kv_heads": 2}, {"causal": True}),
    "causal": ((3,), {}, {"causal": True}),
    "causal, more keys": ((3,), {}, {"S": S, "causal": True}),
    "padded memory": ((3,), {}, {"S": S, "mask": (B, 1, 1, S)}),
    "empty rows": ((3,), {}, {"mask": (B, 1, T, T), "bias": (1, 3, T, T)}),
    "one token": ((3,), {}, {"B": 1, "T": 1}),
    "one token of memory": ((3,), {}, {"B": 1, "S": 1}),
}


def make(name, seed=0):
    """Both rooms' layers with the same random parameters, the arrays and the options of a case."""
    sizes, options, call = CASES[name]
    rng = np.random.default_rng(seed)
    layer = qn.MultiHeadAttention(D, *sizes, **options, rng=rng, dtype=np.float64)
    for _, value in layer.named_parameters():
        value[...] = rng.standard_normal(value.shape) / 2
    module = qt.MultiHeadAttention(D, *sizes, **options, dtype=torch.float64)
    copy_parameters(layer, module)
    b, t = call.get("B", B), call.get("T", T)
    x, dout = rng.standard_normal((2, b, t, D))
    memory = rng.standard_normal((b, call["S"], D)) if "S" in call else None
    given = {"causal": call.get("causal", False)}
    if "mask" in call:
        given["mask"] = mask = rng.random(call["mask"]) > 0.4
        mask[..., 0] = True
        if mask.ndim == 4 and mask.shape[2] > 1:
            mask[0, :, 2] = False  # a query that may attend to nothing
    if "bias" in call:
        given["bias"] = rng.standard_normal(call["bias"])
    return layer, module, x, memory, dout, given


def tensors(given):
    return {n: torch.tensor(a) if isinstance(a, np.ndarray) else a for n, a in given.items()}


# ---------------------------------------------------------------------------------------- heads


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_heads_by_hand(room, array):
    x = array([[[1.0, 2, 3, 4], [5, 6, 7, 8]]])
    heads = room.split_heads(x, 2)
    close(heads, [[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]])
    close(room.merge_heads(heads), x)
    close(room.split_heads(x[0], 2), heads[0])
    close(room.merge_heads(heads[0]), x[0])


def test_split_and_merge_are_each_others_backward():
    """⟨split(x), y⟩ = ⟨x, merge(y)⟩ for any x and y, which is what a backward is."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((B, T, D)), rng.standard_normal((B, 3, T, 4))
    close((qn.split_heads(x, 3) * y).sum(), (x * qn.merge_heads(y)).sum())
    x_t = torch.tensor(x, requires_grad=True)
    qt.split_heads(x_t, 3).backward(torch.tensor(y))
    close(qn.merge_heads(y), x_t.grad)


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_one_head_that_projects_nothing_is_attention(room, array):
    x = array(np.random.default_rng(0).standard_normal((B, T, 3)))
    layer = room.MultiHeadAttention(3, 1, dtype=x.dtype)
    layer.load_state_dict(
        {n: array(np.eye(3) if n.endswith("weight") else np.zeros(3)) for n in layer.state_dict()}
    )
    out, weights = layer(x, causal=True, need_weights=True)
    expected, of_one_head = room.scaled_dot_product_attention(x, x, x, causal=True)
    close(detached(out), expected)
    close(detached(weights)[:, 0], of_one_head)


def detached(x):
    return x.detach() if isinstance(x, torch.Tensor) else x


# ------------------------------------------------------------------------------- the whole layer


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_backward_is_autograds(name, need_weights):
    layer, module, x, memory, dout, given = make(name)
    x_t = torch.tensor(x, requires_grad=True)
    m_t = None if memory is None else torch.tensor(memory, requires_grad=True)
    expected, expected_weights = module(x_t, m_t, need_weights=need_weights, **tensors(given))
    expected.backward(torch.tensor(dout))
    out, weights = layer(x, memory, need_weights=need_weights, **given)
    close(out, expected.detach())
    assert (weights is None) == (expected_weights is None) == (not need_weights)
    if need_weights:
        close(weights, expected_weights.detach())
        answering = x if memory is None else memory
        assert weights.shape == (len(x), layer.sizes[1], x.shape[1], answering.shape[1])
    dx, dmemory, dvalue = layer.backward(dout)
    assert dvalue is None
    close(dx, x_t.grad)
    assert (dmemory is None) == (memory is None)
    if memory is not None:
        close(dmemory, m_t.grad)
    same_gradients(layer, module)


@pytest.mark.parametrize("name", CASES)
def test_backward_is_the_slope(name):
    layer, _, x, memory, dout, given = make(name)
    layer(x, memory, **given)
    dx, dmemory, dvalue = layer.backward(dout)
    assert dvalue is None
    layer.eval()

    def loss():
        return (layer(x, memory, **given)[0] * dout).sum()

    matches_differences(dx, loss, x)
    if memory is not None:
        matches_differences(dmemory, loss, memory)
    gradients = dict(layer.named_gradients())
    for parameter, value in layer.named_parameters():
        matches_differences(gradients[parameter], loss, value)


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_large_enough_for_blocks(room, array):
    """In eval mode without weights NumPy goes block by block, torch through its kernel."""
    layer, module, *_ = make("grouped, mask and bias for each head")
    layer = layer if room is qn else module
    rng = np.random.default_rng(1)
    x = array(rng.standard_normal((B, 257, D)))
    mask, bias = array(some_mask((B, 6, 257, 257))), array(rng.standard_normal((6, 1, 257)))
    for given in ({}, {"mask": mask}, {"mask": mask, "bias": bias}):
        expected, weights = layer.train()(x, causal=True, need_weights=True, **given)
        out, nothing = layer.eval()(x, causal=True, **given)
        close(detached(out), detached(expected))
        assert nothing is None
        assert tuple(weights.shape) == (B, 6, 257, 257)


def test_weights_that_are_asked_for_are_those_of_each_head():
    layer, module, x, memory, _, _ = make("cross")
    for room, call, to in ((qn, layer, np.asarray), (qt, module, torch.tensor)):
        x_r, memory_r = to(x), to(memory)
        _, weights = call(x_r, memory_r, need_weights=True)
        q, k = (room.split_heads(w(a), 3) for w, a in ((call.w_q, x_r), (call.w_k, memory_r)))
        close(detached(weights), detached(room.softmax(q @ k.mT / 2)))


# What keys and values are made of: heads and widths, options, widths of memory and value.
SEPARATE = {
    "as wide as x": ((3,), {}, (D, D)),
    "own widths": ((2, 5, 7), {"kdim": 5, "vdim": 9}, (5, 9)),
    "wider keys, grouped": ((6, 3), {"kdim": 13, "n_kv_heads": 2}, (13, D)),
    "wider values, no bias": ((3, None, None, False), {"vdim": 13}, (D, 13)),
}


def separate(name, seed=0):
    """Both rooms' layers with the same random parameters; x, memory, value and dout."""
    sizes, options, (kdim, vdim) = SEPARATE[name]
    rng = np.random.default_rng(seed)
    layer = qn.MultiHeadAttention(D, *sizes, **options, rng=rng, dtype=np.float64)
    for _, value in layer.named_parameters():
        value[...] = rng.standard_normal(value.shape) / 2
    module = qt.MultiHeadAttention(D, *sizes, **options, dtype=torch.float64)
    copy_parameters(layer, module)
    x, dout = rng.standard_normal((2, B, T, D))
    return layer, module, x, *(rng.standard_normal((B, S, d)) for d in (kdim, vdim)), dout


@pytest.mark.parametrize("name", SEPARATE)
def test_keys_and_values_of_two_sources_go_back_as_autograd_and_as_differences_say(name):
    layer, module, x, memory, value, dout = separate(name)
    mask = np.random.default_rng(5).random((B, 1, T, S)) > 0.3
    given = [torch.tensor(a, requires_grad=True) for a in (x, memory, value)]
    expected, _ = module(*given, mask=torch.tensor(mask))
    expected.backward(torch.tensor(dout))
    out, _ = layer(x, memory, value, mask=mask)
    close(out, expected.detach())
    gradients = layer.backward(dout)
    same_gradients(layer, module)
    layer.eval()
    loss = lambda: (layer(x, memory, value, mask=mask)[0] * dout).sum()  # noqa: E731 (as told)
    for gradient, tensor_, array in zip(gradients, given, (x, memory, value), strict=True):
        close(gradient, tensor_.grad)
        matches_differences(gradient, loss, array)


@pytest.mark.parametrize(("kdim", "vdim"), [(None, None), (5, 9), (13, None)])
def test_keys_and_values_of_two_sources_are_torchs(kdim, vdim):
    theirs = torch.nn.MultiheadAttention(
        D, 3, kdim=kdim, vdim=vdim, batch_first=True, dtype=torch.float64
    )
    rng = np.random.default_rng(6)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(torch.tensor(rng.standard_normal(parameter.shape) / 2))
    weights = (
        (theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight)
        if theirs.in_proj_weight is None
        else theirs.in_proj_weight.chunk(3)
    )
    state = {"w_o.weight": theirs.out_proj.weight.T, "w_o.bias": theirs.out_proj.bias}
    for letter, weight, bias in zip("qkv", weights, theirs.in_proj_bias.chunk(3), strict=True):
        state |= {f"w_{letter}.weight": weight.T, f"w_{letter}.bias": bias}
    layer = qn.MultiHeadAttention(D, 3, kdim=kdim, vdim=vdim, dtype=np.float64)
    layer.load_state_dict({name: value.detach().numpy() for name, value in state.items()})
    module = qt.MultiHeadAttention(D, 3, kdim=kdim, vdim=vdim, dtype=torch.float64)
    copy_parameters(layer, module)
    x, memory, value = (
        rng.standard_normal((B, n, d)) for n, d in ((T, D), (S, kdim or D), (S, vdim or D))
    )
    expected, _ = theirs(*(torch.tensor(a) for a in (x, memory, value)))
    close(layer(x, memory, value)[0], expected.detach())
    close(module(*map(torch.tensor, (x, memory, value)))[0].detach(), expected.detach())


@pytest.mark.parametrize(
    ("options", "call", "words"),
    [
        ({"kdim": 0}, None, "kdim must be a whole number of at least 1, got 0"),
        ({"vdim": 5, "rotary": True}, None, "kdim and vdim must be d_model = 12, got 12 and 5: "
         "with rotary=True x attends to itself"),
        ({"kdim": 5}, (None, None), "memory must be (B, S, 5), got None: x is d_model = 12 wide, "
         "and kdim is another"),
        ({}, (None, (B, S, D)), "value must be None without a memory: a value stands beside a "
         "memory: pass x as the memory too"),
        ({"kdim": 5}, ((B, S, D), None), "memory must be (B, S, kdim) = (2, S, 5), got (2, 7, 12): "
         "check the width of the layer before"),
        ({"kdim": 5}, ((B, S, 5), None), "value must be (B, S, vdim) = (2, 7, 12), got None: the "
         "memory is kdim = 5 wide, and vdim is another"),
        ({}, ((B, S, D), (B, S + 1, D)), "value must be (B, S, d_model) = (2, 7, 12), got "
         "(2, 8, 12): one value for each token of the memory"),
        ({"vdim": 5}, ((B, S, D), (B, S, D)), "value must be (B, S, vdim) = (2, 7, 5), got "
         "(2, 7, 12): check the width of the layer before"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_sources_that_do_not_fit_are_refused(room, array, options, call, words):
    x = array(np.ones((B, T, D), np.float32))
    given = [None if s is None else array(np.ones(s, np.float32)) for s in call or ()]

    def attend():
        return room.MultiHeadAttention(D, 3, **options)(x, *given)

    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the whole text is compared below)
        attend()
    assert str(refusal.value) == f"MultiHeadAttention: {words}"


def test_calls_go_back_in_the_opposite_order():
    layer, _, x, memory, dout, _ = make("cross")
    layer(x, memory)
    layer(memory, x)
    expected = layer.backward(memory), layer.backward(dout)
    for (a, b, _), (asked, answered), d in zip(
        expected, ((memory, x), (x, memory)), (memory, dout), strict=True
    ):
        layer(asked, answered)
        dx, dmemory, _ = layer.backward(d)
        close(dx, a)
        close(dmemory, b)


def test_read_only_and_strided_inputs_are_taken_and_left_alone():
    layer, _, x, memory, dout, _ = make("grouped")
    layer(x, memory)
    expected = layer.backward(dout)
    others = [np.asarray(a.T.copy().T) for a in (x, memory, dout)]
    for a in others:
        assert not a.flags.c_contiguous
        a.flags.writeable = False
    layer(others[0], others[1])
    for a, b in zip(layer.backward(others[2])[:2], expected[:2], strict=True):
        close(a, b)


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_heads_of_one_group_share_their_keys(room, array):
    """Grouped heads are full heads whose key and value projections are repeated."""
    layer, module, x, memory, _, _ = make("grouped")
    grouped = layer if room is qn else module
    full = room.MultiHeadAttention(D, 6, 3, dtype=array(x).dtype)
    state = {name: np.array(value.tolist()) for name, value in grouped.state_dict().items()}
    axis = -1 if room is qn else 0
    for name in ("w_k.weight", "w_v.weight", "w_k.bias", "w_v.bias"):
        parts = np.split(state[name], 2, axis)
        state[name] = np.concatenate([part for part in parts for _ in range(3)], axis)
    full.load_state_dict({name: array(value) for name, value in state.items()})
    close(detached(grouped(array(x), array(memory))[0]), detached(full(array(x), array(memory))[0]))


# ---------------------------------------------------------------------------- against torch's own


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("cross", [True, False])
def test_agrees_with_torchs_multi_head_attention(cross, bias):
    """Its mask is the other way round: True = blocked; and it has no zeros for empty rows."""
    rng = np.random.default_rng(2)
    theirs = torch.nn.MultiheadAttention(D, 3, bias=bias, batch_first=True, dtype=torch.float64)
    layer = qn.MultiHeadAttention(D, 3, bias=bias, dtype=np.float64)
    state = layer.state_dict()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(3))
    for i, name in enumerate("qkv"):
        state[f"w_{name}.weight"] = theirs.in_proj_weight[i * D :][:D].detach().numpy().T
        if bias:
            state[f"w_{name}.bias"] = theirs.in_proj_bias[i * D :][:D].detach().numpy()
    state["w_o.weight"] = theirs.out_proj.weight.detach().numpy().T
    if bias:
        state["w_o.bias"] = theirs.out_proj.bias.detach().numpy()
    layer.load_state_dict(state)
    module = qt.MultiHeadAttention(D, 3, bias=bias, dtype=torch.float64)
    copy_parameters(layer, module)

    x, memory = rng.standard_normal((B, T, D)), rng.standard_normal((B, S, D))
    words = rng.random((B, S if cross else T)) > 0.4
    words[:, 0] = True
    over = torch.tensor(memory if cross else x)
    blocked = ~qt.causal_mask(T)[0, 0] if not cross else None
    expected, expected_weights = theirs(
        torch.tensor(x),
        over,
        over,
        key_padding_mask=~torch.tensor(words),
        attn_mask=blocked,
        average_attn_weights=False,
    )
    mask = words[:, None, None, :]
    for call, to in ((layer, np.asarray), (module, torch.tensor)):
        out, weights = call(
            to(x),
            to(memory) if cross else None,
            mask=to(mask),
            causal=not cross,
            need_weights=True,
        )
        close(detached(out), expected.detach())
        close(detached(weights), expected_weights.detach())


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
def test_grouped_heads_agree_with_torchs(n_kv_heads):
    rng = np.random.default_rng(3)
    layer = qn.MultiHeadAttention(D, 6, 4, 5, n_kv_heads=n_kv_heads, dtype=np.float64)
    module = qt.MultiHeadAttention(D, 6, 4, 5, n_kv_heads=n_kv_heads, dtype=torch.float64)
    copy_parameters(layer, module)
    x = rng.standard_normal((B, T, D))
    heads = (
        torch.tensor(qn.split_heads(w(x), n))
        for w, n in ((layer.w_q, 6), (layer.w_k, n_kv_heads), (layer.w_v, n_kv_heads))
    )
    mixed = F.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
    expected = layer.w_o(qn.merge_heads(mixed.numpy()))
    close(layer(x, causal=True)[0], expected)
    close(module(torch.tensor(x), causal=True)[0].detach(), expected)


def test_torch_takes_the_fused_kernel_when_no_weights_are_needed(monkeypatch):
    calls = []
    kernel = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **k: calls.append(k) or kernel(*a, **k)
    )
    _, module, x, *_ = make("self")
    module(torch.tensor(x), need_weights=True)
    assert not calls
    module(torch.tensor(x), causal=True)
    assert calls[-1]["is_causal"]


# -------------------------------------------------------------------- floats, compilers, devices


@pytest.mark.parametrize("options", [{}, {"n_kv_heads": 1, "rotary": True}], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_stay_as_they_are(dtype, options):
    rng = np.random.default_rng(4)
    layer = qn.MultiHeadAttention(D, 3, **options, rng=rng, dtype=dtype)
    module = qt.MultiHeadAttention(D, 3, **options, dtype=getattr(torch, dtype))
    copy_parameters(layer, module)
    x, dout, bias = (
        rng.standard_normal(s).astype(dtype) for s in ((B, T, D), (B, T, D), (3, T, T))
    )
    given = {"mask": some_mask((B, 1, T, T)), "bias": bias, "need_weights": True}
    results = layer(x, **given)
    module_results = module(torch.tensor(x), **tensors(given))
    for ours, theirs in zip(results, module_results, strict=True):
        assert str(theirs.dtype) == f"torch.{ours.dtype}" == f"torch.{dtype}"
        close(ours, theirs.detach(), dtype)
    assert layer.backward(dout)[0].dtype == dtype
    assert {str(g.dtype) for _, g in layer.named_gradients()} == {dtype}


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("rotary", [True, False])
def test_autocast(rotary, need_weights):
    rng = torch.Generator().manual_seed(5)
    module = qt.MultiHeadAttention(D, 3, n_kv_heads=1, rotary=rotary, rng=rng).eval()
    x = torch.randn(B, T, D, generator=rng, requires_grad=True)
    bias = torch.randn(3, T, T, generator=rng)
    given = {"bias": bias, "causal": True, "need_weights": need_weights}
    expected, _ = module(x, **given)
    with torch.autocast("cpu", torch.bfloat16):
        out, _ = module(x, **given)
        cache = qt.KeyValueCache()
        cached = [
            module(x[:, t : t + 1], causal=True, bias=bias[:, t : t + 1, : t + 1], cache=cache)[0]
            for t in range(T)
        ]
        if not rotary:
            module(x, torch.randn(B, S, D, generator=rng).bfloat16())  # what a layer before gives
    assert out.dtype == torch.bfloat16
    # Five roundings stand in a row here: of x, of the weights, of q and k, of the mixed, of out.
    np.testing.assert_allclose(
        out.detach().float(), expected.detach(), atol=2 * TOLERANCE["bfloat16"]
    )
    np.testing.assert_allclose(
        torch.cat(cached, 1).detach().float(), expected.detach(), atol=2 * TOLERANCE["bfloat16"]
    )
    out.sum().backward()
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("name", ["cross", "grouped", "rotary, grouped", "empty rows"])
def test_compiles_whole(name):
    torch.compiler.reset()
    _, module, x, memory, dout, given = make(name)
    x_t = torch.tensor(x, requires_grad=True)
    m_t = None if memory is None else torch.tensor(memory)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    for need_weights in (True, False):
        expected, _ = module(x_t, m_t, need_weights=need_weights, **tensors(given))
        out, _ = compiled(x_t, m_t, need_weights=need_weights, **tensors(given))
        close(out.detach(), expected.detach())
        gradient = torch.autograd.grad(out, x_t, torch.tensor(dout))[0]
        close(gradient, torch.autograd.grad(expected, x_t, torch.tensor(dout))[0])


def grown(device):
    """Five tokens, then one more, where tensors have shapes and no numbers."""
    module = qt.MultiHeadAttention(D, 6, 4, 5, n_kv_heads=2, rotary=True, device=device).eval()
    cache = qt.KeyValueCache()
    for t in (T, 1):
        x = torch.empty(B, t, D, device=device)
        out, weights = module(x, causal=True, need_weights=True, cache=cache)
        assert out.shape == (B, t, D)
        assert weights.shape == (B, 6, t, cache.length)
        assert out.device.type == device


def test_shapes_come_without_numbers():
    with FakeTensorMode():
        grown("cpu")


def test_shapes_come_on_the_meta_device():
    grown("meta")


# -------------------------------------------------------------------------------------- refusals

x32 = np.ones((2, 5, 12), np.float32)


def layer_of(r, *args, **options):
    return r.MultiHeadAttention(*(args or (12, 3)), **options)


def call_of(r, make, *arrays, options=(), sizes=(), **given):
    given = {n: make(a) if isinstance(a, np.ndarray) else a for n, a in given.items()}
    return layer_of(r, *sizes, **dict(options))(*map(make, arrays), **given)


REFUSED = {
    "MultiHeadAttention: d_model must be a multiple of n_heads = 5, got 12: "
    "take another number of heads, or choose d_k": lambda r, m: layer_of(r, 12, 5),
    "MultiHeadAttention: d_k must be a whole number of at least 1, got 0": lambda r, m: layer_of(
        r, 12, 3, 0
    ),
    "MultiHeadAttention: d_v must be a whole number of at least 1, got 0": lambda r, m: layer_of(
        r, 12, 3, 4, 0
    ),
    "MultiHeadAttention: n_heads must be a whole number of at least 1, got 0": lambda r, m: (
        layer_of(r, 12, 0)
    ),
    "MultiHeadAttention: d_model must be a whole number of at least 1, got 12.0": lambda r, m: (
        layer_of(r, 12.0, 3)
    ),
    "MultiHeadAttention: n_kv_heads must divide n_heads = 4, got 3: "
    "each head of keys serves as many heads of queries": lambda r, m: layer_of(
        r, 12, 4, n_kv_heads=3
    ),
    "MultiHeadAttention: n_kv_heads must be a whole number of at least 1, got 0": lambda r, m: (
        layer_of(r, 12, 4, n_kv_heads=0)
    ),
    "MultiHeadAttention: d_k must be even with rotary=True, got 3: "
    "rotary turns pairs of numbers": lambda r, m: layer_of(r, 12, 4, rotary=True),
    "MultiHeadAttention: x must be (B, T, d_model) = (B, T, 12), got (5, 12): "
    "one sentence is x[None]": lambda r, m: call_of(r, m, x32[0]),
    "MultiHeadAttention: x must be (B, T, d_model) = (B, T, 12), got (2, 5, 11): "
    "check the width of the layer before": lambda r, m: call_of(r, m, x32[..., 1:]),
    "MultiHeadAttention: x must be float32 as w_q.weight is, got float64: "
    "convert it": lambda r, m: call_of(r, m, np.float64(x32)),
    "MultiHeadAttention: x must be a float array, got int64: convert it first": lambda r, m: (
        call_of(r, m, np.ones((2, 5, 12), int))
    ),
    "MultiHeadAttention: x must be a float array, got list: convert it first": lambda r, m: (
        layer_of(r)([[[1.0]]])
    ),
    "MultiHeadAttention: memory must be (B, S, d_model) = (2, S, 12), got (1, 5, 12): "
    "memory is one for each sentence of x": lambda r, m: call_of(r, m, x32, x32[:1]),
    "MultiHeadAttention: memory must be (B, S, d_model) = (2, S, 12), got (2, 5, 11): "
    "check the width of the layer before": lambda r, m: call_of(r, m, x32, x32[..., 1:]),
    "MultiHeadAttention: memory must be float32 as w_q.weight is, got float64: "
    "convert it": lambda r, m: call_of(r, m, x32, np.float64(x32)),
    "MultiHeadAttention: memory must be None with rotary=True: "
    "the positions of x say nothing about those of another text": lambda r, m: call_of(
        r, m, x32, x32, options={"rotary": True}
    ),
    "MultiHeadAttention: mask must be a bool array, got int64: "
    "True = may attend, so write mask == 1 where 1 means keep": lambda r, m: call_of(
        r, m, x32, mask=np.ones((5, 5), int)
    ),
    "MultiHeadAttention: mask must broadcast to (B, H, T, S) = (2, 3, 5, 5), got (2, 5): "
    "a padding mask is (B, 1, 1, S), a causal one (1, 1, T, S)": lambda r, m: call_of(
        r, m, x32, mask=np.ones((2, 5), bool)
    ),
    "MultiHeadAttention: mask must broadcast to (B, H, T, S) = (2, 6, 5, 5), got (2, 2, 5, 5): "
    "a padding mask is (B, 1, 1, S), a causal one (1, 1, T, S)": lambda r, m: call_of(
        r, m, x32, mask=np.ones((2, 2, 5, 5), bool), sizes=(12, 6), options={"n_kv_heads": 2}
    ),
    "MultiHeadAttention: bias must broadcast to (B, H, T, S) = (2, 3, 5, 5), got (1, 2, 3, 5, 5): "
    "drop the leading axes of bias": lambda r, m: call_of(
        r, m, x32, bias=np.ones((1, 2, 3, 5, 5), np.float32)
    ),
    "MultiHeadAttention: bias must be float32 as x is, got float64: convert it": lambda r, m: (
        call_of(r, m, x32, bias=np.ones((5, 5)))
    ),
    "MultiHeadAttention: T must be at most S = 3, got 5: "
    "the queries are the last T of the S positions": lambda r, m: call_of(
        r, m, x32, x32[:, :3], causal=True
    ),
    "MultiHeadAttention: cache must be a KeyValueCache, got dict": lambda r, m: call_of(
        r, m, x32, cache={}
    ),
    "MultiHeadAttention: cache must be None in training mode: "
    "a cache is for decoding, where nothing is learnt: call eval() first": lambda r, m: call_of(
        r, m, x32, cache=r.KeyValueCache()
    ),
    "split_heads: x must be (..., T, n_heads · d) with n_heads = 5, got (2, 5, 12): "
    "the heads stand side by side in the last axis": lambda r, m: r.split_heads(m(x32), 5),
    "split_heads: n_heads must be a whole number of at least 1, got 0": lambda r, m: r.split_heads(
        m(x32), 0
    ),
    "merge_heads: x must be (..., H, T, d), got (5, 12): "
    "pass what split_heads returned": lambda r, m: r.merge_heads(m(x32[0])),
}


@pytest.mark.parametrize(("room", "array"), ROOMS)
@pytest.mark.parametrize("words", REFUSED)
def test_refused_in_the_same_words(words, room, array):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the whole text is compared below)
        REFUSED[words](room, array)
    assert str(refusal.value) == words


def test_no_backward_in_eval_mode_or_for_another_shape():
    layer, _, x, memory, dout, _ = make("cross")
    with pytest.raises(ValueError, match=r"MultiHeadAttention\.backward: there is no call"):
        layer.backward(dout)
    layer.eval()(x, memory)
    with pytest.raises(ValueError, match="in training mode"):
        layer.backward(dout)
    layer.train()(x, memory)
    with pytest.raises(ValueError, match=r"backward: dout must be \(2, 5, 12\)"):
        layer.backward(dout[:, 1:])


def test_a_refused_call_leaves_nothing_behind():
    layer, _, x, memory, dout, _ = make("cross")
    with pytest.raises(ValueError, match="mask must"):
        layer(x, memory, mask=np.ones((3, 3), bool))
    for name in ("w_q", "w_k", "w_v", "w_o"):
        with pytest.raises(ValueError, match="no call"):
            getattr(layer, name).backward(dout)
