"""Every check of the chapter on attention: right once, wrong in each typical way."""

import math

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.exercises import check
from qkv.exercises.checks import load_exercises


def softmax_out(q, k, v, *, scale=True, axis=-1, shift=True, turn=None):
    kt = turn(k) if turn else np.swapaxes(k, -1, -2)
    scores = q @ kt / (math.sqrt(q.shape[-1]) if scale else 1)
    e = np.exp(scores - scores.max(axis=axis, keepdims=True) * shift)
    return e / e.sum(axis=axis, keepdims=True) @ v


def inputs():
    rng = np.random.default_rng(0)
    return (rng.normal(size=shape) for shape in ((5, 3), (7, 3), (7, 2)))


def in_float32(attention):
    q, k, v = (x.astype(np.float32) for x in inputs())
    weights = attention(q, k, np.eye(7, dtype=np.float32))
    mix = np.allclose(attention(q, k, v), weights @ v, atol=1e-4)
    return mix and all_properties(attention)


def has_shares(attention):
    weights = attention(*list(inputs())[:2], np.eye(7))
    return bool(np.allclose(weights.sum(axis=1), 1) and (weights > -1e-9).all())


def is_blind(attention):
    q, k, v = inputs()
    return np.allclose(attention(q, k, 2 * v), 2 * attention(q, k, v), atol=1e-5)


def is_blind_to_any(attention):
    q, k, v = inputs()
    return np.allclose(attention(q, k, v), attention(q, k, np.eye(7)) @ v, atol=1e-5)


def follows_order(attention):
    q, k, v = inputs()
    return np.allclose(attention(q, k[::-1], v[::-1]), attention(q, k, v), atol=1e-5)


def all_properties(attention):
    return has_shares(attention) and is_blind_to_any(attention) and follows_order(attention)


def with_doubled_values(attention):
    return has_shares(attention) and is_blind(attention) and follows_order(attention)


def not_the_average(attention):
    q, k, v = inputs()
    return all_properties(attention) and not np.allclose(attention(q, k, v), v.mean(axis=0))


def against_package(attention):
    q, k, v = inputs()
    right, _ = qn.scaled_dot_product_attention(q, k, v)
    return np.allclose(attention(q, k, v), right, atol=1e-5)


def same_value_returns(attention):
    q, k, _ = inputs()
    same = np.ones((7, 2))
    return np.allclose(attention(q, k, same), np.ones((5, 2))) and is_blind(attention)


def between_the_values(attention):
    q, k, v = inputs()
    out = attention(q, k, v)
    return bool((out <= v.max(axis=0) + 1e-6).all() and (out >= v.min(axis=0) - 1e-6).all())


def bit_for_bit(attention):
    q, k, v = inputs()
    return np.array_equal(attention(q, k, v), attention(q, k, np.eye(7)) @ v)


