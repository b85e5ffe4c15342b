"""The tests that the exercises of every chapter share: what is right, wrong and not answered."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import torch

from qkv.exercises import check
from qkv.exercises.checks import WRONG_CHOICE, load_exercises


class ExerciseAnswers:
    """Tests of a chapter's checks; the class of a test file derives from it and gives answers.

        class TestAnswers(ExerciseAnswers):
            right = {"masks-1": 0.5}
            wrong = {"masks-1": {"not divided": 1, "a share of all": 0.25, "other": 7}}
            also_right = {"a list": ("masks-1", [0.5])}

    `right` names every exercise of its chapter. `wrong` has at least three mistakes for each, and
    each has a hint of its own, but for wrong choices of letters (`test_choices.py`); what shares a
    hint stands in `also_wrong`. With `quoted`, what a mistake is called stands in its verdict.
    Numbers need not be given in other forms: `test_right_numbers_are_accepted_in_any_form` does.
    """

    right: ClassVar[dict[str, Any]]
    wrong: ClassVar[dict[str, dict[str, Any]]]
    also_right: ClassVar[dict[str, tuple[str, Any]]] = {}
    also_wrong: ClassVar[dict[str, tuple[str, Any]]] = {}
    quoted: ClassVar[bool] = False

    def pytest_generate_tests(self, metafunc):
        right = [(name, "right", answer) for name, answer in self.right.items()]
        wrong = [(name, what, a) for name, each in self.wrong.items() for what, a in each.items()]
        values = {
            "exercise": list(self.right),
            "right_answer": right + [(n, what, a) for what, (n, a) in self.also_right.items()],
            "mistake": wrong + [(n, what, a) for what, (n, a) in self.also_wrong.items()],
            "numbers": [
                (name, form, answer)
                for name, _, answer in right
                for form in FORMS
                if in_form(answer, form) is not None
            ],
        }
        for name in values.keys() & set(metafunc.fixturenames):
            ids = None if name == "exercise" else [f"{n}: {what}" for n, what, _ in values[name]]
            metafunc.parametrize(name, values[name], ids=ids)

    def test_every_exercise_is_tried_and_they_stand_in_order(self):
        concept = next(iter(self.right)).rpartition("-")[0]
        names = [f"{concept}-{n + 1}" for n in range(len(self.right))]
        assert list(load_exercises(concept)) == names
        assert self.right.keys() == self.wrong.keys() == set(names)

    def test_right_answer_is_accepted(self, right_answer):
        name, _, answer = right_answer
        verdict = check(name, answer)
        assert verdict.state == "right", verdict

    def test_right_numbers_are_accepted_in_any_form(self, numbers):
        name, form, answer = numbers
        verdict = check(name, in_form(answer, form))
        assert verdict.state == "right", verdict

    def test_wrong_answer_is_refused_with_a_hint(self, mistake):
        name, what, answer = mistake
        verdict = check(name, answer)
        assert verdict.state == "wrong", verdict
        assert verdict.hint
        if self.quoted and what not in self.also_wrong:
            assert what in repr(verdict)

    def test_each_mistake_has_its_own_hint(self, exercise):
        wrong = self.wrong[exercise]
        assert len(wrong) >= 3
        verdicts = {what: check(exercise, answer) for what, answer in wrong.items()}
        hints = {what: v.hint for what, v in verdicts.items() if v.text != WRONG_CHOICE}
        assert len(set(hints.values())) == len(hints), hints

    def test_unanswered_says_so(self, exercise):
        assert check(exercise, ...).state == "open"


def entries(change: Callable[[Any], Any]) -> Callable[[np.ndarray], Any]:
    """Nested tuples of the changed entries of an array, or one changed number."""

    def each(array: np.ndarray) -> Any:
        return tuple(map(each, array)) if array.ndim else change(array.item())

    return each


def as_range(array: np.ndarray) -> range | None:
    """The same whole numbers, if they are equally far apart."""
    if array.ndim != 1 or len(array) < 2 or (array % 1).any() or np.ptp(np.diff(array)):
        return None
    start, step = int(array[0]), int(array[1] - array[0])
    return range(start, start + step * len(array), step) if step else None


def by_pencil(array: np.ndarray) -> np.ndarray:
    """Three significant digits of what is no whole number."""
    rounded = entries(lambda x: float(f"{x:.3g}"))(array)
    return np.where(array % 1, rounded, array)


# The forms in which numbers come, of a float64 array; None where there is no such form of it.
FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "an array": np.asarray,
    "tuples": entries(float),
    "lists": np.ndarray.tolist,
    "fractions": entries(Fraction),
    "decimals": entries(lambda x: Decimal(repr(x))),
    "NumPy numbers": entries(np.float64),
    "float32": np.float32,
    "one row": lambda a: a[None] if a.ndim < 2 else None,
    "a tensor": torch.tensor,
    "a range": as_range,
    "by pencil": by_pencil,
}


def in_form(answer: Any, form: str) -> Any:
    """The answer's numbers in another form, part by part; None if it holds none, or none such."""
    if isinstance(answer, str | set):
        return answer
    if isinstance(answer, dict) or callable(answer):
        return None
    try:
        array = np.asarray(answer)
    except ValueError:  # parts of different shapes
        array = np.asarray(None)
    if array.dtype.kind in "iuf":
        return FORMS[form](array.astype(float))
    if not isinstance(answer, list | tuple) or array.dtype.kind == "b":
        return None
    parts = [in_form(part, form) for part in answer]
    numbers = any(part is not given for part, given in zip(parts, answer, strict=True))
    return parts if numbers and not any(part is None for part in parts) else None
