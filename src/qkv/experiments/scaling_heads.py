"""How many words find their key, from large scores and from small ones, with two losses?

Each head has eight random words, and each word has to give its weight to one of them. The loss is
1 − w or −ln w of that one weight, averaged over the words. A word has found its key if the key has
more than half of the weight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.experiments.stored_results import run_and_store
from qkv.numpy import softmax, softmax_backward

WANTED = np.eye(8)[[3, 3, 3, 4, 4, 7, 7, 4]]  # (T, S)
HEADS, D_MODEL = 6, 16  # heads of one seed; width of a word
DIVISORS = {
    64: {"1": 1.0, "√64": 8.0, "√512": math.sqrt(512), "64": 64.0},
    512: {"1": 1.0, "√512": math.sqrt(512), "512": 512.0},
}
LOSSES = ("1 − w", "−ln w")
RATES = {
    "gradient descent": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0],
    "Adam": [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0],
}
FEW = {"gradient descent": [0.1, 1.0, 100.0], "Adam": [1e-3, 1e-2]}  # rates of a small run
STEPS = 200
EDGES = [0, 1e-6, 1e-3, 0.5, 1]  # of the right key's weight before any step: four groups


def weights_of_the_right_keys(
    loss: str, optimizer: str, rate: float, divisor: float, d_k: int, seed: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of every word of HEADS heads, the right key's weight before any step and after STEPS."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((HEADS, 8, D_MODEL))  # (H, T, d_model)
    w = rng.standard_normal((2, HEADS, D_MODEL, d_k)) / math.sqrt(D_MODEL)  # W_Q and W_K
    mean, square = np.zeros_like(w), np.zeros_like(w)
    right = []
    for step in range(1, STEPS + 2):
        q, k = x @ w[0], x @ w[1]  # (H, T, d_k)
        weights = softmax(q @ k.mT / divisor)  # (H, T, S)
        right.append((weights * WANTED).sum(axis=-1))  # (H, T)
        own = np.maximum(weights, 1e-300) if loss == "−ln w" else np.ones_like(weights)
        ds = softmax_backward(-WANTED / own / 8, weights) / divisor
        gradient = np.stack([x.mT @ (ds @ k), x.mT @ (ds.mT @ q)])
        if optimizer == "Adam":
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            size_of_gradient = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            gradient = mean / (1 - 0.9**step) / size_of_gradient
        w = w - rate * gradient
    return right[0], right[-1]


def measure(small: bool = False) -> dict[str, Any]:
    """Words that found their key, for each place, loss and optimizer: `right` by rate, and the same
    in the four groups; `start` counts all words in these groups, the last had found it before."""
    rates, seeds = (FEW, 1) if small else (RATES, 5)
    rows = []
    for d_k, divisors in DIVISORS.items():
        for name, divisor in divisors.items():
            for loss in LOSSES:
                for optimizer, tried in rates.items():
                    groups = []
                    for rate in tried:
                        place = loss, optimizer, rate, divisor, d_k
                        runs = [weights_of_the_right_keys(*place, seed) for seed in range(seeds)]
                        before, after = np.array(runs).swapaxes(0, 1)  # (seeds, H, T)
                        start = np.histogram(before, EDGES)[0].tolist()
                        groups.append(np.histogram(before[after > 0.5], EDGES)[0].tolist())
                    row = {"d_k": d_k, "divisor": name, "size": math.sqrt(d_k) / divisor}
                    row |= {"loss": loss, "optimizer": optimizer, "start": start}
                    rows.append({**row, "right": [sum(x) for x in groups], "groups": groups})
    words = 8 * HEADS * seeds
    return {"words": words, "steps": STEPS, "rates": rates, "edges": EDGES, "rows": rows}


def check(figures: dict[str, Any]) -> None:
    """With 1 − w, only scores that start small are learnt from; with −ln w, all are."""
    words = figures["words"]
    for row in figures["rows"]:
        best = max(row["right"])
        assert sum(row["start"]) == words
        if row["loss"] == "−ln w":
            assert row["optimizer"] == "Adam" or best >= 0.9 * words
        elif row["size"] <= 1:
            assert best >= 0.8 * words
        else:
            assert best <= 0.75 * words


if __name__ == "__main__":
    run_and_store("scaling_heads", measure)
