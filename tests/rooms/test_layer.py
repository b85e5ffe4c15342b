"""What every layer has: calls that wait for their backward, modes that come and go."""

import tracemalloc
import warnings

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.models import config_of, tensors, texts
from tests.helpers.rooms import ROOMS, close


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def model(rng):
    return qn.Transformer(config_of("as in the paper"), rng=rng, dtype=np.float64)


def one_update(model, ids, seed=2):
    """Forward and backward of a batch; its gradients."""
    logits = model(*ids)
    model.backward(np.random.default_rng(seed).standard_normal(logits.shape))
    return {name: value.copy() for name, value in model.named_gradients()}


# ------------------------------------------------------------------------- one backward for a call


USERS = {
    "an optimizer": lambda layer: qn.Adam(layer).step(),
    "clipping": lambda layer: qn.clip_grad_norm(layer, 1.0),
    "a loop of one's own": lambda layer: dict(layer.named_gradients()),
}


@pytest.mark.parametrize("user", USERS)
def test_a_validation_between_call_and_backward_is_not_silent(model, user):
    """The backward goes through the wrong call; nobody gets its gradients."""
    ids = texts(model.config)
    logits = model(*ids)
    model(*texts(model.config, seed=3))
    model.backward(logits)
    before = model.state_dict()
    words = (
        r"Transformer\.named_gradients: every call must have had its backward, got \d+ of "
        r"source_embedding without, .*: put calls for validation into "
        r"`with layer\.inference_mode\(\):`"
    )
    with pytest.raises(ValueError, match=words):
        USERS[user](model)
    for name, value in model.named_parameters():
        np.testing.assert_array_equal(value, before[name])
    model.zero_grad()
    assert set(one_update(model, ids)) == set(before)


@pytest.mark.parametrize("calls", [1, 60])
def test_a_validation_inside_evaluating_leaves_the_gradients_as_they_are(model, calls):
    ids, other = texts(model.config), texts(model.config, seed=3)
    expected = one_update(model, ids)
    model.zero_grad()
    logits = model(*ids)
    with model.inference_mode() as same:
        assert same is model
        for _ in range(calls):
            model(*other)
    model.backward(np.random.default_rng(2).standard_normal(logits.shape))
    for name, value in model.named_gradients():
        np.testing.assert_array_equal(value, expected[name])


def test_a_backward_in_eval_mode_takes_no_call_of_before(rng):
    """Else it would go through x, where y was meant, and leave no call behind that tells."""
    layer = qn.Linear(5, 7, rng=rng, dtype=np.float64)
    x, y = rng.standard_normal((2, 3, 5))
    layer(x)
    out = layer.eval()(y)
    with pytest.raises(ValueError, match=r"Linear\.backward: the Linear must be in training mode"):
        layer.backward(out)
    layer.train().backward(out)
    close(layer.grads["weight"], x.T @ out)


def test_a_shared_layer_is_called_as_often_as_one_likes(rng):
    """In the opposite order, with no word said, and the gradients are those of autograd."""
    layer, x = qn.Linear(5, 5, rng=rng, dtype=np.float64), rng.standard_normal((3, 5))
    theirs = qt.Linear(5, 5, dtype=torch.float64)
    theirs.load_state_dict({n: torch.tensor(p.T) for n, p in layer.named_parameters()})
    out, expected = x, torch.tensor(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(12):
            out, expected = layer(out), theirs(expected)
    dout = rng.standard_normal(out.shape)
    expected.backward(torch.tensor(dout))
    with pytest.raises(ValueError, match="got 12 of Linear without"):
        dict(layer.named_gradients())
    for _ in range(12):
        dout = layer.backward(dout)
    close(dict(layer.named_gradients())["weight"].T, theirs.weight.grad)


def test_a_part_is_asked_about_its_own_calls_alone(model):
    one_update(model, texts(model.config))
    model.encode(texts(model.config)[0])
    assert dict(model.decoder.named_gradients())
    with pytest.raises(ValueError, match=r"Encoder\.named_gradients: .* layers\.0\.self_attention"):
        dict(model.encoder.named_gradients())


# ---------------------------------------------------------------------------------- inference_mode


def test_what_is_evaluated_takes_no_memory(model):
    ids = texts(model.config)

    def held(times):
        tracemalloc.start()
        for _ in range(times):
            model(*ids)
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return size

    with model.inference_mode():
        assert held(10) < 20_000
    kept = held(10)
    model.zero_grad()
    assert kept > 5 * 20_000


def test_calls_that_pile_up_are_warned_of(rng):
    layer, x = qn.Linear(5, 7, rng=rng), np.ones((3, 5), np.float32)

    def validate():
        for _ in range(60):
            layer(x)

    with pytest.warns(
        UserWarning, match=r"Linear: 32 calls are kept .* layer\.inference_mode"
    ) as said:
        validate()
    assert len(said) == 1
    assert said[0].filename == __file__


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_evaluating_drops_nothing_out_and_gives_each_mode_back(room, to):
    config = config_of("as in the paper", dropout=0.5)
    model, ids = room.Transformer(config), [to(a) for a in texts(config)]
    model.encoder.eval()  # as one does with a part that is not trained

    def modes():
        return [(name, part.training) for name, part in model.named_modules()]

    def evaluate():
        with model.inference_mode():
            assert not any(mode for _, mode in modes())
            one, other = model(*ids), model(*ids)
            assert np.array_equal(one, other)
            raise KeyError

    before = modes()
    assert {mode for _, mode in before} == {True, False}
    with pytest.raises(KeyError):
        evaluate()
    assert modes() == before
    assert not np.array_equal(*(np.array(model(*ids).tolist()) for _ in range(2)))


def test_evaluating_keeps_no_graph_in_torch():
    config = config_of("as in the paper")
    model, ids = qt.Transformer(config), tensors(texts(config))
    with model.inference_mode():
        assert not model(*ids).requires_grad
    assert model(*ids).requires_grad
