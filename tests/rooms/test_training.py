"""Cross-entropy: by hand, against torch's own, its slope, smoothing, what is not counted."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import matches_differences
from tests.helpers.rooms import ROOMS, close, tensor

SHAPES = [(2, 3), (1, 1), (7,), (), (2, 1, 3)]


def make(shape=(2, 3), V=5, ignore_index=None, seed=0, dtype=np.float64):
    """Logits and targets; of several targets, one is to be ignored."""
    rng = np.random.default_rng(seed)
    logits = (rng.standard_normal((*shape, V)) * 3).astype(dtype)
    targets = np.asarray(rng.integers(0, V, shape))
    if ignore_index is not None and targets.size > 1:
        targets.reshape(-1)[1] = ignore_index
    return logits, targets


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_loss_by_hand(room, to):
    logits = to(np.log([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]))
    targets = to(np.array([0, 2]))
    close(room.cross_entropy(logits, targets), -(math.log(0.5) + math.log(0.7)) / 2)
    close(room.cross_entropy(logits, targets, ignore_index=0), -math.log(0.7))
    smoothed = room.cross_entropy(logits[:1], targets[:1], label_smoothing=0.3)
    # ε / V for each word: 0.7 + 0.1 on the target, 0.1 on each of the others
    close(smoothed, -(0.8 * math.log(0.5) + 0.2 * math.log(0.25)))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_uniform_guess_costs_log_V_and_shifts_cost_nothing(room, to):
    logits, targets = make()
    for smoothing in (0.0, 0.1):
        flat = room.cross_entropy(to(logits * 0), to(targets), label_smoothing=smoothing)
        close(flat, math.log(5))
    far = room.cross_entropy(to(logits + 1e4), to(targets), label_smoothing=0.1)
    near = room.cross_entropy(to(logits), to(targets), label_smoothing=0.1)
    np.testing.assert_allclose(float(far), float(near), rtol=1e-9)  # 1e4 costs four digits of ten


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("ignore_index", [None, 0, -100, 99])
def test_loss_and_gradient_are_those_of_torch(shape, label_smoothing, ignore_index):
    logits, targets = make(shape, ignore_index=ignore_index)
    if ignore_index == 0 and not shape:
        targets[...] = 1
    options = {"label_smoothing": label_smoothing, "ignore_index": ignore_index}
    theirs = torch.tensor(logits, requires_grad=True)
    loss = F.cross_entropy(
        theirs.reshape(-1, 5),
        tensor(targets).reshape(-1),
        label_smoothing=label_smoothing,
        ignore_index=-1 if ignore_index is None else ignore_index,
    )
    (expected,) = torch.autograd.grad(loss * 1.7, theirs)
    close(qn.cross_entropy(logits, targets, **options), loss.detach())
    close(qt.cross_entropy(theirs, tensor(targets), **options).detach(), loss.detach())
    gradient = qn.cross_entropy_backward(1.7, logits, targets, **options)
    close(gradient, expected)
    matches_differences(
        gradient, lambda: 1.7 * qn.cross_entropy(logits, targets, **options), logits
    )
    if ignore_index is not None:
        assert not gradient[targets == ignore_index].any()


def test_what_is_ignored_may_be_anything():
    logits, targets = make(ignore_index=-1)
    expected = qn.cross_entropy(logits, targets, label_smoothing=0.1, ignore_index=-1)
    gradient = qn.cross_entropy_backward(1.0, logits, targets, ignore_index=-1)
    for anything in (np.nan, 1e30):
        logits[targets == -1] = anything
        close(qn.cross_entropy(logits, targets, label_smoothing=0.1, ignore_index=-1), expected)
        close(qn.cross_entropy_backward(1.0, logits, targets, ignore_index=-1), gradient)
    hidden = torch.tensor(logits, requires_grad=True)  # torch's kernel asks for finite numbers
    qt.cross_entropy(hidden, tensor(targets), ignore_index=-1).backward()
    close(hidden.grad, gradient)


def test_a_word_that_is_impossible_costs_nothing_unless_it_comes():
    logits, targets = np.array([[1.0, -np.inf, 2.0]]), np.array([2])
    close(qn.cross_entropy(logits, targets), math.log(1 + math.exp(-1)))
    close(qn.cross_entropy_backward(1.0, logits, targets)[0, 1], 0)
    assert qn.cross_entropy(logits, np.array([1])) == np.inf


def test_inputs_may_be_read_only_and_not_contiguous_and_stay_as_they_are():
    logits, targets = make((3, 2))
    logits, targets = logits.transpose(1, 0, 2), targets.T
    for x in (logits, targets):
        x.flags.writeable = False
    before = logits.copy()
    copies = torch.tensor(logits).reshape(-1, 5), torch.tensor(targets).reshape(-1)
    close(qn.cross_entropy(logits, targets), F.cross_entropy(*copies))
    qn.cross_entropy_backward(1.0, logits, targets)
    assert np.array_equal(logits, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_of_the_logits_stays(dtype):
    logits, targets = make(dtype=dtype)
    loss = qn.cross_entropy(logits, targets, label_smoothing=0.1)
    assert loss.dtype == dtype
    for dout in (1.0, loss, np.float64(1.0)):
        assert qn.cross_entropy_backward(dout, logits, targets).dtype == dtype
    assert qt.cross_entropy(tensor(logits), tensor(targets)).dtype == tensor(logits).dtype


@pytest.mark.parametrize("softcap", [None, 2.0])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_reductions_class_weights_and_softcap_are_those_of_torch(
    shape, weighted, label_smoothing, reduction, softcap
):
    """The loss and its gradient, by torch's own, by autograd and by differences."""
    logits, targets = make(shape, ignore_index=0)
    targets = np.where(targets == 0, 0 if shape else 1, targets)
    rng = np.random.default_rng(3)
    weight = rng.random(5) + 0.1 if weighted else None
    dout = np.asarray(rng.standard_normal(shape if reduction == "none" else ()))
    theirs = torch.tensor(logits, requires_grad=True)
    capped = theirs if softcap is None else softcap * torch.tanh(theirs / softcap)
    loss = F.cross_entropy(
        capped.reshape(-1, 5),
        tensor(targets).reshape(-1),
        None if weight is None else torch.tensor(weight),
        label_smoothing=label_smoothing,
        ignore_index=0,
        reduction=reduction,
    ).reshape(dout.shape)
    (expected,) = torch.autograd.grad(loss, theirs, torch.tensor(dout))
    options = {
        "label_smoothing": label_smoothing,
        "ignore_index": 0,
        "reduction": reduction,
        "softcap": softcap,
    }
    found = qt.cross_entropy(
        theirs, tensor(targets), weight=None if weight is None else torch.tensor(weight), **options
    )
    close(found.detach(), loss.detach())
    close(qn.cross_entropy(logits, targets, weight=weight, **options), loss.detach())
    gradient = qn.cross_entropy_backward(dout, logits, targets, weight=weight, **options)
    close(gradient, expected)
    total = lambda: (dout * qn.cross_entropy(logits, targets, weight=weight, **options)).sum()  # noqa: E731 (as told)
    matches_differences(gradient, total, logits)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_weighted_mean_by_hand(room, to):
    """Two targets that cost ln 2 and ln 4, of weight 3 and 1: (3 ln 2 + ln 4) / 4."""
    logits = to(np.log([[0.5, 0.5], [0.75, 0.25]]))
    targets, weight = to(np.array([0, 1])), to(np.array([3.0, 1.0]))
    close(room.cross_entropy(logits, targets, weight=weight), 5 * math.log(2) / 4)
    every = room.cross_entropy(logits, targets, weight=weight, reduction="none")
    close(every, [3 * math.log(2), math.log(4)])


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_where_nothing_counts_there_is_a_sum_and_no_mean(room, to):
    logits, targets = np.ones((2, 5)), np.zeros(2, int)
    for reduction, expected in (("sum", 0), ("none", [0, 0])):
        found = room.cross_entropy(to(logits), to(targets), ignore_index=0, reduction=reduction)
        close(found, expected)
    options = {"ignore_index": 0, "reduction": "sum"}
    assert not qn.cross_entropy_backward(1.0, logits, targets, **options).any()


