"""Every check of the chapter on attention: right once, wrong in each typical way."""

import math
from typing import ClassVar

import numpy as np

import qkv.numpy as qn
from tests.helpers.exercises import ExerciseAnswers


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


def without_a_sum(attention):
    q, k, v = inputs()
    alone = [attention(row[None], k, v)[0] for row in q]
    shown = attention(q, k, np.eye(7))
    same = np.allclose(alone, attention(q, k, v), atol=1e-5) and (shown > -1e-9).all()
    order = np.random.default_rng(1).permutation(7)
    moved = np.allclose(attention(q, k[order], v[order]), attention(q, k, v), atol=1e-5)
    return bool(same and moved and is_blind_to_any(attention))


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
    q, k, v = inputs()
    together = attention(q, k, v)
    alone = [attention(row[None], k, v)[0] for row in q]
    return any_order(attention) and np.allclose(alone, together, atol=1e-5)


def with_doubled_values(attention):
    return has_shares(attention) and is_blind(attention) and follows_order(attention)


SQUARE = ([[1.0], [0.0]], [[2.0], [0.0]], [[1.0], [0.0]])


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


def reversed_order(attention):
    return has_shares(attention) and is_blind_to_any(attention) and follows_order(attention)


def last_two_exchanged(attention):
    q, k, v = inputs()
    order = [0, 1, 2, 3, 4, 6, 5]
    same = np.allclose(attention(q, k[order], v[order]), attention(q, k, v), atol=1e-5)
    return has_shares(attention) and is_blind_to_any(attention) and same


def any_order(attention):
    q, k, v = inputs()
    order = np.random.default_rng(1).permutation(7)
    same = np.allclose(attention(q, k[order], v[order]), attention(q, k, v), atol=1e-5)
    return has_shares(attention) and is_blind_to_any(attention) and same


def in_whole_numbers(attention):
    q, k, _ = inputs()
    v = np.arange(14).reshape(7, 2)
    weights = attention(q, k, np.eye(7, dtype=int))
    return all_properties(attention) and np.allclose(attention(q, k, v), weights @ v, atol=1e-4)


aliased = qn.scaled_dot_product_attention


def by_alias(q, k, v):
    return aliased(q, k, v)[0]


def by_softmax_of_the_package(q, k, v):
    return qn.softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])) @ v


def by_own_helper(q, k, v):
    return by_softmax_of_the_package(q, k, v)


def by_import(q, k, v):
    import qkv.numpy

    return qkv.numpy.scaled_dot_product_attention(q, k, v)[0]


def by_torch(q, k, v):
    import torch

    tensors = (torch.tensor(x) for x in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(*tensors).numpy()


dot = qn.scaled_dot_product_attention  # the chapter has this name too


def by_dot(q, k, v):
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / math.sqrt(np.dot(q.shape[-1], 1))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def broken(q, k, v):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1) @ v


def repaired(q, k, v):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1)[:, None] @ v


def repaired_for_four(q, k, v):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1).reshape(4, 1) @ v


def repaired_after_an_error(q, k, v):
    try:
        return broken(q, k, v)
    except ValueError:
        return repaired(q, k, v)


def repaired_for_width_two(q, k, v):
    return repaired(q * math.sqrt(q.shape[-1] / 2), k, v)


def repaired_by_loops(q, k, v):
    rows = []
    for query in q:
        e = [math.exp(query @ key / math.sqrt(len(query))) for key in k]
        rows.append(sum(x * value for x, value in zip(e, v, strict=True)) / sum(e))
    return rows


def one_at(row, number):
    w = np.zeros((6, 1))
    w[row] = number
    return w


def root_of_three(q, k, v):
    return softmax_out(q * math.sqrt(q.shape[-1] / 3), k, v)


def root_of_values(q, k, v):
    return softmax_out(q * math.sqrt(q.shape[-1] / (v.shape[-1] + 1)), k, v)


def by_numpys_root(q, k, v):
    return softmax_out(q / np.sqrt(q.shape[-1]), k, v, scale=False)


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


