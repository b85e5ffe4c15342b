"""Explorer of the chapter on gradients by hand: the step of a check by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from qkv.explore.framework.panels import Lines, Panels, Table
from qkv.language import gettext, gettext_noop

__all__ = ["FORMATS", "FUNCTIONS", "check_step", "slope_errors"]

Array = np.ndarray[Any, Any]
Function = Callable[[Any], Any]  # of a number or of an array
FORMATS: dict[str, type[np.floating[Any]]] = {"float32": np.float32, "float64": np.float64}
# Name, function, its slope, and the place where it is checked. All of them are rounded as IEEE 754
# says: an exponential or a sine would have another error on another processor.
FUNCTIONS: dict[str, tuple[Function, Function, float]] = {
    gettext_noop("√x at 2"): (np.sqrt, lambda x: 0.5 / np.sqrt(x), 2.0),
    gettext_noop("x² at 3"): (lambda x: x * x, lambda x: 2 * x, 3.0),
    gettext_noop("1000 + √x at 2"): (lambda x: 1000 + np.sqrt(x), lambda x: 0.5 / np.sqrt(x), 2.0),
    gettext_noop("ReLU at 0.0001"): (lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0, 1e-4),
}
POWERS = {exponent: float(f"1e{exponent}") for exponent in range(-12, 1)}
STEPS = np.array([power * m for power in POWERS.values() for m in (1, 1.78, 3.16, 5.62)])[:-3]
SMALLEST = 1e-16  # what is drawn instead of an error of 0, which a logarithmic axis cannot show


def check_step(*, function: str, format: str, exponent: int) -> Panels:
    """The slope by finite differences with the step 10^exponent, and its error at every step.

    Args:
        function: a key of FUNCTIONS.
        format: a key of FORMATS; the whole difference is computed in it.
        exponent: of the step h.
    """
    f, slope, place = FUNCTIONS[function]
    x, h = FORMATS[format](place), FORMATS[format](POWERS[exponent])
    up, down = f(x + h), f(x - h)
    true, error = float(slope(np.array(place))), slope_errors(function, format)
    digits = 9 if format == "float32" else 17
    found = float((up - down) / (2 * h))
    rows = [
        ("f(x + h)", f"{up:.{digits}g}"),
        ("f(x − h)", f"{down:.{digits}g}"),
        (gettext("by differences"), f"{found:.8g}"),
        (gettext("slope"), f"{true:.8g}"),
        (gettext("error / slope"), f"{abs(found - true) / abs(true):.1e}"),
    ]
    drawn = {format: np.maximum(error, SMALLEST)}
    axis = (gettext("step h"), gettext("error / slope"))
    return {
        "numbers": Table((gettext("what"), gettext("number")), rows),
        "error": Lines(STEPS, drawn, *axis, log_x=True, log_y=True, mark=POWERS[exponent]),
    }


def slope_errors(function: str, format: str, steps: Array = STEPS) -> Array:
    """Relative error of the slope by central differences at each step, in a format."""
    f, slope, place = FUNCTIONS[function]
    x, h = FORMATS[format](place), steps.astype(FORMATS[format])
    true = float(slope(np.array(place)))
    found = ((f(x + h) - f(x - h)) / (2 * h)).astype(float)
    error: Array = np.abs(found - true) / abs(true)
    return error
