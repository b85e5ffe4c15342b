"""Adam and AdamW step for step as torch.optim, and states that go on where another stopped."""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.torch.training.optimizers import OPTIMIZERS
from tests.helpers.layers import copy_parameters
from tests.helpers.rooms import ROOMS, close

NAMES = [optimizer.__name__ for optimizer in OPTIMIZERS.values()]
CONSTANTS = [
    {},
    {"lr": 0.1},
    {"lr": 0.05, "betas": (0.9, 0.98), "eps": 1e-9},
    {"lr": 0.05, "weight_decay": 0.3},
    {"lr": 0.05, "betas": (0.0, 0.0), "eps": 1e-3, "weight_decay": 0.1},
]


class Pair(qn.Layer):
    """Two names for one layer, and another one."""

    def __init__(self, rng):
        super().__init__()
        self.table = qn.Linear(5, 5, rng=rng, dtype=np.float64)
        self.other = qn.Linear(5, 3, rng=rng, dtype=np.float64)
        self.tied = self.table


class TorchPair(qt.Layer):
    def __init__(self):
        super().__init__()
        self.table = qt.Linear(5, 5, dtype=torch.float64)
        self.other = qt.Linear(5, 3, dtype=torch.float64)
        self.tied = self.table


def pairs(seed=0, count=2):
    """One NumPy pair and torch pairs with the same parameters."""
    pair = Pair(np.random.default_rng(seed))
    modules = [TorchPair() for _ in range(count)]
    for module in modules:
        copy_parameters(pair, module)
    return pair, *modules


def give_gradients(rng, pair, *modules):
    """The same random gradients for all; the torch rooms hold matrices transposed."""
    for name, gradient in pair.named_gradients():
        gradient[...] = rng.standard_normal(gradient.shape) * 10.0 ** rng.integers(-3, 3)
        for module in modules:
            parameter = dict(module.named_parameters())[name]
            turned = gradient.T if gradient.ndim == 2 else gradient
            parameter.grad = torch.tensor(np.ascontiguousarray(turned))


def same_parameters(pair, *modules):
    for name, value in pair.named_parameters():
        for module in modules:
            theirs = dict(module.named_parameters())[name].detach()
            close(value, theirs.T if value.ndim == 2 else theirs)


