"""What counts as a number: the same wherever one is due, in both rooms."""

import math

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.config import TransformerConfig
from qkv.shapes.scalars import as_float, as_int, as_python
from tests.helpers.layers import copy_parameters
from tests.helpers.rooms import ROOMS, close, qkv

X = np.random.default_rng(0).standard_normal((2, 5, 6))
ONES = np.ones(6)
LOGITS, TARGETS = np.random.default_rng(1).standard_normal((3, 7)), np.array([1, 0, 6])


def attention(name, room, to, **options):
    return getattr(room, name)(*map(to, qkv(S=5)), **options)[0]


def stepped(room, to, lr=0.5, at=None, **options):
    """A weight after one step of AdamW."""
    layer = qn.Linear(3, 2, rng=np.random.default_rng(0), dtype=np.float64)
    moved = layer
    if room is qt:
        moved = qt.Linear(3, 2, dtype=torch.float64)
        copy_parameters(layer, moved)
        moved.weight.grad = torch.ones(2, 3, dtype=torch.float64)
    else:
        layer.grads["weight"][...] = 1
    room.AdamW(moved, lr, **options).step(at)
    return moved.weight.detach().T if room is qt else layer.params["weight"]


def searched(name, room, to, **options):
    row = np.log([[0.1, 0.2, 0.7]])
    options |= {"uniforms": to(np.full((1, 3), 0.6))} if name == "sample" else {}
    return getattr(room, name)(
        lambda ids: to(np.repeat(row, len(ids), 0)),
        to(np.array([[1]])),
        eos_id=None,
        max_new_tokens=3,
        **options,
    )[0]


