"""The exercises of "More than one device": right answers pass; each mistake meets its own hint."""

import numpy as np
import pytest
import torch

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


RIGHT = {
    "devices-1": [4096, 4100],
    "devices-2": DIFFERENCES,
    "devices-3": [1.8, 0.9, 0.3],
    "devices-4": safe,
    "devices-5": 2**16,
    "devices-6": (8.22, 8.28),
}
ALSO_RIGHT = {
    "other letters": ("devices-2", {k.lower(): v.upper() for k, v in DIFFERENCES.items()}),
    "a list": ("devices-4", lambda logits, e: (lead(logits) > 2 * e).tolist()),
    "no power of two": ("devices-5", 3000.0),
    "the other order": ("devices-6", [12.02, 11.97]),
    "just 0.05 apart": ("devices-6", [9.975, 10.025]),
    "around 10": ("devices-6", (10 - 0.03, 10 + 0.03)),
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
        "one e": lambda logits, e: lead(logits) > e,
        "exchanged": lambda logits, e: lead(logits) < 2 * e,
        "smallest": lambda logits, e: np.ptp(logits, axis=1) > 2 * e,
        "largest": lambda logits, e: logits.max(axis=1) > 2 * e,
        "sizes": lambda logits, e: lead(abs(logits)) > 2 * e,
        "columns": lambda logits, e: lead(logits.T) > 2 * e,
        "at least two e": lambda logits, e: lead(logits) >= 2 * e,
        "equal ones left out": without_ties,
        "four e": lambda logits, e: lead(logits) > 4 * e,
        "no function": 2,
    },
    "devices-5": {
        "one": 1,
        "ten": 10,
        "five hundred": 500,
        "too large": 1e8,
        "negative": -1024,
        "no number": float("nan"),
    },
    "devices-6": {
        "too near": [10.0, 10.01],
        "apart": [10.0, 10.06],
        "elsewhere": [100.0, 100.06],
        "one": 10.0,
    },
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong = RIGHT, ALSO_RIGHT, WRONG


@pytest.mark.parametrize("x", [1.0, 10.03, 10.0312501, 9.97, 258.9, 259.0, 257.0, 3e-5])
def test_bfloat16_is_rounded_as_torch_rounds_it(x):
    assert bfloat16(x) == torch.tensor(x).bfloat16().item()