class TestAnswers(ExerciseAnswers):
    quoted = True
    right: ClassVar = {
        "attention-1": [0.25, 0.75],
        "attention-2": 10 * math.e**2 / (math.e**2 + 1),
        "attention-6": (False, True, False),
        "attention-8": all_properties,
        "attention-4": softmax_out,
        "attention-3": (one_at(0, 3), one_at(5, 3)),
        "attention-7": [5, 0, 10],
        "attention-5": (repaired, *SQUARE),
    }
    also_right: ClassVar = {
        "two decimals": ("attention-2", 8.81),
        "tried in float32": ("attention-8", in_float32),
        "tried with whole numbers": ("attention-8", in_whole_numbers),
        "float64 for float32": ("attention-4", always_float64),
        "the root by NumPy": ("attention-4", by_numpys_root),
        "three rows of other widths": (
            "attention-5",
            (
                repaired,
                np.eye(3, 4) * [[1], [2], [3]],
                np.eye(3, 4),
                np.arange(6).reshape(3, 2),
            ),
        ),
        "repaired with loops": ("attention-5", (repaired_by_loops, *SQUARE)),
        "repaired in another way": ("attention-5", [softmax_out, *SQUARE]),
        "two columns, other zeros": (
            "attention-3",
            [[[4, 0], *[[0, 0]] * 5], np.array([[0, 5], *[[0, 0]] * 4, [4, 7]])],
        ),
        "a method called dot": ("attention-4", by_dot),
        "float32 for float64": ("attention-4", always_float32),
        "ones and zeros": ("attention-6", [0, 1, 0]),
        "equal values": ("attention-5", (repaired, *SQUARE[:2], [[1.0], [1.0]])),
        "arrays of whole numbers": ("attention-5", [repaired, *(np.array(x, int) for x in SQUARE)]),
        "vectors": ("attention-7", np.array([[1.0, 1], [2, 0], [0, 2]])),
        "a negative value": ("attention-7", [0, 1, -1]),
        "thirds to three digits": ("attention-7", [0.333, 0, 0.667]),
    }
    wrong: ClassVar = {
        "attention-1": {
            "divided by something": [0, math.log(3)],
            "share out": [1, 3],
            "power of 0": [0, 1],
            "larger score": [0.75, 0.25],
            "no scale": [0.315, 0.685],
            "ln 3 is 3": [0.5, 0.5],
            "Count the axes": [0.25, 0.25, 0.5],
        },
        "attention-2": {
            "stands a division": 9.82,
            "√4 is not 4": 7.31,
            "between 0 and 10": 20,
            "agree with": 1.19,
            "share of something": 0.88,
            "in order": 5,
            "number or an array": "8.81",
        },
        "attention-6": {
            "the same number": (True, True, False),
            "stand inside the softmax": (False, False, False),
            "This choice": (False, True, True),
            "One for the keys": (False, True),
            "whether they do": [0, 2, 0],
        },
        "attention-8": {
            "same value": lambda attention: True,
            "one by one": lambda attention: False,
            "return statement": lambda attention: None,
            "whatever the score is": against_package,
            "with a tolerance": bit_for_bit,
            "some are negative": same_value_returns,
            "Double all values": has_shares,
            "Shuffle the keys": lambda a: has_shares(a) and is_blind_to_any(a),
            "where it stood": last_two_exchanged,
            "without a pattern": reversed_order,
            "random other values": with_doubled_values,
            "ask alone": any_order,
            "counts as attention": not_the_average,
            "the output alone": lambda attention: attention(*np.ones((3, 2, 2)))[0, 0, 0],
            "without calling": True,
        },
        "attention-4": {
            "What is d_k": lambda q, k, v: softmax_out(q, k, v, scale=False),
            "share out 1": lambda q, k, v: softmax_out(q, k, v, axis=-2),
            "step by step": lambda q, k, v: q @ k.T @ v,  # 000-S: (QKᵀ)V
            "own largest score": lambda q, k, v: softmax_out(q, k, v, shift=False),
            "width of a key": root_of_keys,
            "a root in the formula": divided_by_d_k,
            "shares of 1": no_softmax,
            "output alone": qn.scaled_dot_product_attention,
            "NumPy alone": lambda q, k, v: qn.scaled_dot_product_attention(q, k, v)[0],
            "swapaxes": lambda q, k, v: softmax_out(q, k, v, turn=np.transpose),
            "One mix": lambda q, k, v: softmax_out(q, k, v).T,
            "small example": lambda q, k: q,
            "half precision": only_in_float64,
            "makes a new array": in_place,
            "which axis of which array": root_of_three,
        },
        "attention-3": {
            "(W_Q, W_K)": np.zeros((6, 1)),
            "the same width": (np.zeros((6, 2)), np.zeros((6, 1))),
            "Small whole numbers": (one_at(0, math.inf), one_at(5, 1)),
            "looks for": (one_at(5, 3), one_at(0, 3)),
            "score larger": (one_at(0, 1), one_at(5, 1)),
            "in common": (one_at(0, 5), one_at(1, 5)),
            "looks for nothing": (one_at(0, 3) + one_at(2, 3), one_at(5, 3)),
            "Give a number": ("q", "k"),
        },
        "attention-7": {
            "values that differ": [1, 1, 1],
            "weights ½ and ½": [0, 1, 1],
            "other two": [5, 0, 0],
            "One number for each key": [1, 2],
            "Give a number": "none",
        },
        "attention-5": {
            "(repaired, q, k, v)": SQUARE,
            "has two rows": (repaired, [1, 0], [2, 0], [1, 0]),
            "as wide as a key": (repaired, *SQUARE[:2], [[1.0], [0.0], [2.0]]),
            "Small whole numbers": (repaired, [[math.inf], [0.0]], *SQUARE[1:]),
            "that of its sum": (repaired, [[1.0], [0.0], [0.0]], *SQUARE[1:]),
            "several rows": (repaired, [[1.0]], [[2.0]], [[1.0]]),
            "What if they are equal": (repaired, [[1.0], [1.0]], *SQUARE[1:]),
            "Give a number": (repaired, "q", "k", "v"),
            "would fit": (broken, *SQUARE),
            "its own sum": (root_of_values, *SQUARE),
            "without calling": (None, *SQUARE),
        },
    }
    also_wrong: ClassVar = {
        "weights without a sum": ("attention-8", without_a_sum),
        "repaired for four queries only": ("attention-5", (repaired_for_four, *SQUARE)),
        "repaired only where it raised": ("attention-5", (repaired_after_an_error, *SQUARE)),
        "repaired for d_k = 2 only": ("attention-5", (repaired_for_width_two, *SQUARE)),
        "between the values": ("attention-8", between_the_values),
        "doubled values alone": ("attention-8", is_blind),
        "the package under another name": ("attention-4", by_alias),
        "the package itself": ("attention-4", qn.additive_attention),
        "the package's softmax": ("attention-4", by_softmax_of_the_package),
        "a helper that calls the package": ("attention-4", by_own_helper),
        "the package, imported inside": ("attention-4", by_import),
        "the root of the values' width and one": ("attention-4", root_of_values),
        "equal sums": (
            "attention-5",
            (repaired, np.eye(3), 2 * np.eye(3), np.arange(6).reshape(3, 2)),
        ),
        "one query, two keys": ("attention-5", (repaired, [[1.0]], *SQUARE[1:])),
        "by PyTorch": ("attention-4", by_torch),
        "an infinite value": ("attention-7", [math.inf, 0, 1]),
        "one maximum for all rows": ("attention-4", global_maximum),
        "in float16": (
            "attention-4",
            lambda q, k, v: softmax_out(*(x.astype(np.float16) for x in (q, k, v))),
        ),
        "nearly equal": ("attention-7", [5, 5, 5.0001]),
        "a hundredth apart": ("attention-7", [5, 4.99, 5.01]),
        "a mean left out, far from 0": ("attention-7", [100, 100, 101]),
        "a mean that is half a percent off": ("attention-7", [1000, 0, 2010]),
        "a mean that is off in its last digit": ("attention-7", [10, 0, 20.1]),
        "small values": ("attention-7", [0.055, 0, 0.1]),
    }
