"""The page of formulas: its masks are the package's, and no chapter with formulas is left out."""

import re
from pathlib import Path

import numpy as np
import pytest

import qkv.numpy as qn

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "formulas.md").read_text("utf-8")
WITHOUT_FORMULAS = {1}

IDS = np.array([[5, 6, 7, 0]])  # the last is padding
PADDING = qn.padding_mask(IDS, pad_id=0)
POSITION = np.arange(4)
MASKS = {
    "causal": qn.causal_mask(4),
    "padding": PADDING,
    "both": qn.combine_masks(qn.causal_mask(4), PADDING),
    "cross": qn.padding_mask(np.array([[5, 6, 7, 0, 0]]), pad_id=0),
    "cached": qn.causal_mask(2, 4),
    "prefix": qn.causal_mask(4) | (POSITION < 2),
    "window": qn.window_mask(4, window=1, causal=True),
}


def drawn() -> dict[str, list[list[str]]]:
    """The masks on the page: name -> rows of 1 and ·."""
    blocks = [block.split("\n") for block in re.findall(r"```text\n(.*?)\n```", PAGE, re.S)]
    return {name: [row.split() for row in rows] for name, *rows in blocks}


def test_every_mask_is_drawn():
    assert drawn().keys() == MASKS.keys()


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_is_drawn_as_the_package_makes_it(name):
    picture = np.array(drawn()[name]) == "1"
    mask = np.broadcast_to(MASKS[name][0, 0], picture.shape)
    np.testing.assert_array_equal(picture, mask)


def test_every_chapter_with_formulas_has_its_place():
    chapters = {int(path.name[:2]) for path in (ROOT / "chapters").glob("*.ipynb")}
    named = {int(n) for n in re.findall(r"(\d+) ·", " ".join(re.findall(r"### (.*)", PAGE)))}
    assert chapters - WITHOUT_FORMULAS <= named
