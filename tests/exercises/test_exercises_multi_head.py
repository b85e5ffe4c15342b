"""The exercises of "Multi-head attention": right answers pass; each mistake meets its own hint."""

import math
from fractions import Fraction

import numpy as np
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.exercises import ExerciseAnswers


def attend(x, memory, W_Q, W_K, W_V, W_O, n_heads, mask, fault=""):
    """The layer of the fourth exercise, or one with a fault."""

    def split(z):
        B, T, width = z.shape
        d = width // n_heads
        if fault in ("split", "both"):
            return z.reshape(B, n_heads, T, d)
        if fault == "turns":
            return z.reshape(B, T, d, n_heads).transpose(0, 3, 1, 2)
        return z.reshape(B, T, n_heads, d).swapaxes(1, 2)

    keys = x if fault == "memory" else memory
    q, k, v = split(x @ W_Q), split(keys @ W_K), split(keys @ W_V)
    width = {"scale": x.shape[-1], "no scale": 1}.get(fault, q.shape[-1])
    scores = q @ k.swapaxes(2, 3) / width**0.5
    if fault not in ("no mask", "memory"):
        allowed = mask[:, None, None]
        allowed = ~allowed if fault == "inverted" else allowed
        allowed = mask[:1, None, None] if fault == "first sentence" else allowed
        scores = np.where(allowed, scores, -np.inf)
    weights = qn.softmax(scores)
    if fault == "heads":  # the mask of sentence h for head h, where shapes allow
        scores = q @ k.swapaxes(2, 3) / width**0.5
        weights = qn.softmax(np.where(mask[:, None], scores, -np.inf))
    allowed = mask[:, None, None]
    if fault == "mask after":
        weights = qn.softmax(q @ k.swapaxes(2, 3) / width**0.5) * allowed
    if fault == "mask times":
        weights = qn.softmax(q @ k.swapaxes(2, 3) / width**0.5 * allowed)
    if fault == "mask of -10":
        weights = qn.softmax(q @ k.swapaxes(2, 3) / width**0.5 - 10 * ~allowed)
    context = weights @ v
    merged = context if fault in ("merge", "both") else context.swapaxes(1, 2)
    merged = merged.reshape(x.shape)
    return merged if fault == "no W_O" else merged @ W_O


def with_fault(fault):
    return lambda *inputs: attend(*inputs, fault=fault)


def by_loop(x, memory, W_Q, W_K, W_V, W_O, n_heads, mask):
    outputs = []
    for q, k, v in zip(*(np.split(W, n_heads, axis=1) for W in (W_Q, W_K, W_V)), strict=True):
        scores = (x @ q) @ (memory @ k).mT / np.sqrt(q.shape[1])  # float64 from float32 too
        outputs.append(qn.softmax(scores - 1e9 * ~mask[:, None]) @ (memory @ v))
    return np.concatenate(outputs, axis=-1) @ W_O


def by_package(x, memory, W_Q, W_K, W_V, W_O, n_heads, mask):
    layer = qn.MultiHeadAttention(x.shape[-1], n_heads, bias=False, dtype=x.dtype)
    for name, value in zip(("w_q", "w_k", "w_v", "w_o"), (W_Q, W_K, W_V, W_O), strict=True):
        getattr(layer, name).params["weight"][:] = value
    if mask is None:
        return layer(x, causal=True)[0]
    return layer(x, memory, mask=mask[:, None, None])[0]


def by_torch(*inputs):
    *arrays, n_heads, mask = inputs
    x, memory, W_Q, W_K, W_V, W_O = map(torch.tensor, arrays)
    q, k, v = (
        z.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        for z in (x @ W_Q, memory @ W_K, memory @ W_V)
    )
    allowed = torch.tensor(mask)[:, None, None]
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return out.transpose(1, 2).flatten(2) @ W_O


def in_float32(x, memory, *weights_and_rest):
    *weights, n_heads, mask = weights_and_rest
    x, memory, *weights = (z.astype(np.float32) for z in (x, memory, *weights))
    return attend(x, memory, *weights, n_heads, mask)


