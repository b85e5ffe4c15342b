"""Both rooms on the node tests that the onnx package generates: nobody here wrote the numbers.

Attention, LayerNormalization, RMSNormalization, RotaryEmbedding and Gelu. Every generated case runs
or stands in NOT_OURS with its reason. The "_expanded" twin of a case holds the same numbers beside
another graph, so it would test nothing more. LayerNormalization's Mean and InvStdDev are not
compared: our functions return the result alone.
"""

import importlib
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import onnx
import pytest
import torch
from onnx.backend.test.case import node as generators
from onnx.reference import ReferenceEvaluator

import qkv.bridge
import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.rooms import ROOMS, close

OPERATORS = {
    "Attention": 93,
    "LayerNormalization": 19,
    "RMSNormalization": 19,
    "RotaryEmbedding": 8,
    "Gelu": 4,
}  # with the number of cases that onnx 1.23.2 generates

SOFTCAP = "softcap bends the scores by tanh before softmax: no paper of the book does, nor do we"
BFLOAT16 = "NumPy has no bfloat16"
NOT_OURS = {
    "test_attention_4d_softcap": SOFTCAP,
    "test_attention_4d_gqa_softcap": SOFTCAP,
    "test_attention_4d_diff_heads_sizes_softcap": SOFTCAP,
    "test_attention_4d_with_qk_matmul_softcap": SOFTCAP,
    "test_attention_4d_softcap_neginf_mask": SOFTCAP,
    "test_attention_4d_softcap_neginf_mask_poison": SOFTCAP,
    "test_attention_3d_softcap": SOFTCAP,
    "test_attention_3d_gqa_softcap": SOFTCAP,
    "test_attention_3d_diff_heads_sizes_softcap": SOFTCAP,
    "test_attention_3d_with_past_and_present_qk_matmul_softcap": SOFTCAP,
    "test_attention_local_window_gqa_rank4_mask": SOFTCAP,
}
NOT_IN_NUMPY = {
    "test_attention_4d_causal_bf16": BFLOAT16,
    "test_attention_4d_padded_kv_bf16": BFLOAT16,
    "test_attention_4d_causal_padded_kv_bf16": BFLOAT16,
    "test_attention_4d_attn_mask_causal_bf16": BFLOAT16,
    "test_attention_3d_causal_bf16": BFLOAT16,
}


@dataclass
class Case:
    """One node with its inputs, by their names in ONNX's schema, and the outputs it should give."""

    name: str
    node: Any
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    attributes: dict[str, Any]

    def only(self, *attributes):
        """The case asks for nothing beyond these, which the test knows to map."""
        assert set(self.attributes) <= set(attributes)


def generate():
    """All cases, caught where the generators hand them over."""
    cases = []

    def catch(node, inputs, outputs, name, **_):
        schema = onnx.defs.get_schema(node.op_type)
        given = [s.name for s, used in zip(schema.inputs, node.input, strict=False) if used]
        asked = [s.name for s, used in zip(schema.outputs, node.output, strict=False) if used]
        cases.append(
            Case(
                name,
                node,
                dict(zip(given, inputs, strict=True)),
                dict(zip(asked, outputs, strict=True)),
                {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute},
            )
        )

    before = np.random.get_state()  # noqa: NPY002 (the generators seed the global one)
    with patch.object(generators, "expect", catch):
        for operator in OPERATORS:
            importlib.import_module(f"{generators.__name__}.{operator.lower()}")
    np.random.set_state(before)  # noqa: NPY002
    return cases


CASES = generate()


def cases(operator):
    """What runs of an operator, in each room: (case, room, to)."""
    chosen = []
    for case in CASES:
        for room in (qn, qt):
            listed = case.name in NOT_OURS or (room is qn and case.name in NOT_IN_NUMPY)
            if case.node.op_type == operator and not listed:
                to = from_onnx if room is qn else copy_parameters
                name = f"{room.__name__.partition('.')[2]}-{case.name.removeprefix('test_')}"
                chosen.append(pytest.param(case, room, to, id=name))
    return pytest.mark.parametrize(("case", "room", "to"), chosen)


def from_onnx(x):
    return x


def copy_parameters(x):
    if x.dtype.name == "bfloat16":  # a dtype of onnx's own, which torch cannot read
        return torch.tensor(x.astype(np.float32)).bfloat16()
    return torch.tensor(x)


def same(ours, expected):
    """Equal as far as the dtype that the case is written in goes."""
    expected, dtype = np.asarray(expected, np.float64), expected.dtype.name
    assert str(ours.dtype).removeprefix("torch.") == dtype
    close(ours.float() if dtype == "bfloat16" else ours, expected, dtype)


def test_every_case_runs_or_is_listed():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
    found = {op: sum(case.node.op_type == op for case in CASES) for op in OPERATORS}
    assert found == OPERATORS
    assert set(NOT_OURS) <= set(names)
    assert set(NOT_IN_NUMPY) <= set(names) - set(NOT_OURS)
    for case in CASES:
        reasons = {SOFTCAP: "softcap" in case.attributes}
        reasons[BFLOAT16] = any(x.dtype.name == "bfloat16" for x in case.inputs.values())
        for listed in (NOT_OURS, NOT_IN_NUMPY):
            assert case.name not in listed or reasons[listed[case.name]]


