"""A head without text becomes an ordinary cell; one with text stays."""

import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "book" / "extensions"))
empty_heads = importlib.import_module("empty_heads")


def test_heads_without_text_are_no_heads() -> None:
    head = '<th class="head"><p>id</p></th>'
    row = f'<tr><th class="head"></th><th class="head"><p></p></th>{head}</tr>'
    assert empty_heads.replace_heads(row) == (
        f'<tr><td class="head"></td><td class="head"></td>{head}</tr>'
    )
    assert empty_heads.replace_heads("<thead></thead>") == "<thead></thead>"
