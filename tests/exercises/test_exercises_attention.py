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


def against_package(attention):
    q, k, v = np.random.default_rng(0).normal(size=(3, 5, 4))
    return np.allclose(attention(q, k, v), qn.scaled_dot_product_attention(q, k, v)[0])


def rows_stay_within_values(attention):
    q, k, v = np.random.default_rng(0).normal(size=(3, 5, 4))
    return bool((attention(q, k, v) <= v.max(axis=0) + 1e-9).all())


def same_q_and_k(attention):
    q, v = np.random.default_rng(0).normal(size=(2, 5, 4))
    return np.allclose(attention(q, q, v), qn.scaled_dot_product_attention(q, q, v)[0])


def width_one(attention):
    q, k = np.random.default_rng(0).normal(size=(2, 5, 1))
    return np.allclose(attention(q, k, k), qn.scaled_dot_product_attention(q, k, k)[0])


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


RIGHT = {
    "attention-1": [[0.25, 0.75], np.array([1, 3]) / 4],
    "attention-2": [8.81, 10 * math.e**2 / (math.e**2 + 1)],
    "attention-3": [(False, True, False), [0, 1, 0]],
    "attention-4": [against_package],
    "attention-5": [softmax_out],
    "attention-6": [np.zeros((6, 2)), np.outer([0, 1, 0, -1, -1, -1], [1, 2])],
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
        (lambda attention: True, "d_k be above 1"),
        (lambda attention: False, "tolerance"),
        (lambda attention: None, "return statement"),
        (width_one, "d_k be above 1"),
        (rows_stay_within_values, "d_k be above 1"),
        (same_q_and_k, "not the keys"),
        (lambda attention: attention(*np.ones((3, 2, 2))) == np.ones(3), "a pair"),
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
        (lambda q, k, v: softmax_out(q, k, v, turn=np.transpose), "swapaxes"),
        (lambda q, k, v: softmax_out(q, k, v).T, "One mix"),
        (lambda q, k: q, "small example"),
    ],
    "attention-6": [
        (np.eye(6)[:, :2], "all eight scores"),
        (np.ones((6, 2)), "not zero"),
        (np.arange(12).reshape(6, 2), "every pair"),
        (np.zeros((2, 6)), "Count the axes"),
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
