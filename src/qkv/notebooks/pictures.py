"""Whether two pictures look the same: their pixels compared, not their bytes."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray

SHADE = 8 / 255  # of a channel: nobody sees such a step
# The difference of a pixel and its eight neighbours, on average, below which an edge looks the
# same: one pixel in the antialiasing of a line stays below it, two pixels from black to white
# do not.
AROUND = 0.12


def same_picture(first: str, second: str) -> bool:
    """Whether two PNG files in Base64 look the same.

    The same drawing differs between processors by single pixels at the edge of a line, where a
    coordinate is rounded to the other side. A line that has moved differs along its length.
    """
    if first == second:
        return True
    one, other = pixels(first), pixels(second)
    if one.shape != other.shape:
        return False
    difference = np.abs(one - other).max(axis=-1)  # (rows, columns)
    difference[difference <= SHADE] = 0.0
    around = np.pad(difference, 1)
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3))
    return bool(windows.mean(axis=(-2, -1)).max() < AROUND)


def pixels(png: str) -> NDArray[np.float32]:
    """(rows, columns, 4), from 0 to 1."""
    from matplotlib.image import imread  # half a second, and most outputs are the same to the byte

    image = np.atleast_3d(imread(io.BytesIO(base64.b64decode(png)), format="png"))
    if image.shape[-1] < 3:  # grey, and with transparency
        image = np.concatenate([np.repeat(image[..., :1], 3, -1), image[..., 1:]], -1)
    if image.shape[-1] == 3:
        image = np.concatenate([image, np.ones_like(image[..., :1])], -1)
    return np.asarray(image, dtype=np.float32)