# -------------------------------------------------------------------------------------- attention


def masks(case, T, S):
    """What ONNX's mask, causality, windows and lengths come to: (mask, bias, causal) of ours.

    A boolean mask is True where a query may attend in ONNX too; a float one is added, so it is our
    bias. Either may be short, and then hides the last keys. ONNX's queries begin where the past
    ends, or end where nonpad_kv_seqlen does, or begin at 0; ours are always the last T of S. So
    `causal` says the same only where these meet, and a mask says it elsewhere.
    """
    attributes = case.attributes
    mask, bias, causal = None, case.inputs.get("attn_mask"), False
    lengths = case.inputs.get("nonpad_kv_seqlen")
    if bias is not None:
        hidden = False if bias.dtype == bool else -np.inf
        short = [(0, 0)] * (bias.ndim - 1) + [(0, S - bias.shape[-1])]
        bias = np.pad(bias, short, constant_values=hidden)  # (..., S)
        if bias.dtype == bool:
            mask, bias = bias, None
    start = np.array(0)
    if "past_key" in case.inputs:
        start = np.array(case.inputs["past_key"].shape[2])
    elif lengths is not None:
        start = (lengths - T)[:, None, None, None]  # (B, 1, 1, 1)
    distance = start + np.arange(T)[:, None] - np.arange(S)  # (..., T, S) from query back to key
    rules = []
    if attributes.get("is_causal"):
        causal = bool((start + T == S).all())
        rules += [] if causal else [distance >= 0]
    if attributes.get("left_window_size", -1) >= 0:
        rules.append(distance <= attributes["left_window_size"])
    if attributes.get("right_window_size", -1) >= 0:
        rules.append(-distance <= attributes["right_window_size"])
    if lengths is not None:
        rules.append(np.arange(S) < lengths[:, None, None, None])  # (B, 1, 1, S)
    for rule in rules:
        mask = rule if mask is None else mask & rule
    return mask, bias, causal


def heads(case, room, to):
    """q, k and v as (B, heads, T, d); keys and values of the past, kept in our cache, come first.

    softmax_precision asks how exactly to compute, not for another result, so there is nothing to
    map: the dtype's tolerance decides.
    """
    case.only(
        "q_num_heads",
        "kv_num_heads",
        "scale",
        "is_causal",
        "qk_matmul_output_mode",
        "left_window_size",
        "right_window_size",
        "softmax_precision",
    )
    q, k, v = (to(case.inputs[name]) for name in "QKV")
    if q.ndim == 3:
        q = room.split_heads(q, case.attributes["q_num_heads"])
        k, v = (room.split_heads(x, case.attributes["kv_num_heads"]) for x in (k, v))
    if "past_key" in case.inputs:
        cache = room.KeyValueCache()
        cache.append(to(case.inputs["past_key"]), to(case.inputs["past_value"]))
        k, v = cache.append(k, v)
    return q, k, v


@cases("Attention")
def test_attention_is_onnxs(case, room, to):
    q, k, v = heads(case, room, to)
    for name, ours in (("present_key", k), ("present_value", v)):
        if name in case.outputs:
            same(ours, case.outputs[name])
    mask, bias, causal = masks(case, q.shape[2], k.shape[2])
    shared = np.arange(q.shape[1]) // (q.shape[1] // k.shape[1])  # (H,) whose keys a head takes
    options = {
        "mask": None if mask is None else to(mask),
        "bias": None if bias is None else to(bias),
        "scale": case.attributes.get("scale"),
        "causal": causal,
    }
    attend = room.scaled_dot_product_attention
    out, weights = attend(q, k[:, shared], v[:, shared], **options)
    fused, _ = attend(q, k[:, shared], v[:, shared], **options, need_weights=False)
    for ours in (out, fused):
        same(room.merge_heads(ours) if case.inputs["Q"].ndim == 3 else ours, case.outputs["Y"])
    expected = case.outputs.get("qk_matmul_output")
    if expected is None:
        return
    mode = case.attributes.get("qk_matmul_output_mode", 0)
    if mode != 3:  # scores with the bias (2) or before it (0), which we do not return
        assert mode in (0, 2)
        assert mask is None or mode == 2
        scores = expected + bias if mode == 0 and bias is not None else expected
        expected = qn.softmax(scores)
    same(weights, expected)


