"""The schedule, clipping and averaged checkpoints, by hand and against torch's own."""

import math

import numpy as np
import pytest
import torch
from test_training_optimizers import give_gradients, pairs

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.rooms import ROOMS, close


@pytest.mark.parametrize("room", [qn, qt], ids=["numpy", "torch"])
def test_the_schedule_peaks_at_warm_up(room):
    rates = [room.noam_schedule(step, 512) for step in range(1, 12001)]
    assert math.isclose(max(rates), 6.98771e-4, rel_tol=1e-6)
    assert rates.index(max(rates)) + 1 == 4000
    assert math.isclose(rates[999], rates[3999] / 4)  # a line up
    assert math.isclose(rates[7999], rates[3999] / math.sqrt(2))  # the root down
    assert math.isclose(room.noam_schedule(7, 512, 100, 2.0), 2 * room.noam_schedule(7, 512, 100))
    assert type(rates[0]) is float


@pytest.mark.parametrize("room", [qn, qt], ids=["numpy", "torch"])
def test_the_line_rises_to_its_peak_and_ends_one_step_before_zero(room):
    rates = [room.linear_schedule(step, 7, 3, 0.6) for step in range(1, 8)]
    np.testing.assert_allclose(rates, [0.2, 0.4, 0.6, 0.48, 0.36, 0.24, 0.12])
    assert [room.linear_schedule(step, 3, 3) for step in (1, 3)] == [1e-3 / 3, 1e-3]  # only up
    np.testing.assert_allclose([room.linear_schedule(s, 2, 1, 1.0) for s in (1, 2)], [1.0, 0.5])
    assert room.linear_schedule(1, 1, 1, 2) == 2
    assert type(rates[0]) is float


@pytest.mark.parametrize("max_norm", [1e-3, 1.0, 1e9, math.inf])
def test_clipping_is_that_of_torch(max_norm):
    pair, ours, theirs = pairs()
    give_gradients(np.random.default_rng(3), pair, ours, theirs)
    norm = torch.nn.utils.clip_grad_norm_(theirs.parameters(), max_norm)
    close(qn.clip_grad_norm(pair, max_norm), norm)
    close(qt.clip_grad_norm(ours, max_norm), norm)
    for name, gradient in pair.named_gradients():
        for module in (ours, theirs):
            other = dict(module.named_parameters())[name].grad
            close(gradient, other.T if gradient.ndim == 2 else other)
    assert float(norm) > 2
    if max_norm < 2:
        close(qn.clip_grad_norm(pair, 1e9), max_norm, "finite differences")  # 1e-6 under the bar


@pytest.mark.parametrize("max_norm", [1.0, math.inf])
@pytest.mark.parametrize(
    ("entry", "norm", "others"),
    [(math.nan, math.nan, math.nan), (math.inf, math.inf, 0.0), (1e30, math.inf, 0.0)],
)
def test_a_norm_that_is_not_finite_does_what_the_docstring_says(max_norm, entry, norm, others):
    """As torch's: zeros below an infinite norm, but NaN where infinity is multiplied by 0."""
    layer = qn.Linear(2, 3, False)
    module, theirs = qt.Linear(2, 3, False), torch.nn.Linear(2, 3, False)
    gradient = np.full((2, 3), 7, np.float32)
    gradient[1, 2] = entry
    layer.grads["weight"][...] = gradient
    module.weight.grad, theirs.weight.grad = (torch.tensor(gradient.T.copy()) for _ in range(2))
    with np.errstate(invalid="ignore", over="ignore"):
        norms = [qn.clip_grad_norm(layer, max_norm), float(qt.clip_grad_norm(module, max_norm))]
    norms.append(float(torch.nn.utils.clip_grad_norm_(theirs.parameters(), max_norm)))
    np.testing.assert_array_equal(norms, [norm] * 3)
    if max_norm == math.inf:
        others = math.nan
    expected = np.full((2, 3), others)
    expected[1, 2] = 0 if entry == 1e30 and max_norm == 1 else math.nan
    np.testing.assert_array_equal(layer.grads["weight"], expected)
    for other in (module, theirs):
        np.testing.assert_array_equal(other.weight.grad.numpy().T, expected)


def test_the_norm_of_half_precision_does_not_overflow():
    layer = qn.Linear(5, 7, False, dtype=np.float16)
    layer.grads["weight"][...] = 300
    assert math.isclose(qn.clip_grad_norm(layer, math.inf), 300 * math.sqrt(35), rel_tol=1e-6)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_checkpoints_are_averaged_in_their_dtype(room, to):
    rng = np.random.default_rng(4)
    arrays = rng.standard_normal((3, 5, 7)).astype(np.float32)
    states = [{"a.weight": to(x), "a.bias": to(np.float32([n, 2]))} for n, x in enumerate(arrays)]
    average = room.average_checkpoints(states)
    assert list(average) == ["a.weight", "a.bias"]
    close(average["a.weight"], arrays.mean(0), "float32")
    close(average["a.bias"], [1, 2])
    assert average["a.weight"].dtype == states[0]["a.weight"].dtype
    close(room.average_checkpoints(states[:1])["a.weight"], arrays[0])
    large = [{"a": to(np.float16([60000]))}] * 4
    close(room.average_checkpoints(large)["a"], np.float16([60000]))


@pytest.mark.parametrize("room", [qn, qt], ids=["numpy", "torch"])
def test_an_average_of_a_model_loads(room):
    models = [room.Linear(5, 7) for _ in range(3)]
    average = room.average_checkpoints([model.state_dict() for model in models])
    models[0].load_state_dict(average)
    assert not any(getattr(x, "requires_grad", False) for x in average.values())