def global_maximum(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    e = np.exp(scores - scores.max())
    return e / e.sum(axis=-1, keepdims=True) @ v


def root_of_keys(q, k, v):
    return softmax_out(q * math.sqrt(q.shape[-1] / len(k)), k, v)


def divided_by_d_k(q, k, v):
    return softmax_out(q / math.sqrt(q.shape[-1]), k, v)


def no_softmax(q, k, v):
    return q @ k.T / math.sqrt(q.shape[-1]) @ v


def only_in_float64(q, k, v):
    right = softmax_out(q, k, v)
    return right if right.dtype == np.float64 else right.astype(int)


def in_place(q, k, v):
    q /= math.sqrt(q.shape[-1])
    return softmax_out(q, k, v, scale=False)


def always_float64(q, k, v):
    return softmax_out(q, k, v).astype(np.float64)


def always_float32(q, k, v):
    return softmax_out(q, k, v).astype(np.float32)


RIGHT = {
    "attention-1": [[0.25, 0.75], np.array([1, 3]) / 4],
    "attention-2": [8.81, 10 * math.e**2 / (math.e**2 + 1)],
    "attention-3": [(False, True, False), [0, 1, 0]],
    "attention-4": [all_properties, in_float32],
    "attention-5": [softmax_out],
    "attention-6": [np.zeros((6, 2)), np.outer([0, 1, 0, -1, -1, -1], [1, 2])],
    "attention-7": [[5, 0, 10], np.array([[1.0, 1], [2, 0], [0, 2]]), [0, 1, -1]],
}
# Answer → a word of the hint it must get. Hints are told apart below.
WRONG = {
    "attention-1": [
        ([0, math.log(3)], "divided by something"),
        ([1, 3], "share out"),
        ([0, 1], "power of 0"),
        ([0.75, 0.25], "larger score"),
        ([0.315, 0.685], "no scale"),
        ([0.5, 0.5], "ln 3 is 3"),
        ([0.25, 0.25, 0.5], "Count the axes"),
    ],
    "attention-2": [
        (9.82, "stands a division"),
        (7.31, "√4 is not 4"),
        (20, "between 0 and 10"),
        (1.19, "agree with"),
        (0.88, "share of something"),
        (5, "in order"),
        ("8.81", "number or an array"),
    ],
    "attention-3": [
        ((True, True, False), "same number"),
        ((False, False, False), "same for each j"),
        ((False, True, True), "inside the softmax"),
        ((False, True), "One for the keys"),
    ],
    "attention-4": [
        (lambda attention: True, "same value"),
        (lambda attention: False, "one by one"),
        (lambda attention: None, "return statement"),
        (against_package, "whatever the score is"),
        (bit_for_bit, "with a tolerance"),
        (between_the_values, "same value"),
        (is_blind, "same value"),
        (same_value_returns, "some are negative"),
        (has_shares, "Double all values"),
        (
            lambda attention: has_shares(attention) and is_blind_to_any(attention),
            "Shuffle the keys",
        ),
        (with_doubled_values, "random other values"),
        (not_the_average, "counts as attention"),
        (lambda attention: attention(*np.ones((3, 2, 2)))[0, 0, 0], "the output alone"),
        (True, "without calling"),
    ],
    "attention-5": [
        (lambda q, k, v: softmax_out(q, k, v, scale=False), "What is d_k"),
        (lambda q, k, v: softmax_out(q, k, v, axis=-2), "share out 1"),
        (lambda q, k, v: q @ k.T @ v, "step by step"),  # 000-S: (QKᵀ)V
        (lambda q, k, v: softmax_out(q, k, v, shift=False), "own largest score"),
        (global_maximum, "own largest score"),
        (root_of_keys, "width of a key"),
        (divided_by_d_k, "a root in the formula"),
        (no_softmax, "shares of 1"),
        (qn.scaled_dot_product_attention, "output alone"),
        (lambda q, k, v: qn.scaled_dot_product_attention(q, k, v)[0], "NumPy alone"),
        (lambda q, k, v: softmax_out(q, k, v, turn=np.transpose), "swapaxes"),
        (lambda q, k, v: softmax_out(q, k, v).T, "One mix"),
        (lambda q, k: q, "small example"),
        (lambda q, k, v: softmax_out(*(x.astype(np.float16) for x in (q, k, v))), "step by step"),
        (only_in_float64, "half precision"),
        (in_place, "makes a new array"),
        (always_float64, "widens float32"),
        (always_float32, "widens float32"),
    ],
    "attention-6": [
        (np.eye(6)[:, :2], "all eight scores"),
        (np.ones((6, 2)), "not zero"),
        (np.arange(12).reshape(6, 2), "every pair"),
        (np.zeros((2, 6)), "Count the axes"),
    ],
    "attention-7": [
        ([1, 1, 1], "values that differ"),
        ([5, 5, 5.0001], "values that differ"),
        ([5, 4.99, 5.01], "values that differ"),
        ([0, 1, 1], "weights ½ and ½"),
        ([5, 0, 0], "other two"),
        ([1, 2], "One number for each key"),
        ("none", "Give a number"),
    ],
}


def cases(table):
    return [pytest.param(n, a, id=f"{n}-{i}") for n in table for i, a in enumerate(table[n])]


def test_each_exercise_is_tried():
    assert set(load_exercises("attention")) == set(RIGHT) == set(WRONG)
    assert all(len(answers) >= 3 for answers in WRONG.values())


@pytest.mark.parametrize(("name", "answer"), cases(RIGHT))
def test_right(name, answer):
    verdict = check(name, answer)
    assert verdict, repr(verdict)


@pytest.mark.parametrize(("name", "answer_and_hint"), cases(WRONG))
def test_wrong_gets_its_own_hint(name, answer_and_hint):
    answer, hint = answer_and_hint
    with np.errstate(all="ignore"):
        verdict = check(name, answer)
    assert verdict.state == "wrong", repr(verdict)
    assert hint in verdict.hint, repr(verdict)


@pytest.mark.parametrize("name", WRONG)
def test_open(name):
    assert check(name, ...).state == "open"
