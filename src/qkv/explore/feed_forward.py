"""Explorer of the chapter on the feed-forward network: a curve fitted by a sum of few units."""

from __future__ import annotations

from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Lines, Panels
from qkv.language import gettext, gettext_noop

Array = np.ndarray[Any, Any]

ACTIVATIONS = (gettext_noop("none"), "ReLU", "GELU", "SiLU")
TARGETS = (gettext_noop("distance"), gettext_noop("step function"), gettext_noop("wave"))
WIDTHS = (1, 2, 4, 8)
STEEPNESS = 2.0  # |W_1|: GELU and SiLU bend over a length of about 1 / STEEPNESS
RIDGE = 1e-5  # keeps W_2 small where two units are nearly the same
END = 3.0  # the network is fitted between −END and END
X = np.linspace(-END, END, 61)


def units(*, target: str, activation: str, d_ff: int) -> Panels:
    """A network of one number in, d_ff units, one number out, and what each unit adds.

    W_1 and b_1 are set by hand: half of the units look right (weight 2), half left (weight −2),
    with their bends spread evenly from 0 to either end. W_2 and b_2 are the best possible for
    them, by least squares.

    Args:
        target: one of TARGETS: |u|, 0 then 1, or a sine.
        activation: one of ACTIVATIONS.
        d_ff: how many units.
    """
    wanted = targets(target)
    weights, bends = first_layer(d_ff)
    hidden = activated(activation, weights * (X[:, None] - bends))  # (n, d_ff)
    second = fit(hidden, wanted)  # (d_ff,) W_2
    output = rounded(hidden @ second + (wanted - hidden @ second).mean())
    added = {f"{i + 1}": rounded(hidden[:, i] * second[i]) for i in range(d_ff)}
    return {
        gettext_noop("network"): Lines(
            X, {gettext("wanted"): wanted, gettext("network"): output}, "u", gettext("output")
        ),
        gettext_noop("units"): Lines(X, added, "u", gettext("what each unit adds")),
        gettext_noop("typical error"): f"{np.sqrt(((output - wanted) ** 2).mean()):.2f}",
        gettext_noop("parameters"): f"{3 * d_ff + 1}",
    }


def targets(name: str) -> Array:
    """The wanted output at each X."""
    if name == "distance":
        return np.abs(X)
    if name == "step function":
        return (X > 0).astype(float)
    return np.sin(2 * X)


def first_layer(d_ff: int) -> tuple[Array, Array]:
    """(d_ff,) weights of x, and the (d_ff,) places where x times them passes 0."""
    sides = np.where(np.arange(d_ff) % 2 == 0, 1.0, -1.0)
    half = max(d_ff // 2, 1)
    return STEEPNESS * sides, sides * (np.arange(d_ff) // 2) * END / half


def fit(hidden: Array, wanted: Array) -> Array:
    """(d_ff,) weights of least squares beside a free constant; see RIDGE."""
    centred = hidden - hidden.mean(axis=0)
    ridge = RIDGE * STEEPNESS**2 * len(X) * np.eye(hidden.shape[1])
    weights: Array = np.linalg.solve(centred.T @ centred + ridge, centred.T @ wanted)
    return weights


def rounded(values: Array) -> Array:
    """Nine decimals: what least squares leaves where nothing is added is noise, of either sign."""
    return np.round(values, 9) + 0.0  # −0 becomes 0


def activated(name: str, hidden: Array) -> Array:
    """The activation of that name; "none" changes nothing."""
    functions = {"ReLU": qn.relu, "GELU": qn.gelu, "SiLU": qn.silu}
    return functions[name](hidden) if name in functions else hidden
