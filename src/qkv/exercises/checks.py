"""`check`, its verdict, and the functions by which an exercise reads and rejects answers.

An exercise is a function of the reader's answer in `qkv/exercises/<concept>.py`:

    @exercise("masks-2")
    def padding_mask(answer: object) -> str | None:
        mask = as_array(answer, shape=(2, 1, 1, 6))
        reject(is_close(mask, ~RIGHT), "True and False are swapped.", "True = may attend.")
        reject(not is_close(mask, RIGHT), "Some columns are off.", "Look at the pad ids.")
        return "What the reader has now seen."

One whose answer is chosen, of letters, say, declares that (`choices.py`), and a page asks it with
buttons. The letters of an answer are then read before the function gets them.

Mistakes, hints and remarks reach the reader in the language of `qkv.set_language`. A literal is
translated here; one with fields is translated before they are filled in:

    gettext("The shape is {shape}.").format(shape=mask.shape)
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import numbers
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any, TypeVar

import numpy as np

from qkv.exercises.choices import VERDICTS_MIME, Letters, Part, answer_of, verdict_table
from qkv.language import gettext

Exercise = Callable[[Any], str | None]
AnyExercise = TypeVar("AnyExercise", bound=Exercise)

TWO_DECIMALS = 6e-3  # how far off is what was worked out on paper, rounded or cut
WRONG_CHOICE = "This choice is not right."
MARKS = {"right": "✓", "wrong": "✗", "open": "○"}


class WrongAnswer(Exception):
    """The likely mistake in an answer, and a hint that is not the answer."""

    def __init__(self, mistake: str, hint: str) -> None:
        super().__init__(mistake)
        self.mistake, self.hint = gettext(mistake), gettext(hint)


@dataclass(frozen=True)
class Verdict:
    """What `check` says. `state` is "right", "wrong" or "open" (not answered yet).

    An open one may have `table`, which makes the verdicts on all that can be chosen. They are
    stored with a notebook's output, for a page without Python.
    """

    name: str
    state: str
    text: str
    hint: str = ""
    table: Callable[[], dict[str, Any]] | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return self.state == "right"

    def __repr__(self) -> str:
        hint = f" {gettext('Hint:')} {self.hint}" if self.hint else ""
        return f"{MARKS[self.state]} {self.name}: {self.text}{hint}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        if self.table is None:
            return {}
        return {VERDICTS_MIME: {"exercise": self.name, **self.table()}}

    def _repr_html_(self) -> str:
        label = escape(gettext("Hint:"))
        hint = f"<br><em>{label}</em> {escape(self.hint)}" if self.hint else ""
        return (
            f'<div class="qkv-verdict qkv-{self.state}" role="status">{MARKS[self.state]} '
            f"<strong>{escape(self.name)}</strong>: {escape(self.text)}{hint}</div>"
        )


def exercise(name: str, *choices: Part) -> Callable[[AnyExercise], AnyExercise]:
    """Mark a function of one answer as the check of the exercise called `name`.

    Args:
        choices: what can be chosen, if the answer is chosen: one, or one for each part of it.
    """

    def mark(function: AnyExercise) -> AnyExercise:
        function.exercise = name  # type: ignore[attr-defined]
        function.choices = choices  # type: ignore[attr-defined]
        return function

    return mark


def load_exercises(concept: str) -> dict[str, Exercise]:
    """The exercises of one concept, by name; empty for a concept that has none."""
    module = f"{__package__}.{concept}"
    if not concept.isidentifier() or importlib.util.find_spec(module) is None:
        return {}
    items = vars(importlib.import_module(module)).values()
    return {item.exercise: item for item in items if hasattr(item, "exercise")}


def check(name: str, answer: object = None) -> Verdict:
    """Say whether an answer is right or, if not, what the likely mistake is. Never raises.

    Args:
        name: the exercise, such as "masks-2".
        answer: whatever the exercise asks for; None and ... count as not answered.
    """
    known = load_exercises(concept_of(name))
    if name not in known:
        text = gettext("there is no such exercise.")
        return Verdict(str(name), "wrong", text, _suggest_name(name, known))
    judge = partial(_judge, name, known[name])
    if answer is None or answer is ...:
        choices = choices_of(name)
        table = partial(verdict_table, choices, judge) if choices else None
        return Verdict(name, "open", gettext("not answered yet."), table=table)
    return judge(answer)


def check_choice(name: str, keys: Sequence[str]) -> Verdict:
    """`check` of what buttons chose: the key of each part of the answer (`choices.py`)."""
    return check(name, answer_of(choices_of(name), keys))


def choices_of(name: str) -> tuple[Part, ...]:
    """What can be chosen in each part of an exercise's answer; empty if it is not chosen."""
    choices: tuple[Part, ...] = getattr(load_exercises(concept_of(name)).get(name), "choices", ())
    return choices


