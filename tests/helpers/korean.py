"""A stand-in for a Korean chapter: an English one whose headings and set phrases are Korean."""

from __future__ import annotations

import copy
import re
from typing import Any

WORDS = {
    r"^### Exercise ": "### 연습 문제 ",
    r"^\*About (\d+) minutes?\.\*$": r"*약 \1분.*",
    r"^\*Read: (\d+) minutes\. Exercises: (\d+)\. Going further: (\d+)\.\*$": (
        r"*읽기: \1분. 연습 문제: \2분. 더 알아보기: \3분.*"
    ),
    r"^## Exercises$": "## 연습 문제",
    r"^## Going further$": "## 더 알아보기",
    r"^## What to remember$": "## 기억할 것",
    r"^## Sources and further reading$": "## 출처와 더 읽을거리",
    r"<summary>Guess": "<summary>짐작해 본 다음 여세요",
}
LANGUAGE = 'import qkv\n\nqkv.set_language("ko")'


def korean_words(text: str) -> str:
    """Markdown of a chapter with Korean words in what the book's tools look for."""
    for english, korean in WORDS.items():
        text = re.sub(english, korean, text, flags=re.MULTILINE)
    return text


def in_korean(notebook: Any) -> Any:
    """A copy of a chapter with these words, and the line that chooses its language."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = korean_words(cell.source)
    code = next(cell for cell in notebook.cells if cell.cell_type == "code")
    code.source = f"{LANGUAGE}\n{code.source}"
    return notebook
