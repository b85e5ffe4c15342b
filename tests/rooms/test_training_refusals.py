"""What training refuses, in the same words in both rooms."""

import math

import numpy as np
import pytest

import qkv.numpy as qn
from tests.helpers.rooms import ROOMS

LOGITS, TARGETS = np.ones((2, 3, 5)), np.array([[0, 1, 2], [3, 4, 0]])


def loss(logits=LOGITS, targets=TARGETS, **options):
    return lambda room, to: room.cross_entropy(to(logits), to(targets), **options)


def weighted(weight):
    return lambda room, to: room.cross_entropy(to(LOGITS), to(TARGETS), weight=to(weight))


def adam(**constants):
    return lambda room, to: room.Adam(room.Linear(2, 3), **constants)


def average(*states):
    return lambda room, to: room.average_checkpoints(
        [{name: to(value) for name, value in state.items()} for state in states]
    )


A = {"a": np.ones(2), "b": np.ones(3)}
REFUSED = [
    (loss(targets=TARGETS + 1), "cross_entropy: targets must be in [0, 5), got 5 at (1, 1): "
     "pass its ignore_index, or check the vocabulary"),
    (loss(targets=TARGETS - 1), "cross_entropy: targets must be in [0, 5), got -1 at (0, 0): "
     "pass its ignore_index, or check the vocabulary"),
    (loss(targets=TARGETS * 0, ignore_index=0), "cross_entropy: targets (2, 3) are all "
     "ignore_index = 0, so that no mean exists: leave this batch out"),
    (loss(LOGITS[:0], TARGETS[:0]), "cross_entropy: targets (0, 3) are none, "
     "so that no mean exists: leave this batch out"),
    (loss(targets=TARGETS[0]), "cross_entropy: targets must be (2, 3), "
     "got (3,): one target for each row of logits"),
    (loss(targets=TARGETS / 1), "cross_entropy: targets must be an integer array, got float64: "
     "pass token ids"),
    (loss(LOGITS[..., :0]), "cross_entropy: V must be at least 1, got logits = (2, 3, 0): "
     "one score for each word of the vocabulary"),
    (loss(LOGITS > 0), "cross_entropy: logits must be a float array, got bool: convert it first"),
    *(
        (loss(label_smoothing=value), "cross_entropy: label_smoothing must be a number in [0, 1], "
         f"got {value!r}: 0 smooths nothing, 1 leaves nothing of the target")
        for value in (1.1, -0.1, "0.1", math.nan)
    ),
    (loss(reduction="max"), "cross_entropy: reduction must be one of 'mean', 'sum', 'none', "
     "got 'max'"),
    (loss(softcap=0), "cross_entropy: softcap must be a number above 0, got 0"),
    (weighted(np.ones(4)), "cross_entropy: weight must be (V,) = (5,), got (4,): one weight for "
     "each word of the vocabulary"),
    (weighted(np.ones(5, np.float32)), "cross_entropy: weight must be float64 as logits is, got "
     "float32: convert it"),
    (weighted(np.zeros(5)), "cross_entropy: weight[targets] must not sum to 0, got no mean: "
     "leave this batch out, or take reduction='sum'"),
    (adam(lr=-1), "Adam: lr must be a number of at least 0, got -1"),
    (adam(lr=math.nan), "Adam: lr must be a number of at least 0, got nan"),
    (adam(betas=(0.9, 1.0)), "Adam: betas[1] must be a number in [0, 1), got 1.0: "
     "0 forgets at once"),
    (adam(betas=0.9), "Adam: betas must be two numbers, got 0.9"),
    (adam(eps=-1e-8), "Adam: eps must be a number of at least 0, got -1e-08: "
     "1e-8 is usual"),
    (adam(weight_decay=True), "Adam: weight_decay must be a number of at least 0, got True"),
    (lambda room, to: room.AdamW(room.Linear(2, 3)).step("fast"),
     "AdamW.step: lr must be a number of at least 0, got 'fast'"),
    (lambda room, to: room.AdamW(room.Dropout(0.5)),
     "AdamW: layer must have parameters, got Dropout with none"),
    (lambda room, to: room.Adam([]), "Adam: layer must be a Layer, got list"),
    (lambda room, to: room.linear_schedule(0, 10, 2),
     "linear_schedule: step must be a whole number of at least 1, got 0"),
    (lambda room, to: room.linear_schedule(11, 10, 2),
     "linear_schedule: step must be at most steps = 10, got 11"),
    (lambda room, to: room.linear_schedule(1, 10, 11),
     "linear_schedule: warmup must be at most steps = 10, got 11"),
    (lambda room, to: room.linear_schedule(1, 10, 2, -1.0),
     "linear_schedule: peak must be a number of at least 0, got -1.0"),
    (lambda room, to: room.noam_schedule(0, 512),
     "noam_schedule: step must be a whole number of at least 1, got 0"),
    (lambda room, to: room.noam_schedule(1, 512, 0),
     "noam_schedule: warmup must be a whole number of at least 1, got 0"),
    (lambda room, to: room.noam_schedule(1, 512, factor=-1),
     "noam_schedule: factor must be a number of at least 0, got -1"),
    (lambda room, to: room.clip_grad_norm(room.Linear(2, 3), 0),
     "clip_grad_norm: max_norm must be a number above 0, got 0"),
    (average(), "average_checkpoints: states must be at least one state, got none"),
    (average(A, {"a": A["a"]}), "average_checkpoints: states[1]: b is missing: "
     "the state is of another model: compare the configurations"),
    (average(A, A, A | {"c": A["a"]}), "average_checkpoints: states[2]: c is not a parameter of "
     "this model: the state is of another model: compare the configurations"),
    (average(A, A | {"b": np.ones(4)}), "average_checkpoints: states[1]: b must be (3,), got (4,): "
     "the state is of a model of another size"),
    (average(A, A | {"b": np.ones(3, np.float32)}), "average_checkpoints: states[1]: b must be "
     "float64 as in the first, got float32: convert it"),
    (average({"n": np.ones(3, int)}), "average_checkpoints: states[0]: n must be a float array, "
     "got int64: convert it first"),
]  # fmt: skip


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words[:50] for _, words in REFUSED])
def test_training_refuses(call, words, room, to):
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the whole text is compared below)
        call(room, to)
    assert str(error.value) == words


def test_the_backward_of_the_loss_refuses_what_the_forward_does_and_a_gradient_of_another_shape():
    words = r"cross_entropy_backward: dout must be one number, .* got float64 of shape \(2,\)"
    with pytest.raises(ValueError, match=words):
        qn.cross_entropy_backward(np.ones(2), LOGITS, TARGETS)
    with pytest.raises(ValueError, match="got '1'"):
        qn.cross_entropy_backward("1", LOGITS, TARGETS)
    with pytest.raises(ValueError, match=r"^cross_entropy_backward: targets must be in \[0, 5\)"):
        qn.cross_entropy_backward(1.0, LOGITS, TARGETS + 1)
