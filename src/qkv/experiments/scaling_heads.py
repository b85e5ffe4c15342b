"""Which heads learn with and without the division by √d_k, by two optimizers and from two starts?

Each head has eight random words, and each word has to give all its weight to one of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from qkv.experiments.stored_results import run_and_store
from qkv.numpy import softmax, softmax_backward

WANTED = np.eye(8)[[3, 3, 3, 4, 4, 7, 7, 4]]  # (T, S)
HEADS, D_MODEL = 6, 16  # heads of one seed; width of a word
STARTS = {"1": 1.0, "GPT-2": 0.02 * math.sqrt(768)}  # standard deviation of an entry of q and k
DIVISORS = {64: {"1": 1.0, "√64": 8.0, "√512": math.sqrt(512)}, 512: {"1": 1.0, "√512": 512**0.5}}
RATES = {
    "gradient descent": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0],
    "Adam": [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0],
}
FEW = {"gradient descent": [0.1, 1.0], "Adam": [1e-3, 1e-2]}  # rates of a small run
STEPS, LONGER = 200, 1000
LEARNED = 0.1  # a loss below this: every word looks at the right one


def losses(
    optimizer: str, rate: float, divisor: float, size: float, d_k: int, seed: int, at: list[int]
) -> list[Any]:
    """The loss of each head, (HEADS,), after each of these numbers of steps."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((HEADS, 8, D_MODEL))  # (H, T, d_model)
    w = size * rng.standard_normal((2, HEADS, D_MODEL, d_k)) / math.sqrt(D_MODEL)  # W_Q and W_K
    mean, square, found = np.zeros_like(w), np.zeros_like(w), []
    for step in range(1, max(at) + 1):
        q, k = x @ w[0], x @ w[1]  # (H, T, d_k)
        weights = softmax(q @ k.mT / divisor)  # (H, T, S)
        ds = softmax_backward((weights - WANTED) / 4, weights) / divisor
        gradient = np.stack([x.mT @ (ds @ k), x.mT @ (ds.mT @ q)])
        if step in at:
            found.append(((weights - WANTED) ** 2).sum(axis=-1).mean(axis=-1))
        if optimizer == "Adam":
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            size_of_gradient = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            gradient = mean / (1 - 0.9**step) / size_of_gradient
        w = w - rate * gradient
    return found


def measure(small: bool = False) -> dict[str, Any]:
    """How many heads learn: {start: {d_k: {divisor: {optimizer: {steps: counts by rate}}}}}."""
    rates, seeds, at = (FEW, 1, [100, 200]) if small else (RATES, 5, [STEPS, LONGER])
    counts: dict[str, Any] = {}
    for start, size in STARTS.items():
        counts[start] = {}
        for d_k, divisors in DIVISORS.items():
            counts[start][str(d_k)] = {}
            for name, divisor in divisors.items():
                counts[start][str(d_k)][name] = {}
                for optimizer in RATES:
                    learned = np.zeros((2, len(rates[optimizer])), int)
                    for place, rate in enumerate(rates[optimizer]):
                        for seed in range(seeds):
                            run = losses(optimizer, rate, divisor, size, d_k, seed, at)
                            learned[:, place] += [int((loss < LEARNED).sum()) for loss in run]
                    early, late = learned.tolist()
                    counts[start][str(d_k)][name][optimizer] = {"early": early, "late": late}
    return {"heads": HEADS * seeds, "steps": at, "rates": rates, "learned": counts}


def check(figures: dict[str, Any]) -> None:
    """Divided, one rate serves; undivided, hardly a head learns but narrow ones of GPT-2's size."""
    heads, rates, learned = figures["heads"], figures["rates"], figures["learned"]
    for start, widths in learned.items():
        for d_k, divisors in widths.items():
            for optimizer, rate in (("gradient descent", 1.0), ("Adam", 0.01)):
                place = rates[optimizer].index(rate)
                divided, plain = divisors[f"√{d_k}"][optimizer], divisors["1"][optimizer]
                assert divided["early"][place] >= 0.8 * heads
                if (start, d_k) == ("GPT-2", "64"):
                    assert max(plain["early"]) >= 0.6 * heads
                else:
                    assert max(plain["early"] + plain["late"]) <= 0.2 * heads


if __name__ == "__main__":
    run_and_store("scaling_heads", measure)
