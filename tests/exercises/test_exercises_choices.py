"""Questions of letters, signs and names: changing one at a time teaches nothing about the rest.

And the verdicts on all their choices, which a page shows without Python, are those of `check`.
"""

import inspect
import itertools
import re
from collections import Counter
from statistics import mean

import pytest

from qkv.exercises import check
from qkv.exercises.checks import check_choice, choices_of
from qkv.exercises.choices import (
    VERDICTS_MIME,
    Letters,
    Number,
    OneEach,
    answer_of,
    verdict_table,
)
from qkv.exercises.devices import DIFFERENCES
from qkv.exercises.training import PANELS
from tests.helpers.choices import CHOSEN, FUNCTIONS, right_keys

FEW = 3  # named misconceptions of one question
UNREAD = "were asked for."  # how a verdict ends on what is no choice, such as one letter twice
WORDS = {"embedding-4"}  # a number and words that the reader writes


def questions():
    """{exercise, and which part of it: (the part, {its key: the verdict, other parts right})}."""
    found = {}
    for name in CHOSEN:
        parts = choices_of(name)
        right = right_keys(name)
        for n, part in enumerate(parts):
            answers = {key: (*right[:n], key, *right[n + 1 :]) for key in part.every_key()}
            verdicts = {key: check_choice(name, keys) for key, keys in answers.items()}
            found[f"{name}: {n + 1}" if len(parts) > 1 else name] = (part, verdicts)
    return found


QUESTIONS = questions()
OF_LETTERS = [name for name, (part, _) in QUESTIONS.items() if not isinstance(part, Number)]


def places_of(part, key):
    """What a choice has at each of the places at which it can differ from another."""
    letters = getattr(part, "letters", None)
    return [letter in key for letter in letters] if letters else key.split(",")


@pytest.mark.parametrize("question", OF_LETTERS)
def test_changing_one_letter_at_a_time_teaches_nothing(question):
    """A player climbs: change one letter, see whether the words change, keep what seems nearer.

    All choices are tried. Nothing can be learned from the words if they are the same for every
    wrong choice; so they are, but for at most `FEW` that are misconceptions, each with words of its
    own. These few may still show the way, if they lie near the right choice: whoever meets one need
    not look far, or next to its opposite. So their mean distance from the right choice, in letters
    that differ, is that of all choices, to within half a letter. Then a change that leads to a
    named choice leads away from the right one as often as to it, which is chance. Last, no words
    name a letter or say how many are missing.
    """
    part, verdicts = QUESTIONS[question]
    verdicts = {key: v for key, v in verdicts.items() if not v.text.endswith(UNREAD)}
    (right,) = (key for key, verdict in verdicts.items() if verdict)
    words = {key: f"{v.text} {v.hint}" for key, v in verdicts.items() if key != right}
    (general, _), *others = Counter(words.values()).most_common()
    assert len(others) <= FEW, others
    assert {count for _, count in others} <= {1}
    misconceptions = [key for key, said in words.items() if said != general]

    def distance(key):
        pairs = zip(places_of(part, key), places_of(part, right), strict=True)
        return sum(one != other for one, other in pairs)

    if misconceptions:
        assert abs(mean(map(distance, misconceptions)) - mean(map(distance, verdicts))) <= 0.5
    for said in words.values():
        assert not re.search(r"\b[A-H1-5]\b(?!\.\d)", said), said
        assert not re.search("missing|too (many|few)|one more|another one", said), said


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_decided_as_a_whole_is_declared_as_a_choice(name):
    decided = "reject_choice(" in inspect.getsource(FUNCTIONS[name])
    of_letters = check(name, "?!1").text.startswith("Letters from ")
    assert (decided or of_letters) == (name in {*CHOSEN, *WORDS})


def test_the_questions_are_many_and_of_every_kind():
    kinds = {type(part) for name in CHOSEN for part in choices_of(name)}
    assert kinds == {Letters, OneEach, Number}
    assert len(CHOSEN) >= 24
    assert max(len(choices_of(name)) for name in CHOSEN) == 2
    assert set(DIFFERENCES) == set("ABCDEF")
    assert set(PANELS) == set("ABCD")


@pytest.mark.parametrize("name", CHOSEN)
def test_the_table_says_what_check_says_of_every_choice(name):
    """As a page reads it: of several parts, the first that is not right has the word."""
    table = check(name)._repr_mimebundle_()[VERDICTS_MIME]
    assert table["exercise"] == name
    assert len({tuple(row) for row in table["verdicts"]}) == len(table["verdicts"])
    for keys in itertools.product(*(part.every_key() for part in choices_of(name))):
        said = [
            table["verdicts"][part["choices"].get(key, part["others"])]
            for part, key in zip(table["parts"], keys, strict=True)
        ]
        shown = next((row for row in said if row[0] != "right"), said[-1])
        verdict = check_choice(name, keys)
        assert shown == [verdict.state, verdict.text, verdict.hint], keys


def test_only_an_open_question_of_choices_carries_the_table():
    assert check("masks-3", "AE")._repr_mimebundle_() == {}
    assert check("masks-1")._repr_mimebundle_() == {}


@pytest.mark.parametrize(
    ("part", "keys", "answers"),
    [
        (Letters("AB"), ["", "B", "A", "AB"], ["", "B", "A", "AB"]),
        (OneEach("12", "YN"), ["Y,Y", "Y,N", "N,Y", "N,N"], ["YY", "YN", "NY", "NN"]),
        (OneEach("A", ("x y",), dict.fromkeys), ["x y"], [{"x y": None}]),
        (Number(1, 1), [f"0.{n}" for n in range(10)] + ["1.0"], [n / 10 for n in range(11)]),
    ],
)
def test_a_choice_has_a_key_and_an_answer(part, keys, answers):
    assert list(part.every_key()) == keys
    assert [part.answer(key) for key in keys] == answers
    assert answer_of([part], keys[:1]) == answers[0]
    assert answer_of([part, part], keys[:1] * 2) == (answers[0], answers[0])


def test_a_declaration_that_holds_no_right_answer_says_so():
    with pytest.raises(ValueError, match=r"no choice of Letters\(letters='A'.* is right: .* reach"):
        verdict_table([Letters("A")], lambda _: check("masks-3", ""))
