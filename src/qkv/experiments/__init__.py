"""Experiments that take too long for a chapter's cell, and their stored, dated results.

Each module is one experiment: `measure()` runs it, `check()` asserts what the book says of it, and
`python -m qkv.experiments.NAME` runs it anew and stores what came out.
"""

from qkv.experiments.stored_results import StoredResult, stored_result

__all__ = ["StoredResult", "stored_result"]
