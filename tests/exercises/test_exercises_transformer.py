"""The exercises of "The whole Transformer": right answers pass; each mistake meets its hint."""

from typing import ClassVar

import numpy as np
import pytest

from qkv.exercises import check
from tests.helpers.exercises import ExerciseAnswers

SHAPES = [(9, 48), (6, 12), (4, 6, 9), (6, 423)]


def pre_norm(Y, M, attend, cross, ffn, norms, memory_norm=None, order=(0, 1, 2)):
    one, two, three = (norms[i] for i in order)
    if memory_norm is not None:
        M = norms[memory_norm](M)
    A = Y + attend(one(Y))
    C = A + cross(two(A), M)
    return C + ffn(three(C))


def in_place(Y, M, attend, cross, ffn, norms):
    Y += attend(norms[0](Y))
    Y += cross(norms[1](Y), M)
    Y += ffn(norms[2](Y))
    return Y


def with_a_loop(Y, M, attend, cross, ffn, norms):
    for norm, part in zip(norms, (attend, lambda x: cross(x, M), ffn), strict=True):
        Y = Y + part(norm(Y))
    return Y


def popping(Y, M, attend, cross, ffn, norms):
    A = Y + attend(norms.pop(0)(Y))
    C = A + cross(norms.pop(0)(A), M)
    return C + ffn(norms.pop(0)(C))


def norm_after_the_sub_layer(Y, M, attend, cross, ffn, norms):
    A = Y + norms[0](attend(Y))
    C = A + norms[1](cross(A, M))
    return C + norms[2](ffn(C))


def no_second_norm(Y, M, attend, cross, ffn, norms):
    A = Y + attend(norms[0](Y))
    C = A + cross(A, M)
    return C + ffn(norms[2](C))


def no_third_norm(Y, M, attend, cross, ffn, norms):
    A = Y + attend(norms[0](Y))
    C = A + cross(norms[1](A), M)
    return C + ffn(C)


def post_norm(Y, M, attend, cross, ffn, norms):
    A = norms[0](Y + attend(Y))
    C = norms[1](A + cross(A, M))
    return norms[2](C + ffn(C))


def sums_of_norms(Y, M, attend, cross, ffn, norms):
    for norm, part in zip(norms, (attend, lambda x: cross(x, M), ffn), strict=True):
        N = norm(Y)
        Y = N + part(N)
    return Y


def no_residual(Y, M, attend, cross, ffn, norms):
    return ffn(norms[2](cross(norms[1](attend(norms[0](Y))), M)))


def from_y_again(Y, M, attend, cross, ffn, norms):
    A = Y + attend(norms[0](Y))
    C = Y + cross(norms[1](A), M)
    return C + ffn(norms[2](C))


def no_norms(Y, M, attend, cross, ffn, norms):
    A = Y + attend(Y)
    C = A + cross(A, M)
    return C + ffn(C)


def encoder_layer(Y, M, attend, cross, ffn, norms):
    A = Y + attend(norms[0](Y))
    return A + ffn(norms[1](A))


def one_norm_more(Y, M, attend, cross, ffn, norms):
    return norms[2](pre_norm(Y, M, attend, cross, ffn, norms))


def exchanged(Y, M, attend, cross, ffn, norms):
    A = Y + attend(norms[0](Y))
    return A + cross(M, norms[1](A))


def with_the_memory(Y, M, attend, cross, ffn, norms):
    return np.concatenate([Y, M], axis=1)


def no_first_norm(Y, M, attend, cross, ffn, norms):
    A = Y + attend(Y)
    C = A + cross(norms[1](A), M)
    return C + ffn(norms[2](C))


def cross_first(Y, M, attend, cross, ffn, norms):
    A = Y + cross(norms[0](Y), M)
    C = A + attend(norms[1](A))
    return C + ffn(norms[2](C))


def side_by_side(Y, M, attend, cross, ffn, norms):
    return Y + attend(norms[0](Y)) + cross(norms[1](Y), M) + ffn(norms[2](Y))


def last_sum_forgotten(Y, M, attend, cross, ffn, norms):
    A = Y + attend(norms[0](Y))
    C = A + cross(norms[1](A), M)
    return ffn(norms[2](C))


