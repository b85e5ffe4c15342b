"""The engine behind every exercise: verdicts that teach, and never an exception."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from qkv.exercises import check, checks
from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    as_number,
    as_sets,
    exercise,
    is_close,
    is_near,
    load_exercises,
    reject,
    reject_choice,
)


@exercise("demo-1")
def half(answer):
    reject(as_number(answer) == 2, "That is the reciprocal.", "Which of the two divides?")
    reject(as_number(answer) != 0.5, "Not that.", "Halve it.")
    return "A half it is."


@exercise("demo-2")
def double(answer):
    function = as_function(answer)
    reject(not is_close(function(np.ones(2)), [2, 2]), "Not doubled.", "Add it to itself.")


@exercise("demo-3")
def broken(answer):
    raise KeyError("a bug in the check itself")


@pytest.fixture(autouse=True)
def _demo(monkeypatch):
    demo = {e.exercise: e for e in (half, double, broken)}
    monkeypatch.setattr(checks, "load_exercises", lambda concept: demo if concept == "demo" else {})


def test_right_answer_is_right_and_says_what_was_seen():
    verdict = check("demo-1", 0.5)
    assert verdict
    assert repr(verdict) == "✓ demo-1: A half it is."


def test_wrong_answer_gets_its_mistake_and_its_hint():
    verdict = check("demo-1", 2)
    assert not verdict
    assert repr(verdict) == "✗ demo-1: That is the reciprocal. Hint: Which of the two divides?"


@pytest.mark.parametrize("answer", [None, ...])
def test_unanswered_says_so(answer):
    assert check("demo-1", answer).state == "open"
    assert "not answered yet" in repr(check("demo-1", answer))


def test_unknown_name_suggests_the_nearest():
    assert "Did you mean 'demo-1'" in repr(check("demo-11", 1))
    assert "Names look like" in repr(check("nonsense", 1))
    assert not check(7, 1)


@pytest.mark.parametrize(
    "answer",
    ["text", {}, [], [[1], [1, 2]], object(), [1, 2], lambda: 1, np.array("x"), float("nan"), 1j],
)
def test_no_answer_makes_check_raise(answer):
    verdict = check("demo-1", answer)
    assert verdict.state == "wrong"
    assert verdict.hint


def test_a_fault_of_the_check_is_still_no_exception():
    assert "KeyError" in repr(check("demo-3", 1))


def test_a_readers_function_that_raises_is_named_with_its_line():
    def mine(x):
        return x @ np.ones(3)

    text = repr(check("demo-2", mine))
    assert "ValueError" in text
    assert "return x @ np.ones(3)" in text


def test_a_readers_function_may_not_change_the_checks_arrays():
    given = np.ones(2)

    def mine(x):
        x += 1
        return x

    assert is_close(as_function(mine)(given), [2, 2])
    assert given.tolist() == [1, 1]


def test_a_function_without_return_is_told_so():
    assert "returned None" in repr(check("demo-2", lambda x: None))


def test_html_escapes_what_the_reader_wrote():
    assert "<b>" not in check("<b>", 1)._repr_html_()
    assert 'class="qkv-verdict qkv-right"' in check("demo-1", 0.5)._repr_html_()


def test_as_array_names_both_shapes():
    with pytest.raises(WrongAnswer, match=r"\(3,\); asked for is \(2,\)"):
        as_array([1, 2, 3], shape=(2,))


@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 1)])
def test_a_row_and_a_column_are_read_as_a_vector(shape):
    assert as_array(np.arange(3).reshape(shape), (3,)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "asked"), [((2, 2), (4,)), ((1, 2, 3), (2, 3)), ((3,), (1, 3)), ((1, 1, 3), (3,))]
)
def test_other_shapes_are_not_bent(given, asked):
    with pytest.raises(WrongAnswer, match="asked for is"):
        as_array(np.ones(given), asked)


def test_tensors_fractions_and_truth_values_are_read_as_they_are():
    assert as_array(torch.ones(2, requires_grad=True)).dtype == np.float32
    assert as_array(torch.tensor([True])).dtype == np.bool_
    assert as_array([Fraction(1, 4), 2, Decimal("0.5")]).tolist() == [0.25, 2, 0.5]
    assert as_array(range(2)).dtype.kind == "i"


@pytest.mark.parametrize(
    "parts", [([2, 1], {0}), [range(1, 3), (0,)], [np.array([[1, 2]]), torch.tensor([0])]]
)
def test_positions_come_in_any_form(parts):
    assert as_sets(parts, "First one, then the other.") == [{1, 2}, {0}]


@pytest.mark.parametrize("wrong", [[1, 2], ["12", "0"], [[True], [0]], [[1], [2], [3]], "12"])
def test_other_things_are_no_positions(wrong):
    with pytest.raises(WrongAnswer):
        as_sets(wrong, "First one, then the other.")


@pytest.mark.parametrize(
    "answer", ["AC", "c, a", "A and C", "a/c.", ["A", "c"], ("C", " a "), {"a", "C"}]
)
def test_letters_come_in_any_form(answer):
    assert as_letters(answer, "ABCD") == "AC"


@pytest.mark.parametrize("answer", [3, "AE", "yes", {"A": True}])
def test_other_letters_are_answered_by_an_example_that_is_no_answer(answer):
    with pytest.raises(WrongAnswer, match="Letters from A to D were asked for") as raised:
        as_letters(answer, "ABCD")
    assert raised.value.hint == 'Write those that you choose as one string: "XY" for X and Y.'


def test_a_choice_is_right_as_a_whole_or_meets_words_for_the_whole():
    def mistake(chosen):
        with pytest.raises(WrongAnswer) as raised:
            reject_choice(chosen, "AC", "Try each.", ("BC", "Mixed up.", "Which way round?"))
        return raised.value.mistake, raised.value.hint

    reject_choice("AC", "AC", "Try each.")
    assert mistake("BC") == ("Mixed up.", "Which way round?")
    assert {mistake(chosen) for chosen in ("", "A", "C", "ABC", "B")} == {
        ("This choice is not right.", "Try each.")
    }


def test_close_needs_one_shape_and_no_nan():
    assert is_close([1.0, 2.0], np.array([1, 2 + 1e-9]))
    assert not is_close([[1.0, 2.0]], [1.0, 2.0])
    assert not is_close([np.nan], [np.nan])
    assert not is_close([1.0], [1.001])


def test_near_is_measured_by_what_varies_in_a_row():
    rows = np.array([[0.0, 1.0], [1000.0, 1001.0]])
    assert is_near(rows + 0.009, rows, rows, 0.01)
    assert not is_near(
        rows + np.array([[0], [0.02]]), rows, rows, 0.01
    )  # 2e-5 of the largest entry
    assert is_near([0.009, 1000.009], [0, 1000], rows, 0.01)
    assert not is_near([0, 1000.02], [0, 1000], rows, 0.01)
    assert is_near(0.1 + 0.2, 0.3, [0.3, 0.3], 0.01)
    assert not is_near(np.nan, 0, [0, 1], 0.01)


def test_concepts_without_exercises_have_none():
    assert load_exercises("shapes") == {}
    assert load_exercises("not a name") == {}