@pytest.mark.parametrize("constants", CONSTANTS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_each_step_is_that_of_torch_optim(name, constants):
    pair, ours, theirs = pairs()
    rng = np.random.default_rng(1)
    numpy_room = getattr(qn, name)(pair, **constants)
    torch_room = getattr(qt, name)(ours, **constants)
    other = getattr(torch.optim, name)(theirs.parameters(), **constants)
    for step in range(1, 31):
        give_gradients(rng, pair, ours, theirs)
        lr = qn.noam_schedule(step, 8, warmup=10) if step > 10 else None
        if lr is not None:
            other.param_groups[0]["lr"] = lr
        numpy_room.step(lr)
        torch_room.step(lr)
        other.step()
        same_parameters(pair, ours, theirs)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_first_step_is_as_long_as_the_rate_whatever_the_gradient(room, to):
    pair, module = pairs(count=1)
    layer = pair if room is qn else module
    give_gradients(np.random.default_rng(1), pair, module)
    before = {name: np.array(value.tolist()) for name, value in layer.named_parameters()}
    room.Adam(layer, lr=0.125, eps=1e-12).step()
    for name, value in layer.named_parameters():
        moved = before[name] - np.array(value.tolist())
        np.testing.assert_allclose(abs(moved), 0.125, rtol=1e-6)  # ε beside gradients of 1e-5


@pytest.mark.parametrize("room", [qn, qt], ids=["numpy", "torch"])
@pytest.mark.parametrize("name", NAMES)
def test_a_state_goes_on_where_another_stopped(room, name):
    (pair, module), (pair2, module2) = pairs(count=1), pairs(count=1)
    layer, other = (pair, pair2) if room is qn else (module, module2)
    first = getattr(room, name)(layer, lr=0.1)
    rng = np.random.default_rng(2)
    for _ in range(3):
        give_gradients(rng, pair, module)
        first.step()
    state = first.state_dict()
    assert float(state["step"]) == 3
    assert {"m.table.weight", "v.other.bias"} < set(state)
    assert not any("tied" in name for name in state)
    other.load_state_dict(layer.state_dict())
    second = getattr(room, name)(other, lr=0.1)
    second.load_state_dict(state)
    for value in state.values():
        value *= 0  # a state is a copy, on both ways
    for _ in range(2):
        give_gradients(rng, pair, module)
        for (_, a), (_, b) in zip(pair.named_gradients(), pair2.named_gradients(), strict=True):
            b[...] = a
        for a, b in zip(module.parameters(), module2.parameters(), strict=True):
            b.grad = a.grad.clone()
        first.step()
        second.step()
    for (_, a), (_, b) in zip(layer.named_parameters(), other.named_parameters(), strict=True):
        close(a.tolist(), b.tolist())
    assert float(getattr(room, name)(layer).state_dict()["step"]) == 0


def test_states_have_the_same_names_and_refusals_in_both_rooms():
    pair, module = pairs(count=1)
    ours, theirs = qn.AdamW(pair), qt.AdamW(module)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    said = []
    for optimizer in (ours, theirs):
        state = optimizer.state_dict()
        del state["v.other.bias"]
        with pytest.raises(ValueError, match=r"AdamW\.load_state_dict: v\.other\.bias") as error:
            optimizer.load_state_dict(state)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_parameter_without_a_gradient_is_alike_in_both_rooms():
    pair, module = pairs(count=1)
    for _ in range(2):
        qn.AdamW(pair, lr=0.1).step()
        qt.AdamW(module, lr=0.1).step()
    same_parameters(pair, module)


def test_steps_keep_the_dtype():
    layer = qn.Linear(5, 7)
    layer.grads["weight"][...] = 1
    for optimizer in (qn.Adam(layer, weight_decay=0.1), qn.AdamW(layer)):
        optimizer.step(0.1)
        assert {x.dtype for x in (*layer.params.values(), *optimizer.m.values())} == {
            np.dtype(np.float32)
        }


# -------------------------------------------------------------------------------------- freezing


def frozen_pairs():
    """Twins of which `table` and the bias of `other` are frozen, and so is torch's own."""
    pair, ours, theirs = pairs()
    pair.table.requires_grad_(False)
    pair.other.requires_grad["bias"] = False
    for module in (ours, theirs):
        module.table.requires_grad_(False)
        module.other.bias.requires_grad_(False)
    return pair, ours, theirs


def give_all_gradients(rng, pair, *modules):
    """As `give_gradients`, to the frozen ones too, which a backward of before may have left."""
    frozen = [{**layer.requires_grad} for _, layer in pair.named_modules()]
    pair.requires_grad_()
    give_gradients(rng, pair, *modules)
    for (_, layer), kept in zip(pair.named_modules(), frozen, strict=True):
        layer.requires_grad = kept


FROZEN = ["table.weight", "table.bias", "other.bias"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_frozen_stays_and_begins_afresh_when_it_moves_again(name):
    """Step for step as torch.optim, whose frozen parameters have no gradient."""
    pair, ours, theirs = frozen_pairs()
    before = pair.state_dict()
    constants = {"lr": 0.05, "weight_decay": 0.3}
    numpy_room = getattr(qn, name)(pair, **constants)
    torch_room = getattr(qt, name)(ours, **constants)
    other = getattr(torch.optim, name)(theirs.parameters(), **constants)
    rng = np.random.default_rng(5)
    for step in range(12):
        if step == 7:  # they move again
            pair.requires_grad_()
            ours.requires_grad_()
            theirs.requires_grad_()
        give_all_gradients(rng, pair, ours, theirs)
        for parameter in theirs.parameters():
            if not parameter.requires_grad:
                parameter.grad = None
        numpy_room.step()
        torch_room.step()
        other.step()
        same_parameters(pair, ours, theirs)
        moved = [n for n, value in pair.named_parameters() if (value != before[n]).any()]
        assert moved == ([n for n in before if n not in FROZEN] if step < 7 else list(before))
    assert list(numpy_room.state_dict()) == list(torch_room.state_dict())
    assert float(numpy_room.state_dict()["step.other.bias"]) == 5


@pytest.mark.parametrize("room", [qn, qt], ids=["numpy", "torch"])
def test_a_state_knows_who_was_frozen(room):
    (pair, module, _), (pair2, module2, _) = frozen_pairs(), frozen_pairs()
    layer, other = (pair, pair2) if room is qn else (module, module2)
    first, second = room.Adam(layer, lr=0.1), room.Adam(other, lr=0.1)
    rng = np.random.default_rng(6)
    for _ in range(9):
        give_all_gradients(rng, pair, module)
        first.step()
    other.load_state_dict(layer.state_dict())
    second.load_state_dict(first.state_dict())
    for part in (pair, module, pair2, module2):
        part.requires_grad_()
    give_gradients(rng, pair, module)
    for (_, a), (_, b) in zip(pair.named_gradients(), pair2.named_gradients(), strict=True):
        b[...] = a
    for a, b in zip(module.parameters(), module2.parameters(), strict=True):
        b.grad = a.grad.clone()
    first.step()
    second.step()
    for (_, a), (_, b) in zip(layer.named_parameters(), other.named_parameters(), strict=True):
        close(a.tolist(), b.tolist())
    assert list(first.state_dict()) == list(second.state_dict())


def test_clipping_measures_and_shortens_what_moves():
    pair, ours, theirs = frozen_pairs()
    give_all_gradients(np.random.default_rng(7), pair, ours, theirs)
    kept = {name: layer.grads["bias"].copy() for name, layer in pair.named_modules() if layer.grads}
    moving = [p for p in theirs.parameters() if p.requires_grad]
    norm = torch.nn.utils.clip_grad_norm_(moving, 0.5)
    close(qn.clip_grad_norm(pair, 0.5), norm)
    close(qt.clip_grad_norm(ours, 0.5), norm)
    assert [name for name, _ in pair.named_gradients()] == ["other.weight"]
    close(pair.other.grads["weight"].T, theirs.other.weight.grad)
    for name, part in (("table", ours.table), ("other", ours.other)):
        np.testing.assert_array_equal(dict(pair.named_modules())[name].grads["bias"], kept[name])
        close(part.bias.grad, kept[name])


def test_a_backward_goes_through_what_is_frozen():
    rng = np.random.default_rng(8)
    layer = qn.FeedForward(5, 7, rng=rng, dtype=np.float64)
    x, dout = rng.standard_normal((2, 3, 5))
    layer(x)
    expected = layer.backward(dout)
    layer.zero_grad()
    assert layer.requires_grad_(False) is layer
    layer(x)
    close(layer.backward(dout), expected)
    assert not dict(layer.named_gradients())
    assert layer.w_1.grads["weight"].any()