def causal(x, W_Q, W_K, W_V, W_O, n_heads, fault=""):
    """The layer of the fifth exercise, by one head after the other; or one with a fault."""
    B, T, width = x.shape
    context = []
    for q, k, v in zip(*(np.split(W, n_heads, axis=1) for W in (W_Q, W_K, W_V)), strict=True):
        scores = (x @ q) @ (x @ k).mT / math.sqrt(q.shape[1])
        scores = np.where(np.tri(T, dtype=bool) | (fault == "no mask"), scores, -np.inf)
        context.append(qn.softmax(scores) @ (x @ v))
    if fault == "merge":
        return np.stack(context, axis=1).reshape(B, T, width) @ W_O
    if fault == "turns":
        return np.stack(context, axis=-1).reshape(B, T, width) @ W_O
    return np.concatenate(context, axis=-1) @ W_O


def mended_values(x, W_Q, W_K, W_V, W_O, n_heads):
    """Two wrong reshapes, the second to undo the first."""
    B, T, width = x.shape
    axes = B, T, n_heads, width // n_heads
    q, k = ((x @ W).reshape(axes).swapaxes(1, 2) for W in (W_Q, W_K))
    v = (x @ W_V).reshape(B, n_heads, T, -1)
    context, _ = qn.scaled_dot_product_attention(q, k, v, causal=True)
    return context.reshape(B, T, width) @ W_O


def both_at_once(x, W_Q, W_K, W_V, W_O, n_heads):
    """Split and merge without a swap: nothing leaks, and half of the words are not seen."""
    B, T, width = x.shape
    q, k, v = ((x @ W).reshape(B, n_heads, T, -1) for W in (W_Q, W_K, W_V))
    context, _ = qn.scaled_dot_product_attention(q, k, v, causal=True)
    return context.reshape(B, T, width) @ W_O


def w_o(*off_rows, columns=slice(None)):
    matrix = np.arange(1.0, 37).reshape(6, 6)
    matrix[list(off_rows), columns] = 0
    return matrix


