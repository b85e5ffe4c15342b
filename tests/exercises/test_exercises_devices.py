"""The exercises of "More than one device": right answers pass; each mistake meets its own hint."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from qkv.exercises import check
from qkv.exercises.devices import DIFFERENCES, bfloat16
from tests.helpers.exercises import ExerciseAnswers


def lead(logits):
    first, second = np.sort(logits, axis=1)[:, [-1, -2]].T
    return first - second


def safe(logits, e):
    return lead(logits) > 2 * e


def without_ties(logits, e):
    """The second is the largest that is smaller than the first."""
    first = logits.max(axis=1)
    others = np.where(logits == first[:, None], -np.inf, logits)
    return first - others.max(axis=1) > 2 * e


def differences(**others):
    return DIFFERENCES | others


def quantise(w, group, largest=127):
    rows = w.reshape(-1, group)
    scales = abs(rows).max(axis=1) / largest
    scales[scales == 0] = 1
    return np.round(rows / scales[:, None]).astype(np.int8).reshape(-1), scales


def with_zeros(w, group):
    rows = w.reshape(-1, group)
    scales = abs(rows).max(axis=1) / 127
    return np.round(rows / scales[:, None]).astype(np.int8), scales


def mended(w, group):
    rows = w.reshape(-1, group)
    scales = abs(rows).max(axis=1) / 127
    return np.nan_to_num(np.round(rows / scales[:, None])).astype(np.int8), scales


def silent(w, group):
    with np.errstate(all="ignore"):
        return with_zeros(w, group)


def a_little_more(w, group):
    scales = quantise(w, group)[1] + 1e-8
    return np.round(w.reshape(-1, group) / scales[:, None]).astype(np.int8), scales


def one_scale(w, group):
    q, scale = quantise(w, len(w))
    return q, np.repeat(scale, len(w) // group)


def of_values(w, group):
    scales = w.reshape(-1, group).max(axis=1) / 127 + 1e-12
    return np.round(w.reshape(-1, group) / scales[:, None]).astype(np.int8), scales


def cut_off(w, group):
    scales = quantise(w, group)[1]
    return (w.reshape(-1, group) / scales[:, None]).astype(np.int8), scales


def int64(w, group):
    q, scales = quantise(w, group)
    return q.astype(np.int64), scales


def as_lists(w, group):
    return [part.tolist() for part in quantise(w, group)]


def in_rows(w, group):
    q, scales = quantise(w.astype(np.float32), group)
    return q.reshape(-1, group), scales[:, None]


def half_norm(x, wide=np.float32, eps=1e-8, out=np.float16):
    y = x.astype(wide)
    return (y / np.sqrt((y**2).mean(axis=1, keepdims=True) + eps)).astype(out)


def in_bfloat16(x):
    y = half_norm(torch.tensor(x).bfloat16().float().numpy(), out=np.float32)
    return torch.tensor(y).bfloat16().half().numpy()


def square_in_half(x):
    mean = (x**2).astype(np.float32).mean(axis=1, keepdims=True)
    return (x / np.sqrt(mean + 1e-8)).astype(np.float16)


def divided_first(x):
    """By the largest of each row, which leaves squares of at most 1."""
    largest = np.maximum(abs(x).max(axis=1, keepdims=True).astype(np.float32), 1e-4)
    y = x / largest
    mean_square = (y**2).mean(axis=1, keepdims=True)
    return (y / np.sqrt(mean_square + 1e-8 / largest**2)).astype(np.float16)


def safe_e(factor):
    return lambda logits, e: lead(logits) > factor * e


RIGHT = {
    "devices-1": [4096, 4100],
    "devices-2": DIFFERENCES,
    "devices-3": [1.8, 0.9, 0.3],
    "devices-4": quantise,
    "devices-5": half_norm,
    "devices-6": safe,
    "devices-7": 2**14,
    "devices-8": (8.22, 8.28),
}
ALSO_RIGHT = {
    "other letters": ("devices-2", {k.lower(): v.upper() for k, v in DIFFERENCES.items()}),
    "float16": ("devices-3", np.float16([1.8, 0.9, 0.3])),
    "bfloat16": ("devices-3", torch.tensor([1.8, 0.9, 0.3]).bfloat16()),
    "fractions": ("devices-3", [Fraction(9, 5), Fraction(9, 10), Fraction(3, 10)]),
    "rounded by pencil": ("devices-3", (1.8, 0.9, 0.3)),
    "rows": ("devices-4", in_rows),
    "float64": ("devices-5", lambda x: half_norm(x, np.float64)),
    "the largest first": ("devices-5", divided_first),
    "a list": ("devices-6", lambda logits, e: (lead(logits) > 2 * e).tolist()),
    "no power of two": ("devices-7", 3000.0),
    "just below the end": ("devices-7", 32752),
    "just enough": ("devices-7", 620),
    "the other order": ("devices-8", [12.02, 11.97]),
    "just 0.05 apart": ("devices-8", [9.975, 10.025]),
    "around 10": ("devices-8", (10 - 0.03, 10 + 0.03)),
}
WRONG = {
    "devices-1": {
        "exact": [4099, 4099],
        "not rounded": [4096, 4099],
        "gap of two": [4096, 4098],
        "all lost": [4096, 4096],
        "exchanged": [4100, 4096],
        "rounded at the end": [4100, 4100],
        "one number": 4096,
        "other": [1, 2],
    },
    "devices-2": {
        **{
            letter: differences(**{letter: "overflow" if letter != "E" else "rounding"})
            for letter in DIFFERENCES
        },
        "unknown": differences(A="broken"),
        "a list": list(DIFFERENCES.values()),
    },
    "devices-3": {
        "mean of means": [1, 1, 1],
        "shares": [0.6, 0.3, 0.1],
        "reversed": [0.3, 0.9, 1.8],
        "counts": [6, 3, 1],
        "reciprocals": [1 / 1.8, 1 / 0.9, 1 / 0.3],
        "proportions": [2, 1, 1 / 3],
        "other": [3, 2, 1],
    },
    "devices-4": {
        "zeros": with_zeros,
        "one scale": one_scale,
        "values, not sizes": of_values,
        "cut off": cut_off,
        "divided by 128": lambda w, group: quantise(w, group, 128),
        "floats": lambda w, group: (quantise(w, group)[0].astype(float), quantise(w, group)[1]),
        "read back": lambda w, group: w,
        "columns": lambda w, group: quantise(w.reshape(-1, group).T.ravel(), group),
        "no function": 2,
    },
    "devices-5": {
        "not repaired": lambda x: half_norm(x, np.float16),
        "cut at 255": lambda x: half_norm(np.clip(x, -255, 255)),
        "float32 out": lambda x: half_norm(x, out=np.float32),
        "a larger eps in float32": lambda x: half_norm(x, eps=1e-3),
        "no eps": lambda x: np.nan_to_num(half_norm(x, eps=0)),
        "bfloat16": in_bfloat16,
        "NaN to 0": lambda x: np.nan_to_num(half_norm(x, np.float16)),
        "no function": 2,
    },
    "devices-6": {
        "one e": safe_e(1),
        "exchanged": lambda logits, e: lead(logits) < 2 * e,
        "smallest": lambda logits, e: np.ptp(logits, axis=1) > 2 * e,
        "largest": lambda logits, e: logits.max(axis=1) > 2 * e,
        "sizes": lambda logits, e: lead(abs(logits)) > 2 * e,
        "columns": lambda logits, e: lead(logits.T) > 2 * e,
        "at least two e": lambda logits, e: lead(logits) >= 2 * e,
        "equal ones left out": without_ties,
        "four e": safe_e(4),
        "in float16": lambda logits, e: safe(logits.astype(np.float16), e),
        "none safe": lambda logits, e: np.zeros(len(logits), bool),
        "no function": 2,
    },
    "devices-7": {
        "one": 1,
        "ten": 10,
        "five hundred": 500,
        "the default of GradScaler": 2**16,
        "zero": 0,
        "negative": -1024,
        "no number": float("nan"),
    },
    "devices-8": {
        "too near": [10.0, 10.01],
        "apart": [10.0, 10.06],
        "elsewhere": [100.0, 100.06],
        "one": 10.0,
    },
}


def larger_eps(x):
    return half_norm(x, np.float16, 1e-3)


def one_root(x):
    return (x / np.sqrt((x.astype("f") ** 2).mean() + 1e-8)).astype("e")


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong = RIGHT, ALSO_RIGHT, WRONG


@pytest.mark.parametrize(
    ("exercise", "answer", "hint"),
    [
        ("devices-4", lambda w, group: quantise(w, group, 100), "w.reshape(-1, group)"),
        ("devices-4", lambda w, group: quantise(w, group)[0], "return numbers, scales"),
        ("devices-4", silent, "What is 0 / 0?"),
        ("devices-4", mended, "What is 0 / 0?"),
        ("devices-4", as_lists, ".astype(np.int8)"),
        ("devices-4", int64, ".astype(np.int8)"),
        ("devices-4", a_little_more, "w.reshape(-1, group)"),
        ("devices-6", lambda logits, e: np.ones(len(logits), bool), "some leads"),
        ("devices-5", larger_eps, "How large is 300²?"),
        ("devices-5", square_in_half, "How large is 300²?"),
        ("devices-5", one_root, "No number need be cut"),
        ("devices-7", 2**15, "float16 ends at 65,504"),
        ("devices-7", 1e8, "float16 ends at 65,504"),
    ],
)
def test_the_same_mistake_in_another_form(exercise, answer, hint):
    assert hint in check(exercise, answer).hint


@pytest.mark.parametrize("x", [1.0, 10.03, 10.0312501, 9.97, 258.9, 259.0, 257.0, 3e-5])
def test_bfloat16_is_rounded_as_torch_rounds_it(x):
    assert bfloat16(x) == torch.tensor(x).bfloat16().item()
