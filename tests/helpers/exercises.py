"""The tests that the exercises of every chapter share: what is right, wrong and not answered."""

from typing import Any, ClassVar

from qkv.exercises import check
from qkv.exercises.checks import load_exercises


class ExerciseAnswers:
    """Tests of a chapter's checks; the class of a test file derives from it and gives answers.

        class TestAnswers(ExerciseAnswers):
            right = {"masks-1": 0.5}
            wrong = {"masks-1": {"not divided": 1, "a share of all": 0.25, "other": 7}}
            also_right = {"a list": ("masks-1", [0.5])}

    `right` names every exercise of its chapter. `wrong` has at least three mistakes for each; a
    hint belongs to one mistake, but for those named in `same_hint` as (exercise, mistake).
    """

    right: ClassVar[dict[str, Any]]
    wrong: ClassVar[dict[str, dict[str, Any]]]
    also_right: ClassVar[dict[str, tuple[str, Any]]] = {}
    same_hint: ClassVar[frozenset[tuple[str, str]]] = frozenset()

    def pytest_generate_tests(self, metafunc):
        values = {
            "exercise": list(self.right),
            "exercise_with_mistakes": list(self.wrong),
            "mistake": [(name, what) for name, answers in self.wrong.items() for what in answers],
            "other_form": list(self.also_right),
        }
        for name in values.keys() & set(metafunc.fixturenames):
            ids = [": ".join(case) for case in values[name]] if name == "mistake" else None
            metafunc.parametrize(name, values[name], ids=ids)

    def test_every_exercise_is_tried(self):
        concept = next(iter(self.right)).rpartition("-")[0]
        assert set(load_exercises(concept)) == set(self.right) == set(self.wrong)

    def test_right_answer_is_accepted(self, exercise):
        verdict = check(exercise, self.right[exercise])
        assert verdict.state == "right", verdict

    def test_other_right_answer_is_accepted(self, other_form):
        verdict = check(*self.also_right[other_form])
        assert verdict.state == "right", verdict

    def test_wrong_answer_is_refused_with_a_hint(self, mistake):
        name, what = mistake
        verdict = check(name, self.wrong[name][what])
        assert verdict.state == "wrong", verdict
        assert verdict.hint

    def test_each_mistake_has_its_own_hint(self, exercise_with_mistakes):
        name = exercise_with_mistakes
        hints = {
            what: check(name, answer).hint
            for what, answer in self.wrong[name].items()
            if (name, what) not in self.same_hint
        }
        assert len(set(hints.values())) == len(hints) >= 3, hints

    def test_unanswered_says_so(self, exercise):
        assert check(exercise, ...).state == "open"
