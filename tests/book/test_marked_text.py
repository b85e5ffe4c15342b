"""What the finished pages mark in their text, and what they leave as it was."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
mark_text = importlib.import_module("marked_text").mark_text


def whole(text: str) -> str:
    return f'<span class="qkv-nowrap">{text}</span>'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "<h3>Exercise attention-1 · By hand</h3>",
            f"<h3>Exercise {whole('attention-1')} · By hand</h3>",
        ),
        (
            '<a href="#exercise-multi-head-12">Exercise multi-head-12</a>',
            f'<a href="#exercise-multi-head-12">Exercise {whole("multi-head-12")}</a>',
        ),
        (
            "<p>Do Exercise masks-2, then rest.</p>",
            f"<p>Do Exercise {whole('masks-2')}, then rest.</p>",
        ),
    ],
)
def test_the_name_of_an_exercise_stays_on_one_line(before: str, after: str) -> None:
    assert mark_text(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "<h2>Exercises</h2><p>An exercise in GPT-2.</p>",
        "<title>Exercise masks-2</title>",
        '<img alt="1 > 0: Exercise masks-2">',
        "<script>'<p>Exercise masks-2</p>'</script>",
        "<!-- Exercise masks-2 > -->",
        "<svg><text>Exercise masks-2</text></svg>",
    ],
)
def test_all_else_stays_as_it_was(text: str) -> None:
    assert mark_text(text) == text
