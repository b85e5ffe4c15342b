"""The tests that the exercises of every chapter share: what is right, wrong and not answered."""

from typing import Any, ClassVar

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
        }
        for name in values.keys() & set(metafunc.fixturenames):
            ids = None if name == "exercise" else [f"{n}: {what}" for n, what, _ in values[name]]
            metafunc.parametrize(name, values[name], ids=ids)

    def test_every_exercise_is_tried_and_they_stand_in_order(self):
        concept = next(iter(self.right)).rpartition("-")[0]
        names = [f"{concept}-{n + 1}" for n in range(len(self.right))]
        assert list(load_exercises(concept)) == names == sorted(self.right) == sorted(self.wrong)

    def test_right_answer_is_accepted(self, right_answer):
        name, _, answer = right_answer
        verdict = check(name, answer)
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