class TestAnswers(ExerciseAnswers):
    quoted = True
    right: ClassVar = {
        "transformer-1": SHAPES,
        "transformer-2": 246,
        "transformer-3": "BD",
        "transformer-4": pre_norm,
        "transformer-5": "CF",
        "transformer-6": "CD",
        "transformer-7": (7, 7, 8),
    }
    also_right: ClassVar = {
        "in place": ("transformer-4", in_place),
        "a loop": ("transformer-4", with_a_loop),
        "norms taken from the list": ("transformer-4", popping),
        "other sizes": ("transformer-7", (12, 12, 3)),
        "lists": ("transformer-1", [list(shape) for shape in SHAPES]),
    }
    wrong: ClassVar = {
        "transformer-1": {
            "a token is a row": [(48, 9), *SHAPES[1:]],
            "axis for the batch": [(1, 9, 48), (1, 6, 12), (1, 4, 6, 9), (1, 6, 423)],
            "decoder's length": [(6, 48), *SHAPES[1:]],
            "source's length": [(9, 48), (9, 12), *SHAPES[2:]],
            "of all heads": [(9, 48), (6, 48), *SHAPES[2:]],
            "holds four heads": [(9, 48), (4, 6, 12), *SHAPES[2:]],
            "exchanged": [*SHAPES[:2], (4, 9, 6), (6, 423)],
            "self-attention": [*SHAPES[:2], (4, 6, 6), (6, 423)],
            "that of one head": [*SHAPES[:2], (6, 9), (6, 423)],
            "one row": [*SHAPES[:3], (1, 423)],
            "no logits": [*SHAPES[:3], (9, 423)],
            "Four shapes": SHAPES[:3],
        },
        "transformer-2": {
            "have no biases": 278,
            "encoder layer": 174,
            "One attention is missing": 182,
            "norms are missing": 222,
            "feed-forward biases": 232,
            "once for each head": 374,
            "Not this number": 247,
        },
        "transformer-3": {"not right": "ABD", "is held": "BDE", "every move": "AB"},
        "transformer-4": {
            "post-norm": post_norm,
            "keep normalised rows": sums_of_norms,
            "residual connections are missing": no_residual,
            "normalised again": lambda *parts: pre_norm(*parts, memory_norm=1),
            "starts from Y again": from_y_again,
            "No norm is used": no_norms,
            "memory is not read": encoder_layer,
            "after the sub-layers": norm_after_the_sub_layer,
            "second norm is missing": no_second_norm,
            "third norm is missing": no_third_norm,
            "another order": lambda *parts: pre_norm(*parts, order=(2, 1, 0)),
            "one norm too many": one_norm_more,
            "memory as its first": exchanged,
            "last residual connection": last_sum_forgotten,
            "first norm is missing": no_first_norm,
            "comes first here": cross_first,
            "used three times": lambda *parts: pre_norm(*parts, order=(0, 0, 0)),
            "result has shape": with_the_memory,
            "no pre-norm decoder layer": side_by_side,
        },
        "transformer-5": {"not right": "CEF", "should it read": "BCF", "comparison": "ABC"},
        "transformer-6": {"not right": "C", "how low": "CDEF", "does not read": "ACD"},
        "transformer-7": {
            "all three": (6, 7, 8),
            "B and G": (5, 7, 8),
            "C raises no error": (8, 8, 8),
            "triple, such as": (7, 7),
            "at least 2": (1, 1, 8),
        },
    }
    also_wrong: ClassVar = {
        "one shape": ("transformer-1", (9, 48, 6)),
        "a batch axis in one shape": ("transformer-1", [SHAPES[0], (1, 6, 12), *SHAPES[2:]]),
        "B alone": ("transformer-7", (8, 7, 8)),
        "memory normalised by the last norm": (
            "transformer-4",
            lambda *parts: pre_norm(*parts, memory_norm=2),
        ),
    }


@pytest.mark.parametrize("name", TestAnswers.wrong)
def test_hints_do_not_give_the_answer(name):
    hints = [check(name, answer).hint for answer in TestAnswers.wrong[name].values()]
    assert not any(secret in hint for hint in hints for secret in ("246", "(4, 6, 9)"))
