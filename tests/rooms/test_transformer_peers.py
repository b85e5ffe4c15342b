"""Layers and stacks against torch's own; autocast, compilation, devices, other floats."""

import copy

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import copy_parameters, same_gradients
from tests.helpers.models import CASES, MODELS, build, config_of, detached, tensors, texts, twins
from tests.helpers.rooms import ROOMS, close
from tests.helpers.tolerances import TOLERANCE

D, HEADS, D_FF, B, T, S = 12, 3, 7, 2, 5, 6
DOUBLE = {"dtype": torch.float64}


# ---------------------------------------------------------------------------- against torch's own


def attention_state(theirs, name):
    """Torch keeps W_Q, W_K and W_V in one matrix, each d_out × d_in."""
    state = {}
    for i, letter in enumerate("qkv"):
        state[f"{name}.w_{letter}.weight"] = theirs.in_proj_weight[i * D :][:D].T
        state[f"{name}.w_{letter}.bias"] = theirs.in_proj_bias[i * D :][:D]
    state[f"{name}.w_o.weight"] = theirs.out_proj.weight.T
    state[f"{name}.w_o.bias"] = theirs.out_proj.bias
    return state


def layer_state(theirs):
    """The parameters of one of torch's layers under our names, in the NumPy room's layout."""
    state = attention_state(theirs.self_attn, "self_attention")
    parts = ["self_attention", "feed_forward"]
    if hasattr(theirs, "multihead_attn"):
        state |= attention_state(theirs.multihead_attn, "cross_attention")
        parts.insert(1, "cross_attention")
    for n, part in enumerate(parts, start=1):
        norm = getattr(theirs, f"norm{n}")
        state[f"{part}_add_norm.norm.weight"] = norm.weight
        state[f"{part}_add_norm.norm.bias"] = norm.bias
    for n in (1, 2):
        linear = getattr(theirs, f"linear{n}")
        state[f"feed_forward.w_{n}.weight"] = linear.weight.T
        state[f"feed_forward.w_{n}.bias"] = linear.bias
    return state


def stack_state(theirs):
    state = {}
    for i, layer in enumerate(theirs.layers):
        state |= {f"layers.{i}.{name}": value for name, value in layer_state(layer).items()}
    if theirs.norm is not None:
        state |= {"norm.weight": theirs.norm.weight, "norm.bias": theirs.norm.bias}
    return state


def shaken(module):
    """Other parameters than those of the beginning, where norms do nothing."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(generator=generator).mul_(0.5)
    return module


def options_of(activation, norm_first):
    """What a layer takes, in torch's words and in ours."""
    theirs = {"dropout": 0.0, "activation": activation, "norm_first": norm_first}
    ours = {"activation": activation, "norm_first": norm_first}
    return {**theirs, "batch_first": True, **DOUBLE}, ours


def ours_of(kind, state, last_norm, n_layers, options):
    """Our stack with these parameters, in both rooms."""
    pair = []
    for room, own in ((qn, {"dtype": np.float64}), (qt, DOUBLE)):
        make = getattr(room, f"{kind}Layer")
        layers = [make(D, HEADS, D_FF, **options, **own) for _ in range(n_layers)]
        norm = room.LayerNorm(D, **own) if last_norm else None
        pair.append(getattr(room, kind)(layers, norm))
    pair[0].load_state_dict({name: value.detach().numpy() for name, value in state.items()})
    copy_parameters(*pair)
    return pair


