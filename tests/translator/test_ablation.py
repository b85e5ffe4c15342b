"""Heads changed while a model runs: what each change does, and that the model is as before."""

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.config import TransformerConfig
from qkv.translator.ablation import (
    attention_knockout,
    attention_patching,
    attentions,
    mean_ablation,
    uniform_attention,
    without_positions,
    zero_ablation,
)

T = 5


@pytest.fixture
def model():
    config = TransformerConfig(11, d_model=6, n_heads=3, d_ff=7, n_layers=2, pad_id=0)
    return qn.Transformer(config, rng=np.random.default_rng(0), dtype=np.float64).eval()


@pytest.fixture
def attention(model):
    layer = attentions(model)["encoder 1, self"]
    layer.w_q.params["bias"][:] = np.random.default_rng(1).normal(size=6)
    return layer


@pytest.fixture
def x():
    return np.random.default_rng(2).normal(size=(1, T, 6))


def test_every_attention_has_a_name(model):
    assert list(attentions(model)) == [
        "encoder 0, self",
        "encoder 1, self",
        "decoder 0, self",
        "decoder 0, cross",
        "decoder 1, self",
        "decoder 1, cross",
    ]
    assert attentions(model)["decoder 1, cross"] is model.decoder.layers[1].cross_attention


def parts(attention, x):
    """(H, T, d_model): what each head adds, and the weights (H, T, T)."""
    _, weights = attention(x, need_weights=True)
    values = qn.split_heads(attention.w_v(x), 3)[0]  # (H, T, d_v)
    rows = attention.w_o.params["weight"].reshape(3, 2, 6).copy()
    return weights[0] @ values @ rows, values, rows


def test_a_head_that_is_off_adds_nothing(attention, x):
    before, (added, _, _) = attention(x)[0], parts(attention, x)
    with zero_ablation(attention, 1):
        np.testing.assert_allclose(attention(x)[0][0], before[0] - added[1])
    np.testing.assert_array_equal(attention(x)[0], before)


def test_equal_weights_are_equal_in_one_head_alone(attention, x):
    before, kept = attention(x, need_weights=True)
    with uniform_attention(attention, 1):
        _, weights = attention(x, need_weights=True)
        np.testing.assert_allclose(weights[0, 1], np.full((T, T), 1 / T))
        np.testing.assert_array_equal(weights[0, [0, 2]], kept[0, [0, 2]])
        _, masked = attention(x, causal=True, need_weights=True)
        np.testing.assert_allclose(masked[0, 1, 2], [1 / 3, 1 / 3, 1 / 3, 0, 0])
    np.testing.assert_array_equal(attention(x)[0], before)


def test_a_mean_takes_the_place_of_what_a_head_gives(attention, x):
    before, (added, _, rows) = attention(x)[0], parts(attention, x)
    mean = np.array([0.5, -2.0])
    with mean_ablation(attention, 2, mean):
        np.testing.assert_allclose(attention(x)[0][0], before[0] - added[2] + mean @ rows[2])
    np.testing.assert_array_equal(attention(x)[0], before)


def test_a_turned_row_takes_one_value_and_leaves_the_others(model, attention, x):
    before, (added, values, rows) = attention(x)[0], parts(attention, x)
    layer = model.encoder.layers[1]
    with attention_patching(layer, [0, 2], query=3, key=1):
        out, weights = layer.self_attention(x, need_weights=True)
        assert layer.self_attention(x)[1] is None
    expected = before[0].copy()
    for head in (0, 2):
        expected[3] += values[head, 1] @ rows[head] - added[head, 3]
        np.testing.assert_array_equal(weights[0, head, 3], [0, 1, 0, 0, 0])
    np.testing.assert_allclose(out[0], expected)
    assert layer.self_attention is attention


@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize("key", [1, (1, 4)])
def test_a_blocked_key_gets_no_weight_and_the_others_share_it_or_not(
    model, attention, x, key, rescale
):
    before, (added, values, rows) = attention(x)[0], parts(attention, x)
    old = attention(x, need_weights=True)[1]
    layer = model.encoder.layers[1]
    with attention_knockout(layer, [0, 2], query=3, key=key, rescale=rescale):
        out, weights = layer.self_attention(x, need_weights=True)
    expected = before[0].copy()
    for head, blocked in zip((0, 2), np.broadcast_to(key, 2), strict=True):
        row = old[0, head, 3].copy()
        row[blocked] = 0
        row /= row.sum() if rescale else 1
        np.testing.assert_allclose(weights[0, head, 3], row)
        expected[3] += row @ values[head] @ rows[head] - added[head, 3]
    np.testing.assert_array_equal(weights[0, 1], old[0, 1])
    np.testing.assert_allclose(out[0], expected)
    assert layer.self_attention is attention


@pytest.mark.parametrize("change", [attention_patching, attention_knockout])
def test_changed_weights_are_undone_when_something_fails(model, attention, change):
    layer = model.encoder.layers[1]
    with pytest.raises(KeyError), change(layer, [0], query=3, key=1):
        raise KeyError
    assert layer.self_attention is attention


@pytest.mark.parametrize("change", [zero_ablation, uniform_attention])
def test_a_change_is_undone_when_something_fails(attention, x, change):
    before = attention(x)[0]
    with pytest.raises(KeyError), change(attention, 0):
        raise KeyError
    np.testing.assert_array_equal(attention(x)[0], before)


def test_without_positions_the_order_of_the_source_does_not_count(model):
    target = np.array([[1, 5, 6]])
    one, other = np.array([[4, 7, 9, 3]]), np.array([[9, 3, 7, 4]])
    before = model(one, target)
    assert not np.allclose(before, model(other, target))
    with without_positions(model):
        without = model(one, target)
        np.testing.assert_allclose(without, model(other, target), atol=1e-12)
        state = model.start_decoding(one)
        steps = [state(target[:, : t + 1]) for t in range(3)]
        np.testing.assert_allclose(np.stack(steps, 1), qn.log_softmax(without), atol=1e-12)
    np.testing.assert_array_equal(before, model(one, target))
    assert not np.allclose(before, without)


def test_positions_of_one_part_alone_are_left_out(model):
    ids, target = np.array([[4, 7, 9, 3]]), np.array([[1, 5, 6]])
    found = [model(ids, target)]
    for parts in (("encoder",), ("decoder",), ("decoder", "encoder")):
        with without_positions(model, parts):
            found.append(model(ids, target))
            memory = model.encode(ids)
            turned = model.encode(ids[:, ::-1])
        assert np.allclose(memory, turned[:, ::-1]) == ("encoder" in parts)
    for n, one in enumerate(found):
        assert not any(np.allclose(one, other) for other in found[:n])
    with without_positions(model, ()):
        np.testing.assert_array_equal(model(ids, target), found[0])


@pytest.mark.parametrize("parts", ["encoder", ("encoder", "source"), [None]])
def test_parts_that_are_none_are_refused(model, parts):
    refused = pytest.raises(ValueError, match="parts must be some of 'encoder' and 'decoder'")
    with refused, without_positions(model, parts):
        pass


def test_positions_inside_attention_are_not_left_out_in_silence():
    config = TransformerConfig(11, d_model=6, n_heads=3, d_ff=7, n_layers=1, positions="rotary")
    refused = pytest.raises(ValueError, match=r"without_positions: .* got 'rotary': only")
    with refused, without_positions(qn.Transformer(config)):
        pass