# Where a number is due: a value in its range, and the call that takes it.
NUMBERS = {
    "scaled_dot_product_attention: scale": (
        0.5, lambda r, to, n: attention("scaled_dot_product_attention", r, to, scale=n)),
    "blockwise_attention: scale": (
        0.5, lambda r, to, n: attention("blockwise_attention", r, to, scale=n)),
    "linformer_attention: scale": (
        0.5, lambda r, to, n: r.linformer_attention(
            *map(to, qkv(S=5)), *map(to, (np.eye(5), np.eye(5))), scale=n)[0]),
    "performer_attention: scale": (
        0.5, lambda r, to, n: r.performer_attention(
            *map(to, qkv(S=5)), to(np.eye(7)), scale=n)),
    "layer_norm: eps": (0.5, lambda r, to, n: r.layer_norm(to(X), to(ONES), to(ONES), n)),
    "rms_norm: eps": (0.5, lambda r, to, n: r.rms_norm(to(X), to(ONES), n)),
    "LayerNorm: eps": (
        0.5, lambda r, to, n: r.LayerNorm(6, n, dtype=to(X).dtype)(to(X))),
    "RMSNorm: eps": (0.5, lambda r, to, n: r.RMSNorm(6, n, dtype=to(X).dtype)(to(X))),
    "dropout: p": (0.5, lambda r, to, n: r.dropout(to(X), to(X > 0), n)),
    "Dropout: p": (0.5, lambda r, to, n: r.Dropout(n).eval()(to(X))),
    "rotary: base": (50, lambda r, to, n: r.rotary(to(X), base=n)),
    "cross_entropy: label_smoothing": (
        0.5, lambda r, to, n: r.cross_entropy(to(LOGITS), to(TARGETS), label_smoothing=n)),
    "noam_schedule: factor": (0.5, lambda r, to, n: r.noam_schedule(3, 512, factor=n)),
    "linear_schedule: peak": (0.5, lambda r, to, n: r.linear_schedule(3, 9, 5, n)),
    "AdamW: lr": (0.5, lambda r, to, n: stepped(r, to, n)),
    "AdamW.step: lr": (0.5, lambda r, to, n: stepped(r, to, at=n)),
    "AdamW: betas[0]": (0.5, lambda r, to, n: stepped(r, to, betas=(n, 0.25))),
    "AdamW: betas[1]": (0.5, lambda r, to, n: stepped(r, to, betas=(0.25, n))),
    "AdamW: eps": (0.5, lambda r, to, n: stepped(r, to, eps=n)),
    "AdamW: weight_decay": (0.5, lambda r, to, n: stepped(r, to, weight_decay=n)),
    "length_normalizer: length_penalty": (
        0.5,
        lambda r, to, n: r.length_normalizer(3, length_penalty=n),
    ),
    "beam_search: length_penalty": (
        0.5,
        lambda r, to, n: searched("beam_search", r, to, length_penalty=n),
    ),
    "sample: temperature": (0.5, lambda r, to, n: searched("sample", r, to, temperature=n)),
    "sample: top_p": (0.5, lambda r, to, n: searched("sample", r, to, top_p=n)),
    "top_p_filtering: top_p": (
        0.5, lambda r, to, n: np.exp(np.asarray(r.top_p_filtering(to(LOGITS), n)))),
}  # fmt: skip
BACKWARD = {
    "scaled_dot_product_attention_backward: scale": (
        0.5, lambda n: qn.scaled_dot_product_attention_backward(
            qkv()[0] @ np.ones((7, 13)), *qkv(), scale=n)[0]),
    "blockwise_attention_backward: scale": (
        0.5, lambda n: qn.blockwise_attention_backward(
            qkv()[0] @ np.ones((7, 13)), *qkv(), scale=n)[0]),
    "layer_norm_backward: eps": (0.5, lambda n: qn.layer_norm_backward(X, X, ONES, n)[0]),
    "rms_norm_backward: eps": (0.5, lambda n: qn.rms_norm_backward(X, X, ONES, n)[0]),
    "dropout_backward: p": (0.5, lambda n: qn.dropout_backward(X, X > 0, n)),
    "rotary_backward: base": (50, lambda n: qn.rotary_backward(X, base=n)),
    "cross_entropy_backward: label_smoothing": (
        0.5, lambda n: qn.cross_entropy_backward(1.0, LOGITS, TARGETS, label_smoothing=n)),
    "cross_entropy_backward: dout": (
        0.5, lambda n: qn.cross_entropy_backward(n, LOGITS, TARGETS)),
}  # fmt: skip
WHOLE = {
    "noam_schedule: step": (4, lambda r, to, n: r.noam_schedule(n, 512)),
    "noam_schedule: d_model": (4, lambda r, to, n: r.noam_schedule(3, n)),
    "noam_schedule: warmup": (4, lambda r, to, n: r.noam_schedule(3, 512, n)),
    "linear_schedule: step": (4, lambda r, to, n: r.linear_schedule(n, 9, 5)),
    "linear_schedule: steps": (127, lambda r, to, n: r.linear_schedule(5, n, 3)),  # 128 is no int8
    "length_normalizer: length": (4, lambda r, to, n: r.length_normalizer(n)),
    "split_heads: n_heads": (3, lambda r, to, n: r.split_heads(to(X), n)),
    "sinusoidal_encoding: n": (4, lambda r, to, n: r.sinusoidal_encoding(n, 6)),
    "sinusoidal_encoding: d_model": (4, lambda r, to, n: r.sinusoidal_encoding(3, n)),
    "sinusoidal_encoding: start": (127, lambda r, to, n: r.sinusoidal_encoding(3, 6, start=n)),
    "alibi_slopes: n_heads": (6, lambda r, to, n: r.alibi_slopes(n)),
    "window_mask: window": (2, lambda r, to, n: r.window_mask(5, n)),
    "strided_mask: stride": (2, lambda r, to, n: r.strided_mask(5, n)),
    "blockwise_attention: block_size": (
        2, lambda r, to, n: attention("blockwise_attention", r, to, block_size=n)),
    "top_k_filtering: top_k": (
        2, lambda r, to, n: np.exp(np.asarray(r.top_k_filtering(to(LOGITS), n)))),
    "beam_search: beam_size": (2, lambda r, to, n: searched("beam_search", r, to, beam_size=n)),
    "padding_mask: pad_id": (1, lambda r, to, n: r.padding_mask(to(TARGETS[None]), n)),
    "causal_mask: T and S": (3, lambda r, to, n: r.causal_mask(n)),
    "prefix_mask: T": (3, lambda r, to, n: r.prefix_mask(to(np.array([1])), n)),
    "softmax: axis": (1, lambda r, to, n: r.softmax(to(X), n)),
    "global_mask: positions": (2, lambda r, to, n: r.global_mask(5, [n])),
}  # fmt: skip
NO_NUMBERS = [
    True, np.True_, math.nan, np.float32("nan"), "0.5", 1j, np.full(1, 0.5), np.full((2, 3), 0.5),
    torch.full((1,), 0.5), torch.tensor(True), torch.tensor(0.5, requires_grad=True), [0.5],
    10**400,
]  # fmt: skip
NO_WHOLE_NUMBERS = [
    True, np.True_, 2.0, np.float32(2), "2", np.full(1, 2), np.full((2, 3), 2), torch.full((1,), 2),
    torch.tensor(True), torch.tensor(2.0), [2], np.array([1, 2]),
]  # fmt: skip


