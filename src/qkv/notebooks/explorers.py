"""Whether two stored explorers show the same: their frames unpacked, equal up to rounding."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from qkv.explore.framework.frames import unpack
from qkv.notebooks.rounding import same_array, same_values
from qkv.notebooks.widget_state import EXPLORER_ID, JSON


def same_model(first: JSON, second: JSON) -> bool:
    """Whether two stored widget models are equal up to rounding, an explorer's frames included."""
    if first == second:
        return True
    states = [dict(model["state"]) for model in (first, second)]
    if any(state.get("_anywidget_id") != EXPLORER_ID for state in states):
        return same_values(first, second)
    layout, other = [state.pop("frames_layout") for state in states]
    return same_values(*states) and same_frames(layout, other, frames_of(first), frames_of(second))


def frames_of(model: JSON) -> bytes:
    """The bytes of an explorer's frames."""
    (text,) = [item["data"] for item in model["buffers"] if item["path"] == ["frames"]]
    return base64.b64decode(text)


def same_frames(one: JSON, other: JSON, data: bytes, other_data: bytes) -> bool:
    """Whether every grid point shows the same.

    Not the bytes: arrays that are equal on one processor, and stored once there, may differ in a
    last digit on another, which moves all that follows.
    """
    count = len(one["points"])
    return (
        count == len(other["points"])
        and one["ranges"].keys() == other["ranges"].keys()
        and all(
            same_array(np.array(ends, float), np.array(other["ranges"][name], float))
            for name, ends in one["ranges"].items()
        )
        and all(
            same_panels(unpack(one, data, i), unpack(other, other_data, i)) for i in range(count)
        )
    )


def same_panels(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two grid points show the same panels."""
    return list(one) == list(other) and all(
        same_values(spec, other[name][0])
        and all(
            same_array(array, fresh, each=bool(spec.get("log_y")))
            for array, fresh in zip(arrays, other[name][1], strict=True)
        )
        for name, (spec, arrays) in one.items()
    )
