"""One bar for each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qkv.explore.framework.panels.validation import (
    ROLES,
    Floats,
    Role,
    Spec,
    validate_array,
    validate_choice,
    validate_labels,
)


@dataclass(frozen=True, eq=False)
class Bars:
    """One bar for each of n values, labelled below and above.

    Args:
        values: (n,).
        labels: n labels.
        limits: (lowest, highest) of the scale; by default the range over the whole grid and 0.
        role: whose colour the bars take: "query", "key", "value", "output" or None for ink.
    Raises:
        ValueError: shapes, labels or role do not fit.
    """

    values: ArrayLike
    labels: Sequence[object]
    limits: tuple[float, float] | None = None
    role: Role | None = None

    def __post_init__(self) -> None:
        values = validate_array("Bars", "values", self.values, "(n,)", 1)
        validate_choice("Bars", "role", self.role, (None, *ROLES))
        object.__setattr__(self, "values", values)
        labels = validate_labels("Bars", "labels", self.labels, len(values), "bar")
        object.__setattr__(self, "labels", labels)

    def spec(self) -> Spec:
        return {"labels": self.labels, "role": self.role, "limits": self.limits}

    def arrays(self) -> list[Floats]:
        return [np.asarray(self.values)]
