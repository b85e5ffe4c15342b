"""The rules that every chapter keeps: `problems(chapter)` names each cell that breaks one.

Pure functions over the stored notebook; nothing is run here. tests/chapters/test_notebooks.py asks
them of the chapters, and of copies with a fault planted for each rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tools.notebook_rules import code, core, stored, teaching
from tools.notebook_rules.chapter import Chapter

__all__ = ["RULES", "Chapter", "problems"]

RULES: tuple[Callable[[Chapter], Iterable[str]], ...] = (
    stored.ran_in_order,
    stored.no_errors,
    stored.nothing_excused,
    stored.no_leftovers,
    stored.stable_ids,
    stored.widgets_stored,
    stored.set_up_for_colab,
    stored.stored_in_normal_form,
    code.short,
    code.says_something,
    code.alt_text,
    code.package_code_imported,
    code.torch_late,
    teaching.nothing_left_to_write,
    teaching.known_tags,
    teaching.slides_of_the_core,
    teaching.covers_rows,
    teaching.has_exercises,
    teaching.solutions_folded,
    teaching.has_explorer,
    teaching.explorers_asserted,
    core.core_in_time,
    core.times_at_top,
    core.in_order,
    core.further_asks,
    core.names_in_sight,
    core.terms_introduced,
)


def problems(chapter: Chapter) -> list[str]:
    """Every broken rule, each as one line that begins with the cell or the chapter it is in."""
    return [problem for rule in RULES for problem in rule(chapter)]