def test_a_gradient_for_each_target_or_for_one_loss():
    logits, targets = make()
    with pytest.raises(ValueError, match="dout must be one number, as the loss is"):
        qn.cross_entropy_backward(np.ones((2, 3)), logits, targets, reduction="sum")
    with pytest.raises(ValueError, match=r"dout must be \(2, 3\), got \(\)"):
        qn.cross_entropy_backward(1.0, logits, targets, reduction="none")


def test_torch_compiles_the_loss_whole():
    logits, targets = map(tensor, make(ignore_index=0))
    compiled = torch.compile(qt.cross_entropy, backend="aot_eager", fullgraph=True)
    options = {"label_smoothing": 0.1, "ignore_index": 0}
    close(compiled(logits, targets, **options), qt.cross_entropy(logits, targets, **options))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_rooms_agree_or_refuse_in_the_same_words(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=3)))
    V = data.draw(st.integers(0, 4))
    dtype = data.draw(st.sampled_from(["float64", "float32", "int64"]))
    logits, _ = make(shape, V or 1, seed=data.draw(st.integers(0, 99)))
    logits = (logits if V else logits[..., :0]).astype(dtype)
    other = data.draw(st.sampled_from([shape, shape, shape, shape[1:]]))
    words = st.integers(0, V) if data.draw(st.booleans()) else st.integers(0, max(V - 1, 0))
    count = math.prod(other)
    targets = np.array(data.draw(st.lists(words, min_size=count, max_size=count)), int)
    options = {
        "label_smoothing": data.draw(st.sampled_from([0.0, 0.1, 1.0, 1.1])),
        "ignore_index": data.draw(st.sampled_from([None, 0, 3])),
        "reduction": data.draw(st.sampled_from(["mean", "sum", "none"])),
        "softcap": data.draw(st.sampled_from([None, 2.5])),
    }
    said = []
    for param in ROOMS:
        room, to = param.values
        try:
            said.append(room.cross_entropy(to(logits), to(targets.reshape(other)), **options))
        except ValueError as error:
            said.append(str(error))
    if any(isinstance(words, str) for words in said):
        assert said[0] == said[1]
    else:
        close(*said, dtype)