RIGHT = {
    "multi_head-1": [20, -1],
    "multi_head-2": (2_359_296, 4_718_592),
    "multi_head-3": [[0.3, 0.2, 0.3, 0.2], [0.1, 0.2, 0.1, 0.6]],
    "multi_head-4": attend,
    "multi_head-6": w_o(3, 4, 5),
    "multi_head-7": 4,
    "multi_head-5": causal,
}
WRONG = {
    "multi_head-1": {
        "joined": [6, 7],
        "other order": [7, 6],
        "transposed": [13, 5],
        "averaged": [6.5, 6.5],
        "values exchanged": [6, 0],
        "one number": 20,
        "anything": [1, 2],
    },
    "multi_head-2": {
        "no W_O": (1_769_472, 3_538_944),
        "twelve full heads": (28_311_552, 56_623_104),
        "biases": (2_362_368, 4_724_736),
        "one head": (196_608, 393_216),
        "d_k halved": (2_359_296, 2_359_296),
        "W_O as before": (2_359_296, 4_128_768),
        "one number": 2_359_296,
        "anything": (1, 2),
        "anything second": (2_359_296, 3),
    },
    "multi_head-3": {
        "same row": [[0.3, 0.2, 0.3, 0.2]] * 2,
        "two heads as in the text": [[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1]],
        "one tied": [[0.3, 0.2, 0.3, 0.2], [0.6, 0.2, 0.1, 0.1]],
        "other weights on chase": [[0.4, 0.1, 0.4, 0.1], [0.1, 0.1, 0.1, 0.7]],
        "no sum": [[1, 0, 1, 0], [0, 0, 0, 1]],
        "one row": [0.3, 0.2, 0.3, 0.2],
        "words": "equal",
    },
    "multi_head-4": {
        fault: with_fault(fault)
        for fault in (
            *("split", "turns", "merge", "scale", "memory", "inverted", "heads"),
            *("no scale", "no W_O", "no mask", "first sentence", "both"),
            *("mask after", "mask times", "mask of -10"),
        )
    }
    | {"a number": 3, "other shape": lambda x, *_: x[:, :, :2]},
    "multi_head-6": {
        "columns": w_o(*range(6), columns=slice(3, 6)),
        "head 1": w_o(0, 1, 2),
        "nothing": w_o(),
        "head 2 in part": w_o(4, 5),
        "head 1 changed": np.diag([1, 1, 1, 0, 0, 0]),
        "both": np.zeros((6, 6)),
        "shape": np.zeros((3, 6)),
    },
    "multi_head-7": {
        "32 heads": 16,
        "keys only": 2,
        "a factor 2 too many": 8,
        "a factor 2 too many, 32 heads": 32,
        "one layer": 1 / 8,
        "bytes": 4 * 2**30,
        "gigabytes": 4.29,
        "anything": 4.1,
    },
    "multi_head-5": {
        fault: lambda *inputs, fault=fault: causal(*inputs, fault=fault)
        for fault in ("merge", "no mask")
    }
    | {"two faults": mended_values, "both": both_at_once, "an array": np.zeros(3)},
}
ALSO_RIGHT = {
    "a column vector of whole numbers": ("multi_head-1", np.array([[20], [-1]])),
    "floats": ("multi_head-2", [2_359_296.0, 4_718_592.0]),
    "fractions": (
        "multi_head-3",
        ((Fraction(4, 15), Fraction(1, 5), Fraction(4, 15), Fraction(4, 15)), (0, 0.2, 0, 0.8)),
    ),
    "rounded": ("multi_head-3", np.float32([[0.27, 0.2, 0.27, 0.26], [0.2, 0.2, 0.2, 0.4]])),
    "by a loop": ("multi_head-4", by_loop),
    "by the package": ("multi_head-4", by_package),
    "by torch": ("multi_head-4", by_torch),
    "in float32": ("multi_head-4", in_float32),
    "nearly the same rows": (
        "multi_head-3",
        [[0.3, 0.2, 0.3, 0.2], [0.31, 0.2, 0.31, 0.18]],
    ),
    "by the package, causal": (
        "multi_head-5",
        lambda x, *rest: by_package(x, x, *rest, None),
    ),
}

ALSO_WRONG = {
    "both factors": ("multi_head-7", 1),
    "nearly tied": ("multi_head-3", [[0.3, 0.2, 0.31, 0.19], [0.1, 0.2, 0.1, 0.6]]),
    "nouns tied across the heads": (
        "multi_head-3",
        [[0.2, 0.3, 0.4, 0.1], [0.2, 0.1, 0.4, 0.3]],
    ),
    "negative": ("multi_head-3", [[0.5, 0.2, 0.5, -0.2], [0.1, 0.2, 0.1, 0.6]]),
    "three numbers": ("multi_head-3", [[0.4, 0.2, 0.4], [0.1, 0.8, 0.1]]),
    "no layer": ("multi_head-5", lambda x, *_: x),
    "heads in turn": ("multi_head-5", lambda *inputs: causal(*inputs, fault="turns")),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


def test_the_two_rooms_agree_with_the_counts_of_the_second_exercise():
    layer = qt.MultiHeadAttention(768, 12, bias=False)
    assert sum(p.numel() for p in layer.parameters()) == RIGHT["multi_head-2"][0]
    wide = qt.MultiHeadAttention(768, 24, 64, bias=False)
    assert sum(p.numel() for p in wide.parameters()) == RIGHT["multi_head-2"][1]


def test_the_faulty_layer_of_the_fifth_exercise_leaks_as_the_question_says():
    rng = np.random.default_rng(0)
    x, replaced = rng.normal(size=(2, 1, 4, 6))
    replaced[:, :3] = x[:, :3]  # word 3 alone
    weights = rng.normal(size=(4, 6, 6))
    change = causal(replaced, *weights, 2, fault="merge") - causal(x, *weights, 2, fault="merge")
    assert np.flatnonzero(np.abs(change[0]).max(1) > 1e-9).tolist() == [1, 3]
