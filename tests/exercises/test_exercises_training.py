"""The exercises of "Training": right answers pass; each typical mistake meets its own hint."""

import numpy as np
import torch
import torch.nn.functional as F

from qkv.exercises.training import PANELS
from qkv.numpy import cross_entropy, cross_entropy_backward, softmax
from tests.helpers.exercises import ExerciseAnswers

A, B = np.array([0.9, 0.9, 0.9, 0.01]), np.full(4, 0.5)
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
Y = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
COUNTS = np.array([[1], [1], [0]])


def four(*losses):
    """Loss and perplexity of each."""
    return [number for loss in losses for number in (loss, np.exp(loss))]


def mean_losses(*models, scale=1.0):
    return four(*[-scale * np.log(p).mean() for p in models])


def train(model, optimizer, source, target, steps):
    for _ in range(steps):
        logits = model(source, target[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def cleared_after_the_step(model, optimizer, source, target, steps):
    model.train()
    for _ in range(steps):
        logits = model(source, target[:, :-1]).transpose(1, 2)  # (B, V, T)
        loss = F.cross_entropy(logits, target[:, 1:], ignore_index=0)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return "trained"


def as_given(model, optimizer, source, target, steps, read=slice(1, None), ids=0, clear=True):
    """The loop that the chapter hands over, and others like it."""
    for _ in range(steps):
        logits = model(source, target[:, read])
        predict = target[:, 1:].flatten()
        loss = F.cross_entropy(logits.flatten(0, 1), predict, ignore_index=ids)
        loss.backward()
        if clear:
            optimizer.zero_grad()
        optimizer.step()
    return loss.item()


def repeats(model, optimizer, source, target, steps):
    for _ in range(steps):
        read = target[:, :-1]
        loss = F.cross_entropy(model(source, read).flatten(0, 1), read.flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def padding_counts(model, optimizer, source, target, steps):
    for _ in range(steps):
        loss = F.cross_entropy(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def reads_answers(model, optimizer, source, target, steps):
    answers = torch.cat([target[:, 1:], target[:, -1:]], 1)

    def leaking(source, _):
        return model(source, answers[:, :-1])

    return train(leaking, optimizer, source, target, steps)


def loss_and_gradient(logits, targets, pad_id, ignored=None, sign=1.0, scale=None):
    """Right; or with another id left out, another sign, the gradient of another mean."""
    options = {"ignore_index": pad_id if ignored is None else ignored}
    gradient = cross_entropy_backward(sign, logits, targets, **options)
    return cross_entropy(logits, targets, **options), gradient * (scale(targets) if scale else 1)


def overflows(logits, targets, pad_id):
    e = np.exp(logits)
    loss = -np.log(np.take_along_axis(e / e.sum(-1, keepdims=True), targets[..., None], -1)[..., 0])
    return loss[targets != pad_id].mean(), loss_and_gradient(logits, targets, pad_id)[1]


def naive_gradient(logits, targets, pad_id):
    """Right where e^z is finite; 0 where it is not."""
    words = (targets != pad_id)[..., None]
    e = np.exp(logits)
    p = np.nan_to_num(e / e.sum(-1, keepdims=True), nan=0.0)
    y = np.eye(logits.shape[-1])[targets]
    loss, _ = loss_and_gradient(logits, targets, pad_id)
    return loss, np.nan_to_num((p - y) * words / words.sum())


def with_eye(logits, targets, pad_id):
    """Right where each target, that of <PAD> too, is an index."""
    words = (targets != pad_id)[..., None]
    y = np.eye(logits.shape[-1])[targets]
    return loss_and_gradient(logits, targets, pad_id)[0], (
        softmax(logits) - y
    ) * words / words.sum()


def with_graph(logits, targets, pad_id):
    z = torch.tensor(logits, requires_grad=True)
    asked = torch.tensor(targets).flatten()
    loss = F.cross_entropy(z.flatten(0, 1), asked, ignore_index=pad_id)
    (gradient,) = torch.autograd.grad(loss, z, create_graph=True)
    return loss, gradient


def of_sentences(logits, targets, pad_id):
    each = [loss_and_gradient(z, t, pad_id)[0] for z, t in zip(logits, targets, strict=True)]
    return np.mean(each), loss_and_gradient(logits, targets, pad_id)[1]


def zero_and_counted(logits, targets, pad_id):
    loss, gradient = loss_and_gradient(logits, targets, pad_id)
    return loss * (targets != pad_id).mean(), gradient


def summed(logits, targets, pad_id):
    loss, gradient = loss_and_gradient(logits, targets, pad_id)
    return loss * (targets != pad_id).sum(), gradient


def negative(logits, targets, pad_id):
    loss, gradient = loss_and_gradient(logits, targets, pad_id)
    return -loss, gradient


def not_subtracted(logits, targets, pad_id):
    loss, _ = loss_and_gradient(logits, targets, pad_id)
    words = (targets != pad_id)[..., None]
    return loss, softmax(logits) * words / words.sum()


def padding_pulls(logits, targets, pad_id):
    loss, _ = loss_and_gradient(logits, targets, pad_id)
    return loss, loss_and_gradient(logits, targets, pad_id, ignored=-100)[1]


def diagnoses(**others):
    return PANELS | others


RIGHT = {
    "training-1": mean_losses(A, B),
    "training-2": (P - Y) * COUNTS / 2,
    "training-3": PANELS,
    "training-4": loss_and_gradient,
    "training-5": train,
    "training-6": [-1, 0.6390, 0.4019],
    "training-7": [2000, 16_000],
}
ALSO_RIGHT = {
    "two decimals": ("training-1", (1.23, 3.42, 0.69, 1.99)),
    "e to rounded losses": ("training-1", (1.23, np.exp(1.23), 0.693, 2)),
    "a row for each model": ("training-1", [[1.23, 3.42], [0.69, 2.0]]),
    "a list": ("training-3", list(PANELS.values())),
    "tensors with a graph": ("training-4", with_graph),
    "another form of a right loop": ("training-5", cleared_after_the_step),
    "three decimals": ("training-6", (-1.0, 0.639, 0.402)),
    "two decimals of a step": ("training-6", (-1, 0.64, 0.4)),
    "small letters": ("training-3", {k.lower(): v.upper() for k, v in PANELS.items()}),
    "another order": ("training-7", (16_000, 2000)),
}
WRONG = {
    "training-1": {
        "exchanged": mean_losses(B, A),
        "losses first": [*mean_losses(A, B)[::2], *mean_losses(A, B)[1::2]],
        "negative": mean_losses(A, B, scale=-1),
        "summed": mean_losses(A, B, scale=4),
        "mean before logarithm": four(-np.log(A.mean()), np.log(2)),
        "base 10": mean_losses(A, B, scale=1 / np.log(10)),
        "base 2": mean_losses(A, B, scale=1 / np.log(2)),
        "no logarithm": four(1 - A.mean(), 0.5),
        "2 to the loss": [1.23, 2**1.23, 0.69, 2**0.69],
        "two numbers": [1.23, 0.69],
        "other": [1, 2, 3, 4],
    },
    "training-2": {
        "y − p": (Y - P) * COUNTS / 2,
        "padding counts": (P - Y) / 3,
        "sum, padding counts": P - Y,
        "sum": (P - Y) * COUNTS,
        "divided by three": (P - Y) * COUNTS / 3,
        "row 2": (P - Y) / 2,
        "on p": -Y * COUNTS / P / 2,
        "shape": [0.25, 0.15, -0.4],
        "other": np.ones((3, 3)),
    },
    "training-3": {
        "A padding": diagnoses(A="loss on padding"),
        "A leak": diagnoses(A="leak"),
        "B high": diagnoses(B="rate too high"),
        "B padding": diagnoses(B="loss on padding"),
        "C pairs": diagnoses(C="few pairs"),
        "C high": diagnoses(C="rate too high"),
        "D healthy": diagnoses(D="healthy"),
        "A and D exchanged": diagnoses(A="leak", D="healthy"),
        "the training loss alone": diagnoses(B="healthy", D="healthy"),
        "unknown": diagnoses(D="magic"),
        "a string": "ABCD",
        "a list in another order": [*PANELS.values()][::-1],
    },
    "training-4": {
        "padding counts": lambda z, t, p: loss_and_gradient(z, t, p, ignored=-100),
        "mean over all": zero_and_counted,
        "summed": summed,
        "per sentence": of_sentences,
        "negative loss": negative,
        "y − p": lambda z, t, p: loss_and_gradient(z, t, p, sign=-1.0),
        "gradient of the sum": lambda z, t, p: loss_and_gradient(
            z, t, p, scale=lambda t: (t != p).sum()
        ),
        "gradient of another mean": lambda z, t, p: loss_and_gradient(
            z, t, p, scale=lambda t: (t != p).mean()
        ),
        "padding pulls": padding_pulls,
        "1 not subtracted": not_subtracted,
        "no index for −100": with_eye,
        "overflow": overflows,
        "overflow, in the gradient": naive_gradient,
        "one result": lambda z, t, p: loss_and_gradient(z, t, p)[0],
        "no mean": lambda z, t, p: (z[..., 0], z),
        "a transposed gradient": lambda z, t, p: (0.0, z.T),
        "always 1": lambda z, t, p: (1.0, z),
    },
    "training-5": {
        "as it was given": as_given,
        "one fault left": reads_answers,
        "not cleared": lambda *a: as_given(*a, read=slice(-1), clear=False),
        "padding counts": padding_counts,
        "repeats": repeats,
        "always three steps": lambda m, o, s, t, n: train(m, o, s, t, 3),
        "one step less": lambda m, o, s, t, n: train(m, o, s, t, n - 1),
        "no function": "train",
        "returns nothing": lambda *a: None,
    },
    "training-6": {
        "with the gradient": [1, -0.639, -0.402],
        "plain": [-1, 7, -1],
        "always η": [-1, 1, -1],
        "not corrected": [-0.707, 0.610, 0.449],
        "not corrected in steps 2 and 3": [-1, 0.610, 0.449],
        "m not corrected": [-0.1, 0.1214, 0.1089],
        "v not corrected": [-7.07, 3.211, 1.657],
        "m̂ with a minus": [-1, 3.211, 1.657],
        "m̂": [1, -3.211, -1.657],
        "by v̂": [-1, 0.1272, 0.0975],
        "positions": [-1, -0.361, 0.041],
        "last sign": [-1, 0.639, -0.402],
        "wrong signs": [-1, -0.639, -0.402],
        "two": [-1, 0.639],
        "other": [2, 2, 2],
    },
    "training-7": {
        "doubled": [2000, 8000],
        "a line": [2000, 6000],
        "root of two": [2000, 5657],
        "a quarter": [1000, 16_000],
        "one": [2000],
        "other": [100, 200],
    },
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong = RIGHT, ALSO_RIGHT, WRONG
