"""In a chapter's kernel: draw other starts, and note what the asserts compare."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
    "is": operator.is_,
    "is not": operator.is_not,
}


class Draws:
    """Shift the seeds, and change what is drawn by a relative amount, while `on`."""

    def __init__(self, shift: int, change: float) -> None:
        self.shift, self.change, self.on = shift, change, False
        self.replace_numpy()
        self.replace_torch()

    def seed(self, seed: Any) -> Any:
        """The seed that is used for one that is asked for: a number, or a list that begins so."""
        if self.on and isinstance(seed, int | np.integer):
            return seed + self.shift
        if self.on and isinstance(seed, list | tuple):
            return [seed[0] + self.shift, *seed[1:]]
        return seed

    def factor(self, shape: tuple[int, ...]) -> Any:
        """1 ± change for each number; the same for equal shapes, so that equal draws stay equal."""
        signs = np.random.Generator(np.random.PCG64(0)).choice([-1.0, 1.0], shape)
        return 1 + self.change * signs if self.on else 1.0

    def replace_numpy(self) -> None:
        draws = self

        class Generator(np.random.Generator):
            def normal(self, *args: Any, **options: Any) -> Any:
                drawn = super().normal(*args, **options)
                return drawn * draws.factor(np.shape(drawn))

            def standard_normal(self, *args: Any, **options: Any) -> Any:
                drawn = super().standard_normal(*args, **options)
                return (drawn * draws.factor(np.shape(drawn))).astype(np.asarray(drawn).dtype)[()]

            def uniform(self, *args: Any, **options: Any) -> Any:
                drawn = super().uniform(*args, **options)
                return drawn * draws.factor(np.shape(drawn))

        def default_rng(seed: Any = None) -> np.random.Generator:
            given = isinstance(seed, np.random.Generator)
            return seed if given else Generator(np.random.PCG64(draws.seed(seed)))

        np.random.default_rng = default_rng

    def replace_torch(self) -> None:
        draws, seed_all = self, torch.manual_seed

        class Generator(torch.Generator):
            def manual_seed(self, seed: int) -> torch.Generator:
                return super().manual_seed(draws.seed(seed))

        def changed(draw: Callable[..., Any]) -> Callable[..., Any]:
            def draw_and_change(tensor: Any, *args: Any, **options: Any) -> Any:
                draw(tensor, *args, **options)
                with torch.no_grad():
                    return tensor.mul_(torch.as_tensor(draws.factor(tuple(tensor.shape))))

            return draw_and_change

        torch.Generator = Generator  # type: ignore[misc]
        torch.manual_seed = lambda seed: seed_all(draws.seed(seed))
        torch.Tensor.uniform_ = changed(torch.Tensor.uniform_)  # type: ignore[method-assign]
        torch.Tensor.normal_ = changed(torch.Tensor.normal_)  # type: ignore[method-assign]
        if self.shift:
            seed_all(self.shift)  # for draws from the generator that nobody seeds


class Notes:
    """What the asserts of a run compared, in their order, and which of them failed."""

    def __init__(self) -> None:
        self.compared: list[tuple[str, float, float]] = []
        self.failed: list[str] = []

    def verdict(self, key: str, outcome: Any) -> None:
        """An assert, which fails without ending the run."""
        if not outcome:
            self.failed.append(key)

    def compare(self, key: str, reduce: str, operators: list[str], *operands: Any) -> Any:
        """The value of `a < b < c`; its pairs of numbers are noted.

        Args:
            reduce: "any" or "all" if that is asked of an array of answers: what decides is noted.
        """
        outcome: Any = True
        for i, name in enumerate(operators):
            left, right = operands[i], operands[i + 1]
            found = OPERATORS[name](left, right)
            outcome = found if i == 0 else outcome and found
            if name in ("<", "<=", ">", ">="):
                self.note(key, reduce, left, right, 1 if name in (">", ">=") else -1)
        return outcome

    def note(self, key: str, reduce: str, left: Any, right: Any, sign: int) -> None:
        pair = np.broadcast_arrays(np.asarray(left), np.asarray(right))
        if not (pair[0].size and all(side.dtype.kind in "biuf" for side in pair)):
            return
        left, right = (side.astype(float).ravel() for side in pair)
        gap = sign * (left - right)  # of each answer, above 0 where it is yes
        at = int({"any": gap.argmax, "all": gap.argmin}.get(reduce, abs(gap).argmin)())
        self.compared.append((key, float(left[at]), float(right[at])))

    def close(self, key: str, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """`isclose` or `allclose`; the largest difference is noted beside what is allowed."""
        a, b = (np.asarray(getattr(side, "detach", lambda s=side: s)(), float) for side in args[:2])
        tolerances = {"rtol": 1e-5, "atol": 1e-8}
        if call is math.isclose:
            tolerances = {"rtol": 1e-9, "atol": 0.0}
        tolerances |= {f"{name[0]}tol": value for name, value in options.items() if "tol" in name}
        used = abs(a - b) / (tolerances["atol"] + tolerances["rtol"] * abs(b))
        self.compared.append((key, float(used.max()), 1.0))
        return call(*args, **options)
