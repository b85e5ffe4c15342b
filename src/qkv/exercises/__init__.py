"""Answers to the chapters' exercises, checked: `check("attention-1", answer)`."""

from qkv.exercises.checks import check

__all__ = ["check"]
