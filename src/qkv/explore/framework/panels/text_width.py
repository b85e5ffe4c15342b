"""About how wide a text is on the page: its browser is not there when a panel is created."""

from __future__ import annotations

import unicodedata

SIZE = 12  # px, as explorer.css has it
NARROW, USUAL, WIDE, FULL = 0.36, 0.6, 0.93, 1.04  # of the size, for semi-bold letters


def text_width(text: str) -> float:
    """Pixels, rather a little more than a browser needs."""
    return SIZE * sum(map(_share, text))


def _share(char: str) -> float:
    if unicodedata.combining(char):
        return 0
    if unicodedata.east_asian_width(char) in "WF":
        return FULL
    if char in "iljtfrI.,:;'|!()[] ·-":
        return NARROW
    return WIDE if char in "mwMW@%—∞" else USUAL if not char.isupper() else 0.74
