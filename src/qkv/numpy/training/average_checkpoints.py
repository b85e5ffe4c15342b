"""Averaging the parameters of checkpoints."""

from collections.abc import Mapping, Sequence

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_checkpoints

__all__ = ["average_checkpoints"]


def average_checkpoints(states: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
    """Average the parameters of checkpoints; sums are float64, so that none is lost in them.

    Args:
        states: as `state_dict` gives them, with the same names, shapes and dtypes.
    Returns:
        A new state, each parameter in its dtype.
    Raises:
        ValueError: there are none, or they do not agree; the parameter is named.
    Source: Vaswani et al. 2017, section 6.1.
    """
    check_checkpoints("average_checkpoints", states)
    average = {}
    for name, first in states[0].items():
        total = np.zeros(first.shape)
        for state in states:
            total += state[name]
        average[name] = (total / len(states)).astype(first.dtype)
    return average