@pytest.mark.parametrize("last_norm", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
def test_the_encoder_is_torchs(norm_first, activation, last_norm):
    their_options, our_options = options_of(activation, norm_first)
    layer = torch.nn.TransformerEncoderLayer(D, HEADS, D_FF, **their_options)
    norm = torch.nn.LayerNorm(D, **DOUBLE) if last_norm else None
    theirs = torch.nn.TransformerEncoder(layer, 2, norm, enable_nested_tensor=False)
    theirs = shaken(theirs)
    ours, module = ours_of("Encoder", stack_state(theirs), last_norm, 2, our_options)
    rng = np.random.default_rng(1)
    x, dout = rng.standard_normal((2, B, T, D))
    words = np.arange(T) < np.array([[T], [3]])
    x_t = torch.tensor(x, requires_grad=True)
    expected = theirs(x_t, src_key_padding_mask=~torch.tensor(words))
    expected.backward(torch.tensor(dout))
    mask = words[:, None, None]
    close(ours(x, mask=mask), expected.detach())
    close(ours.backward(dout), x_t.grad)
    close(module(torch.tensor(x), mask=torch.tensor(mask)).detach(), expected.detach())
    found = {name: p.grad for name, p in theirs.named_parameters()}
    for i in range(2):
        gradients = dict(ours.layers[i].named_gradients())
        prefix = f"layers.{i}"
        close(gradients["feed_forward.w_1.weight"].T, found[f"{prefix}.linear1.weight"])
        close(
            gradients["self_attention.w_o.weight"].T, found[f"{prefix}.self_attn.out_proj.weight"]
        )
        close(gradients["self_attention_add_norm.norm.weight"], found[f"{prefix}.norm1.weight"])


@pytest.mark.parametrize("last_norm", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
def test_the_decoder_is_torchs(norm_first, activation, last_norm):
    their_options, our_options = options_of(activation, norm_first)
    layer = torch.nn.TransformerDecoderLayer(D, HEADS, D_FF, **their_options)
    norm = torch.nn.LayerNorm(D, **DOUBLE) if last_norm else None
    theirs = shaken(torch.nn.TransformerDecoder(layer, 2, norm))
    ours, module = ours_of("Decoder", stack_state(theirs), last_norm, 2, our_options)
    rng = np.random.default_rng(1)
    x, dout = rng.standard_normal((2, B, T, D))
    memory = rng.standard_normal((B, S, D))
    words = np.arange(S) < np.array([[S], [4]])
    x_t, m_t = (torch.tensor(a, requires_grad=True) for a in (x, memory))
    expected = theirs(
        x_t,
        m_t,
        tgt_mask=~qt.causal_mask(T)[0, 0],
        memory_key_padding_mask=~torch.tensor(words),
    )
    expected.backward(torch.tensor(dout))
    mask = words[:, None, None]
    close(ours(x, memory, memory_mask=mask), expected.detach())
    dx, dmemory = ours.backward(dout)
    close(dx, x_t.grad)
    close(dmemory, m_t.grad)
    given = {"memory_mask": torch.tensor(mask)}
    close(module(*tensors((x, memory)), **given).detach(), expected.detach())


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm_first", [False, True])
def test_both_stacks_together_are_torchs_transformer(norm_first):
    """It has a last norm even where each layer ends in one; ours does when asked to."""
    theirs = torch.nn.Transformer(
        D, HEADS, 2, 2, D_FF, 0.0, batch_first=True, norm_first=norm_first, **DOUBLE
    )
    theirs = shaken(theirs)
    sizes = {"d_model": D, "n_heads": HEADS, "d_ff": D_FF, "n_layers": 2, "final_norm": True}
    ours, module = twins("as in the paper", norm_first=norm_first, **sizes)
    state = ours.state_dict()
    for name, stack in (("encoder", theirs.encoder), ("decoder", theirs.decoder)):
        state |= {f"{name}.{n}": v.detach().numpy() for n, v in stack_state(stack).items()}
    ours.load_state_dict(state)
    copy_parameters(ours, module)
    source, target = texts(ours.config)
    table = torch.tensor(state["source_embedding.weight"])
    x, y = (
        table[ids] * D**0.5 + qt.sinusoidal_encoding(ids.shape[1], D, **DOUBLE)
        for ids in tensors((source, target))
    )
    padding = torch.tensor(source == 0)
    causal = theirs.generate_square_subsequent_mask(target.shape[1], **DOUBLE)
    out = theirs(
        x, y, tgt_mask=causal, src_key_padding_mask=padding, memory_key_padding_mask=padding
    )
    expected = (out @ table.T).detach()
    close(ours(source, target), expected)
    close(module(*tensors((source, target))).detach(), expected)


# -------------------------------------------------------------------- floats, compilers, devices


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", CASES)
def test_floats_stay_as_they_are(case, model):
    config = config_of(case, model)
    ours = build(qn, config, model, rng=np.random.default_rng(0), dtype=np.float32)
    theirs = build(qt, config, model, dtype=torch.float32)
    copy_parameters(ours, theirs)
    ids = texts(config, model)
    found = {}
    logits = ours(*ids, attention_maps=found)
    expected = theirs(*tensors(ids))
    assert logits.dtype == np.float32
    assert expected.dtype == torch.float32
    assert {a.dtype for a in found.values()} == {np.dtype(np.float32)}
    # Two layers of each stack, of a dozen roundings each.
    np.testing.assert_allclose(logits, expected.detach(), atol=10 * TOLERANCE["float32"])
    ours.backward(logits)
    assert {g.dtype for _, g in ours.named_gradients()} == {np.dtype(np.float32)}
    state = ours.eval().start_decoding(*ids[:-1])
    assert state(ids[-1]).dtype == np.float32


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", ["as in the paper", "as models are today", "falling scores"])
def test_autocast(case, model):
    theirs = build(qt, config_of(case, model), model, rng=torch.Generator().manual_seed(0))
    ids = tensors(texts(theirs.config, model))
    expected = theirs(*ids)
    with torch.autocast("cpu", torch.bfloat16):
        logits = theirs(*ids)
        state = theirs.eval().start_decoding(*ids[:-1])
        stepped = torch.cat([state.extend(ids[-1][:, t : t + 1]) for t in range(5)], 1)
    # bf16 has 8 bits, and its roundings add up over two layers of each stack.
    for found in (logits, stepped):
        error = (found.float() - expected).detach().abs() / expected.detach().std()
        assert error.mean() < TOLERANCE["bfloat16"]
        assert error.max() < 5 * TOLERANCE["bfloat16"]
    logits.float().logsumexp(-1).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in theirs.parameters() if p.grad is not None)


@pytest.mark.parametrize(
    ("case", "model", "seen"),
    [
        ("as in the paper", "encoder-decoder", True),
        ("falling scores", "encoder-decoder", False),
        ("as models are today", "decoder-only", False),
        ("learned positions", "decoder-only", True),
    ],
)
def test_models_compile_whole(case, model, seen):
    ours, theirs = twins(case, model, n_layers=1)
    ids = texts(ours.config, model)
    compiled = torch.compile(theirs, backend="aot_eager", fullgraph=True)
    found = {} if seen else None
    logits = compiled(*tensors(ids), attention_maps=found)
    close(logits.detach(), ours(*ids))
    dlogits = np.random.default_rng(2).standard_normal(logits.shape)
    logits.backward(torch.tensor(dlogits))
    ours.backward(dlogits)
    same_gradients(ours, theirs)
    if seen:
        expected = {}
        theirs(*tensors(ids), attention_maps=expected)
        assert list(found) == list(expected)


@pytest.mark.parametrize(
    ("case", "model"),
    [
        ("as in the paper", "encoder-decoder"),
        ("as models are today", "decoder-only"),
        ("falling scores", "decoder-only"),
    ],
)
def test_one_compilation_serves_all_lengths(case, model):
    ours, theirs = twins(case, model, n_layers=1)
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(theirs, backend=backend, fullgraph=True, dynamic=True)
    for lengths in ((7, 5, 2), (6, 4, 3), (9, 8, 5)):
        ids = texts(ours.config, model, **dict(zip("STB", lengths, strict=True)))
        close(compiled(*tensors(ids)).detach(), ours(*ids))
    assert len(graphs) == 1


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", CASES)
def test_shapes_come_without_numbers(case, model):
    config = config_of(case, model)
    shape = (2, 5, config.target_vocabulary)
    count = 2 if model == "encoder-decoder" else 1
    theirs = build(qt, config, model, device="meta")
    ids = [torch.ones(2, 5, dtype=torch.long, device="meta")] * count
    assert theirs(*ids).shape == shape
    assert {p.device.type for p in theirs.parameters()} == {"meta"}


# ------------------------------------------------------------------------- parameters and copies


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", CASES)
def test_states_have_the_same_names_and_go_back_and_forth(case, model):
    """A tied table stands once in the state, and stays tied when the state is loaded."""
    ours, theirs = twins(case, model)
    assert list(ours.state_dict()) == list(dict(ours.named_parameters()))
    assert set(theirs.state_dict()) == set(ours.state_dict())
    other = build(qt, ours.config, model, **DOUBLE)
    other.load_state_dict(theirs.state_dict())
    ids = tensors(texts(ours.config, model))
    close(other(*ids).detach(), theirs(*ids).detach())


def test_a_copy_of_a_tied_model_is_tied():
    _, theirs = twins("as in the paper")
    ids = tensors(texts(theirs.config))
    expected = theirs(*ids).detach()
    other = copy.deepcopy(theirs)
    with torch.no_grad():
        other.source_embedding.weight.mul_(2)
    assert other.output.table is other.target_embedding is other.source_embedding
    assert (other(*ids) - expected).abs().max() > 1
    close(theirs(*ids).detach(), expected)
    assert theirs.float()(*ids).dtype == torch.float32


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_same_generator_draws_the_same_model(room, to):
    config = config_of("as in the paper", dropout=0.3)
    ids = [to(a) for a in texts(config)]

    def drawn():
        rng = np.random.default_rng(5) if room is qn else torch.Generator().manual_seed(5)
        model = room.Transformer(config, rng=rng)
        return np.asarray(detached(model(*ids)))

    assert np.array_equal(drawn(), drawn())
