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


def test_the_line_of_a_measurement_may_break_and_its_table_may_not() -> None:
    said = "Measured on 2026-11-22 (x86_64, 2 cores; numpy 2.4.6) by\npython -m qkv.experiments.one"
    marked = mark_text(f"<pre>   n   ms\n  64  0.1\n{said}\n\nlayers  4</pre>")
    wrapped = f'<span class="qkv-wrap">{said}</span>'
    assert marked == f"<pre>   n   ms\n  64  0.1\n{wrapped}\n\nlayers  4</pre>"
    assert mark_text("<p>Measured on a GPU.</p>") == "<p>Measured on a GPU.</p>"


def korean(text: str) -> str:
    return f'<span lang="ko">{text}</span>'


def test_a_korean_page_marks_no_korean_and_the_rest_as_any_page() -> None:
    said = "2026-11-22 (x86_64, 2 cores; numpy 2.4.6)에서\npython -m qkv.experiments.one"
    before = (
        f"<h3>연습 문제 masks-3 · 표</h3><p>연습 문제 add_norm-12의 값</p><pre>측정: {said}</pre>"
    )
    after = before.replace("masks-3", whole("masks-3")).replace("add_norm-12", whole("add_norm-12"))
    after = after.replace(said, f'<span class="qkv-wrap">{said}</span>')
    page = '<html data-content_root="../" lang="ko"><body>{}</body></html>'
    assert mark_text(page.format(before)) == page.format(after)
    assert "qkv-nowrap" not in mark_text("<p>masks-3, x-1 and 연습 1</p>")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<h2>What 밥 means</h2>", f"<h2>What {korean('밥')} means</h2>"),
        ("<td>나는 밥을 먹었다.</td>", f"<td>{korean('나는 밥을 먹었다')}.</td>"),
        ("<strong>값 (밸류)</strong>", f"<strong>{korean('값')} ({korean('밸류')})</strong>"),
        ("<p>ㅂ, ㅏ and ㅂ</p>", f"<p>{korean('ㅂ, ㅏ')} and {korean('ㅂ')}</p>"),
        ("<pre>고양이\n  매트</pre>", f"<pre>{korean(chr(10).join(['고양이', '  매트']))}</pre>"),
        ('<a title="밥">밥 &gt; 0</a>', f'<a title="밥">{korean("밥")} &gt; 0</a>'),
        ("<noscript><p>밥</p></noscript>", f"<noscript><p>{korean('밥')}</p></noscript>"),
        (
            "<mtext>밥</mtext><annotation>\\text{밥}</annotation>",
            f"<mtext>{korean('밥')}</mtext><annotation>\\text{{밥}}</annotation>",
        ),
    ],
)
def test_hangul_is_korean(before: str, after: str) -> None:
    assert mark_text(before) == after
    assert mark_text(after) == after


@pytest.mark.parametrize(
    "text",
    [
        "<title>밥</title>",
        "<style>.a { content: '밥' }</style>",
        '<script type="application/json">{"a": "<b>밥</b>"}</script>',
        "<textarea>밥</textarea>",
        "<em lang='ko'>밥 (<b>rice</b>) 밥</em>",
        '<p class="a" lang="ko-KR">밥</p>',
        '<html lang="ko"><body><p>밥</p></body></html>',
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