def concept_of(name: object) -> str:
    """The concept that an exercise belongs to by its name."""
    return str(name).rpartition("-")[0]


def _judge(name: str, function: Exercise, answer: object) -> Verdict:
    try:
        remark = function(_read_letters(function, answer))
    except WrongAnswer as error:
        return Verdict(name, "wrong", error.mistake, error.hint)
    except Exception as error:  # a check must not break the reader's notebook
        text = gettext("this answer could not be read ({error}: {message}).")
        text = text.format(error=type(error).__name__, message=error)
        hint = gettext("Give what the exercise asks for, in that form.")
        return Verdict(name, "wrong", text, hint)
    return Verdict(name, "right", gettext(remark) if remark else gettext("right."))


def _read_letters(function: Exercise, answer: object) -> object:
    match getattr(function, "choices", ()):
        case (Letters() as choice,):
            return as_letters(answer, choice.letters)
    return answer


def _suggest_name(name: object, known: Mapping[str, Exercise]) -> str:
    matches = difflib.get_close_matches(str(name), known, n=1)
    if matches:
        return gettext("Did you mean '{name}'?").format(name=matches[0])
    return gettext("Names look like 'masks-2': the chapter's concept, a hyphen, a number.")


def reject(condition: object, mistake: str, hint: str) -> None:
    """Raise `WrongAnswer` when the condition holds."""
    if condition:
        raise WrongAnswer(mistake, hint)


def reject_each(got: object, *mistakes: tuple[object, str, str], tolerance: float = 1e-6) -> None:
    """Raise `WrongAnswer` at the first (answer, mistake, hint) that the reader has given."""
    for wrong, mistake, hint in mistakes:
        reject(is_close(got, wrong, tolerance), mistake, hint)


def reject_choice(
    chosen: object, right: object, hint: str, *misconceptions: tuple[object, str, str]
) -> None:
    """Raise `WrongAnswer` unless the choice is right as a whole: of letters, signs or names.

    Every wrong choice meets the same words. Words that depended on a part of it would tell, as the
    reader changes one part at a time, which of them are wrong. A misconception is a whole choice,
    and at a distance from the right one at which most choices are.

    Args:
        hint: how to decide about any part; it names none, and does not count.
        misconceptions: (choice, mistake, hint) of a few.
    """
    for choice, mistake, its_hint in misconceptions:
        reject(chosen == choice, mistake, its_hint)
    reject(chosen != right, WRONG_CHOICE, hint)


def as_number(answer: object) -> float:
    """The answer as one float, or `WrongAnswer`."""
    array = as_array(answer)
    reject(
        array.size != 1,
        gettext("One number was asked for; this has shape {shape}.").format(shape=array.shape),
        "Give a single number, such as 0.25.",
    )
    return float(array.reshape(()))


def as_array(
    answer: object,
    shape: tuple[int, ...] | None = None,
    hint: str = "Count the axes of the result, one by one, before its entries.",
) -> np.ndarray[Any, Any]:
    """The answer as a numeric or boolean array, or `WrongAnswer`.

    Numbers, fractions and decimals are read alike, in lists, tuples, ranges, arrays and tensors.

    Args:
        shape: what is asked for. Where that is (n,), a row (1, n) and a column (n, 1) will do.
        hint: for an answer of another shape.
    """
    if isinstance(answer, str | Mapping) or callable(answer):
        mistake = gettext("Numbers were asked for; this is a {type}.")
        mistake = mistake.format(type=type(answer).__name__)
        raise WrongAnswer(mistake, "Give a number or an array.")
    try:
        array = _plain_array(answer)
    except Exception:  # ragged lists, lists of tensors that still carry a graph
        array = np.asarray(None)
    reject(
        array.dtype.kind not in "biuf",
        "This is no array of numbers.",
        "All rows need the same length, and each entry must be a number or a truth value.",
    )
    if shape is not None and len(shape) == 1 and array.shape in ((1, *shape), (*shape, 1)):
        array = array.reshape(shape)
    reject(
        shape is not None and array.shape != shape,
        gettext("The shape is {got}; asked for is {right}.").format(got=array.shape, right=shape),
        hint,
    )
    return array