def same(a, b):
    """One type and dtype, and the same values."""
    a, b = (x.detach() if isinstance(x, torch.Tensor) else x for x in (a, b))
    assert type(a) is type(b)  # a plain number, an array or a tensor
    assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
    close(a, b)


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("place", NUMBERS)
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.array, torch.tensor])
def test_a_number_of_any_kind_is_taken_as_its_value(kind, place, room, to):
    value, call = NUMBERS[place]
    same(call(room, to, kind(value)), call(room, to, float(value)))


@pytest.mark.parametrize("place", BACKWARD)
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.array, torch.tensor])
def test_a_number_of_any_kind_is_taken_as_its_value_backward(kind, place):
    value, call = BACKWARD[place]
    same(call(kind(value)), call(float(value)))


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("place", NUMBERS)
@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=lambda x: repr(x)[:25])
def test_what_is_no_number_is_refused_with_its_name(wrong, place, room, to):
    call, _, name = place.partition(": ")
    with pytest.raises(
        ValueError, match=f"^{call}: {name.split('[')[0]}.* must be .*got "
    ) as error:
        NUMBERS[place][1](room, to, wrong)
    assert ": " in str(error.value)


@pytest.mark.parametrize("place", BACKWARD)
@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=lambda x: repr(x)[:25])
def test_what_is_no_number_is_refused_backward(wrong, place):
    if place.endswith("dout") and isinstance(wrong, float | np.floating):
        return  # a loss may be NaN, and so may its gradient
    call, _, name = place.partition(": ")
    with pytest.raises(ValueError, match=f"^{call}: {name} must be "):
        BACKWARD[place][1](wrong)


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("place", WHOLE)
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, "without axes"])
def test_a_whole_number_of_any_kind_is_taken_as_its_value(kind, place, room, to):
    value, call = WHOLE[place]
    given = to(value) if kind == "without axes" else kind(value)
    same(call(room, to, given), call(room, to, value))


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("place", WHOLE)
@pytest.mark.parametrize("wrong", NO_WHOLE_NUMBERS, ids=lambda x: repr(x)[:25])
def test_what_is_no_whole_number_is_refused_with_its_name(wrong, place, room, to):
    if isinstance(wrong, np.ndarray | torch.Tensor):
        wrong = to(wrong)
    call, _, name = place.partition(": ")
    with pytest.raises(ValueError, match=f"^{call}: {name} must be .*got "):
        WHOLE[place][1](room, to, wrong)


def test_an_array_is_named_by_its_shape_and_not_printed():
    words = (
        r"^noam_schedule: step must be a whole number of at least 1, got int64 of shape \(4000,\)$"
    )
    with pytest.raises(ValueError, match=words):
        qn.noam_schedule(np.arange(4000), 512)
    with pytest.raises(ValueError, match=words):
        qt.noam_schedule(torch.arange(4000), 512)


def test_a_configuration_keeps_pythons_own_numbers():
    config = TransformerConfig(
        np.int64(99), d_model=np.int32(8), n_heads=2, dropout=np.float32(0.5)
    )
    assert [type(x) for x in (config.vocab_size, config.d_model, config.dropout)] == [
        int,
        int,
        float,
    ]
    assert config == TransformerConfig(99, d_model=8, n_heads=2, dropout=0.5)


def test_numbers_one_by_one():
    for value in (2, 2.0, np.float32(2), np.int8(2), np.array(2), torch.tensor(2.0)):
        assert (type(as_float(value)), as_float(value)) == (float, 2)
    for value in (2, np.int8(2), np.array(2), torch.tensor(2)):
        assert (type(as_int(value)), type(as_python(value)), as_python(value)) == (int, int, 2)
    for wrong in NO_NUMBERS:
        assert as_float(wrong) is None or math.isnan(as_float(wrong))
    for wrong in NO_WHOLE_NUMBERS:
        assert as_int(wrong) is None
    assert as_python("none") == "none"
    assert as_python(True) is True