GROUPED = [
    case
    for case in CASES
    if "gqa" in case.name or "3d_local_window" in case.name
    if case.name not in NOT_OURS and "fp16" not in case.name
]


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("case", GROUPED, ids=lambda case: case.name)
def test_heads_share_keys_in_onnxs_order(case, room, to):
    """MultiHeadAttention itself, with projections that pick the queries, keys and values out."""
    q, k, v = heads(case, qn, from_onnx)
    (_, H, T, d_k), (_, n_kv, S, d_v) = q.shape, v.shape
    assert n_kv < H
    q, k, v = (qn.merge_heads(x) for x in (q, k, v))
    ends = n_kv * (d_k + d_v)
    d_model = max(H * d_k, H * d_v, ends)
    layer = qn.MultiHeadAttention(d_model, H, d_k, d_v, False, n_kv_heads=n_kv)
    scale = case.attributes.get("scale", d_k**-0.5) * d_k**0.5
    layer.load_state_dict(
        {
            "w_q.weight": scale * np.eye(d_model, H * d_k),
            "w_k.weight": np.eye(d_model, n_kv * d_k),
            "w_v.weight": np.eye(d_model, n_kv * d_v, -n_kv * d_k),
            "w_o.weight": np.eye(H * d_v, d_model),
        }
    )
    if room is qt:
        module = qt.MultiHeadAttention(d_model, H, d_k, d_v, False, n_kv_heads=n_kv)
        qkv.bridge.copy_parameters(layer, module)
        layer = module
    x, memory = wider(q, d_model), wider(np.concatenate([k, v], -1), d_model)
    mask, bias, causal = masks(case, T, S)
    out, _ = layer.eval()(
        to(x),
        to(memory),
        mask=None if mask is None else to(mask),
        bias=None if bias is None else to(bias),
        causal=causal,
    )
    expected = case.outputs["Y"]
    expected = expected if expected.ndim == 3 else qn.merge_heads(expected)
    close(out.detach() if room is qt else out, wider(expected, d_model), "float32")


def wider(x, d_model):
    """Zeros beside what there is."""
    return np.pad(x, [(0, 0), (0, 0), (0, d_model - x.shape[-1])])


# --------------------------------------------------------------------- norms, positions, activation


@cases("LayerNormalization")
def test_layer_norm_is_onnxs(case, room, to):
    case.only("axis", "epsilon")
    x, weight, bias = _as_one_axis(case)
    out = room.layer_norm(to(x), to(weight), to(bias), eps=case.attributes.get("epsilon", 1e-5))
    same(out.reshape(case.inputs["X"].shape), case.outputs["Y"])


@cases("RMSNormalization")
def test_rms_norm_is_onnxs(case, room, to):
    case.only("axis", "epsilon")
    x, weight = _as_one_axis(case)
    out = room.rms_norm(to(x), to(weight), eps=case.attributes.get("epsilon", 1e-5))
    same(out.reshape(case.inputs["X"].shape), case.outputs["Y"])


def _as_one_axis(case):
    """ONNX norms over all axes from `axis` on; laid end to end they are our one."""
    x, *others = case.inputs.values()
    lead = x.shape[: case.attributes.get("axis", -1) % x.ndim]
    return [x.reshape(*lead, -1), *(other.reshape(-1) for other in others)]


@cases("RotaryEmbedding")
def test_rotary_is_onnxs(case, room, to):
    """The generated cosines and sines are random numbers, of no angle; ours come from positions.

    So the angles' own take their place, and what to expect comes from the evaluator that has made
    the generated result, as is checked first.
    """
    case.only("interleaved", "rotary_embedding_dim", "num_heads")
    onnxs = ReferenceEvaluator(case.node)
    (expected,) = onnxs.run(None, dict(zip(onnxs.input_names, case.inputs.values(), strict=True)))
    np.testing.assert_array_equal(expected, case.outputs["Y"])

    x, cos, _, *ids = case.inputs.values()
    d = 2 * cos.shape[-1]
    positions = np.arange(50)  # rows of the caches, among which position_ids choose
    if not ids:
        positions = np.array([[3, 1, 4], [1, 5, 9]])  # each token brings its own row
        assert cos.shape[:2] == positions.shape
    angles = positions[..., None] / 10000.0 ** (np.arange(0, d, 2) / d)  # (..., d/2)
    own = [f(angles).astype(np.float32) for f in (np.cos, np.sin)]
    (expected,) = onnxs.run(None, dict(zip(onnxs.input_names, [x, *own, *ids], strict=True)))

    n_heads = case.attributes.get("num_heads")
    vectors = to(x) if n_heads is None else room.split_heads(to(x), n_heads)  # (B, H, T, d_k)
    chosen = to(ids[0] if ids else positions)[:, None]  # (B, 1, T)
    layout = "interleaved" if case.attributes.get("interleaved") else "halves"
    turned = room.rotary(vectors[..., :d], chosen, layout=layout)
    out = np.concatenate([turned, vectors[..., d:]], -1)  # the others stay as they are
    same(out if n_heads is None else qn.merge_heads(out), expected)


@cases("Gelu")
def test_gelu_is_onnxs(case, room, to):
    case.only("approximate")
    approximate = case.attributes.get("approximate", b"none").decode()
    same(room.gelu(to(case.inputs["X"]), approximate=approximate), case.outputs["Y"])