def _plain_array(answer: Any) -> np.ndarray[Any, Any]:
    """As NumPy reads it, and with fractions and decimals as floats."""
    if hasattr(answer, "detach"):  # a tensor; PyTorch itself need not be there
        answer = answer.detach().cpu()
        if str(answer.dtype) == "torch.bfloat16":  # which NumPy does not know
            answer = answer.float()
    array = np.asarray(answer)
    if array.dtype == object and all(isinstance(x, numbers.Number) for x in array.flat):
        array = array.astype(float)
    return array


def as_letters(answer: object, known: str) -> str:
    """Letters of those in `known`, sorted, from "AD", "a and d" or a list, or `WrongAnswer`."""
    parts = answer if isinstance(answer, list | tuple | set | frozenset) else [answer]
    words = re.findall(r"[^\W_]+", " ".join(map(str, parts)).upper())
    letters = {letter for word in words if word != "AND" for letter in word}
    reject(
        not letters <= set(known),
        gettext("Letters from {first} to {last} were asked for.").format(
            first=known[0], last=known[-1]
        ),
        'Write those that you choose as one string: "XY" for X and Y.',
    )
    return "".join(sorted(letters))


def as_sets(answer: object, order: str) -> list[set[float]]:
    """Two lists of positions, or `WrongAnswer`; `order` says which of them comes first."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    lists = [list(part) for part in parts if hasattr(part, "__iter__")]
    reject(len(parts) != 2 or len(lists) != 2, "Two lists were asked for.", order)
    reject(
        any(isinstance(entry, str | bool | np.bool_) for one in lists for entry in one),
        "These are not positions.",
        "Give the places where the tokens stand, as whole numbers counted from 0.",
    )
    return [set(as_array(one).ravel().tolist()) for one in lists]


def as_function(answer: object) -> Callable[..., Any]:
    """The reader's function; what it raises becomes a `WrongAnswer` that names its line."""
    if not callable(answer):
        mistake = gettext("A function was asked for; this is a {type}.")
        raise WrongAnswer(
            mistake.format(type=type(answer).__name__),
            "Hand over the function itself, without calling it: check(name, my_function).",
        )

    def guarded(*args: object, **kwargs: object) -> Any:
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        try:
            result = answer(*copies, **kwargs)
        except Exception as error:
            raise WrongAnswer(
                _failure(error), "Call it yourself on a small example first."
            ) from error
        reject(
            result is None,
            "Your function returned None.",
            "Does it end in a return statement?",
        )
        return result

    return guarded


def _failure(error: Exception) -> str:
    """What the reader's function raised, and in which of its lines where that is known."""
    kind = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first is the guard's own
    if not frames or not frames[0].line:
        text = gettext("Your function raised {error}: {message}.")
        return text.format(error=kind, message=error)
    text = gettext("Your function raised {error}: {message} (line {number}: {code}).")
    return text.format(error=kind, message=error, number=frames[0].lineno, code=frames[0].line)


def is_close(got: object, expected: object, tolerance: float = 1e-6) -> bool:
    """Whether two arrays have one shape and agree entry by entry. NaN agrees with nothing."""
    a, b = np.asarray(got), np.asarray(expected)
    if a.shape != b.shape or not all(isinstance(x, np.ndarray | numbers.Number) for x in (a, b)):
        return False
    return bool(np.allclose(a.astype(float), b.astype(float), rtol=tolerance, atol=tolerance))


def is_near(got: object, expected: object, varying: object, share: float) -> bool:
    """Whether two arrays agree to within a share of how much the rows of a third one vary.

    The limit is relative to max − min of a row, and not to its largest entry: a number that is
    added to a whole row makes that as large as one likes, and lets through what is wrong.

    Args:
        got, expected: like `varying`, or one number for each of its rows.
        varying: (..., n), rows of n numbers.
        share: 0.01 is a hundredth of a row's spread. Beside it, float64's rounding is allowed.
    """
    a, b, rows = (np.asarray(x, float) for x in (got, expected, varying))
    limit = share * np.ptp(rows, axis=-1) + 1e-12 * np.abs(rows).max(axis=-1)
    return bool((np.abs(a - b) <= (limit[..., None] if a.ndim == rows.ndim else limit)).all())
