"""Reads a chapter together with what the house owes it: rows, exercises, terms."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

import qkv.numpy
from qkv.exercises.checks import load_exercises
from tools.colab import repository_address
from tools.notebook_rules.chapter import Chapter

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / "tests" / "chapters" / "coverage_rows.txt"
GLOSSARY = ROOT / "book" / "glossary.md"
ENTRY = re.compile(r"^(?P<term>\S.*)\n  \*\*.*?\*\* · .*?(?: · chapter (?P<number>\d+))?$", re.M)


def load_chapter(path: Path) -> Chapter:
    text = path.read_text(encoding="utf-8")
    number, _, concept = path.stem.partition("_")
    return Chapter(
        concept=concept,
        notebook=nbformat.reads(text, as_version=4),
        text=text,
        rows=load_rows(),
        exercises=frozenset(load_exercises(concept)),
        package=frozenset(vars(qkv.numpy)["__all__"]),
        address=repository_address(),
        number=int(number),
        terms=load_terms(),
    )


def load_rows() -> dict[str, frozenset[str]]:
    """Each row of the sources, and the chapters that owe it."""
    lines = ROWS.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {row: frozenset(concepts) for row, *concepts in rows}


def load_terms() -> dict[str, int]:
    """Each term of the glossary that a chapter introduces, and that chapter's number."""
    return {
        re.sub(r" \(.*\)$", "", entry["term"]): int(entry["number"])
        for entry in ENTRY.finditer(GLOSSARY.read_text(encoding="utf-8"))
        if entry["number"]
    }
