"""Curves over one x axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from qkv.explore.framework.panels.validation import Floats, Spec, validate_array


@dataclass(frozen=True, eq=False)
class Lines:
    """Curves over one x axis, each labelled at its end.

    Args:
        x: (n,), increasing.
        ys: {label: (n,)}.
        x_label: what x is.
        y_label: what the curves measure.
        log_x: logarithmic x axis; x must be positive.
        log_y: logarithmic y axis; values that are not positive leave a gap.
        mark: x of a vertical line, usually the slider's own value.
    Raises:
        ValueError: lengths differ, x does not increase, or there is no curve.
    """

    x: ArrayLike
    ys: Mapping[str, ArrayLike]
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    mark: float | None = field(default=None)

    def __post_init__(self) -> None:
        x = validate_array("Lines", "x", self.x, "(n,)", 1)
        if np.any(np.diff(x) <= 0) or not np.all(np.isfinite(x)):
            raise ValueError(f"Lines: x must be finite and increase, got {x.tolist()}: sort it")
        if self.log_x and x[0] <= 0:
            raise ValueError(f"Lines: log_x needs positive x, got {x[0]:g} first: drop it")
        if not self.ys:
            raise ValueError("Lines: ys must hold at least one curve, got none")
        ys = {
            str(k): validate_array("Lines", f"ys[{k!r}]", y, "(n,)", 1) for k, y in self.ys.items()
        }
        for label, y in ys.items():
            if y.shape != x.shape:
                raise ValueError(
                    f"Lines: ys[{label!r}] must be (n,) = {x.shape}, got {y.shape}: "
                    "compute it at every x"
                )
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "ys", ys)

    def spec(self) -> Spec:
        return {
            "labels": list(self.ys),
            "x_label": self.x_label,
            "y_label": self.y_label,
            "log_x": self.log_x,
            "log_y": self.log_y,
            "mark": self.mark,
        }

    def arrays(self) -> list[Floats]:
        return [np.asarray(self.x), *map(np.asarray, self.ys.values())]
