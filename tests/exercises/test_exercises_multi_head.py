"""The exercises of "Multi-head attention": right answers pass; each mistake meets its own hint."""

import numpy as np

import qkv.torch as qt
from qkv.numpy import merge_heads
from tests.helpers.exercises import ExerciseAnswers


def merged(context):
    B, H, T, d = context.shape
    return context.swapaxes(1, 2).reshape(B, T, H * d)


def joined(context):
    return np.concatenate([context[:, h] for h in range(context.shape[1])], axis=-1)


def direct(context):
    B, H, T, d = context.shape
    return context.reshape(B, T, H * d)


def taking_turns(context):
    B, H, T, d = context.shape
    return context.transpose(0, 2, 3, 1).reshape(B, T, H * d)


def w_o(*off_rows, columns=slice(None)):
    matrix = np.arange(1.0, 37).reshape(6, 6)
    matrix[list(off_rows), columns] = 0
    return matrix


def destroying(context):
    out = merged(context)
    context[:] = 0
    return out


def four_heads_at_most(context):
    return merged(context) if context.shape[1] <= 4 else joined(context[:, ::-1])


RIGHT = {
    "multi_head-1": [20, -1],
    "multi_head-2": (2_359_296, 4_718_592),
    "multi_head-3": "AC",
    "multi_head-4": merged,
    "multi_head-5": w_o(3, 4, 5),
    "multi_head-6": 4,
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
    "multi_head-3": {"B": "ABC", "D": "ACD", "E": "ACE", "only A": "A", "words": "yes"},
    "multi_head-4": {
        "direct": direct,
        "taking turns": taking_turns,
        "reversed": lambda context: joined(context[:, ::-1]),
        "words not first": lambda context: context.swapaxes(1, 2),
        "rounded": lambda context: merged(context).round(2),
        "input destroyed": destroying,
        "the package's": merge_heads,
        "first head twice": lambda context: joined(np.repeat(context[:, :1], context.shape[1], 1)),
    },
    "multi_head-5": {
        "columns": w_o(*range(6), columns=slice(3, 6)),
        "head 1": w_o(0, 1, 2),
        "nothing": w_o(),
        "head 2 in part": w_o(4, 5),
        "head 1 changed": np.diag([1, 1, 1, 0, 0, 0]),
        "both": np.zeros((6, 6)),
        "shape": np.zeros((3, 6)),
    },
    "multi_head-6": {
        "32 heads": 16,
        "keys only": 2,
        "one layer": 1 / 8,
        "bytes": 4 * 2**30,
        "gigabytes": 4.29,
        "anything": 4.1,
    },
}
ALSO_RIGHT = {
    "by concatenation": ("multi_head-4", joined),
}

ALSO_WRONG = {
    "whole numbers alone": ("multi_head-4", lambda c: merged(c).astype(int)),
    "few heads alone": ("multi_head-4", four_heads_at_most),
    "both factors": ("multi_head-6", 1),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


def test_the_two_rooms_agree_with_the_counts_of_the_second_exercise():
    layer = qt.MultiHeadAttention(768, 12, bias=False)
    assert sum(p.numel() for p in layer.parameters()) == RIGHT["multi_head-2"][0]
    wide = qt.MultiHeadAttention(768, 24, 64, bias=False)
    assert sum(p.numel() for p in wide.parameters()) == RIGHT["multi_head-2"][1]
