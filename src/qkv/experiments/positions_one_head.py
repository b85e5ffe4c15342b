"""Rotary positions beyond those of training, with one head of 32 numbers in place of four of 8.

All else is as in `positions_beyond`: the token one place before, 800 steps on 32 tokens.
"""

from __future__ import annotations

from typing import Any

from qkv.experiments.positions_beyond import TESTS, train
from qkv.experiments.stored_results import run_and_store

__all__ = ["check", "measure"]


def measure(small: bool = False) -> dict[str, Any]:
    """Shares of right answers in training's range, and from twice to four times it, one a seed."""
    length, steps, seeds = (12, 40, 1) if small else (32, 800, 3)
    runs = [train("rotary", 1, length, steps, seed, heads=1) for seed in range(seeds)]
    shares = {test: [run[test][-1] for run in runs] for test in TESTS}
    trained = [run["accuracy"][0] for run in runs]
    return {"steps": steps, "seeds": seeds, "trained": trained, **shares}


def check(figures: dict[str, Any]) -> None:
    """What the chapter on positions says of them; a run of few steps has learnt little."""
    if figures["steps"] < 500:
        return
    assert min(figures["trained"]) > 0.95
    assert min(figures["accuracy"]) > 0.5
    assert min(figures["accuracy with the last keys"]) > 0.99
    assert min(figures["accuracy with far keys"]) > 0.9


if __name__ == "__main__":
    run_and_store("positions_one_head", measure)
