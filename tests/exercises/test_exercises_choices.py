"""Questions of letters, signs and names: changing one at a time teaches nothing about the rest."""

import itertools
import re
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

from qkv.exercises import check
from qkv.exercises.checks import load_exercises
from qkv.exercises.devices import DIFFERENCES
from qkv.exercises.training import DIAGNOSES, PANELS

CHAPTERS = sorted((Path(__file__).parents[2] / "chapters").glob("*.ipynb"))
FEW = 3  # named misconceptions of one question


def letters_of(name):
    """The letters that an exercise asks for, "" if it asks for something else."""
    asked = re.match("Letters from A to (.) were asked for", check(name, "?!1").text)
    return "ABCDEFGH"[: "ABCDEFGH".index(asked[1]) + 1] if asked else ""


def sets_of(letters):
    """{which of them are chosen: the answer} for all sets of the letters."""
    return {
        chosen: "".join(itertools.compress(letters, chosen))
        for chosen in itertools.product([False, True], repeat=len(letters))
    }


def named(places, values):
    """{the value at each place: the answer} for all ways to give each place a value."""
    choices = itertools.product(values, repeat=len(places))
    return {choice: dict(zip(places, choice, strict=True)) for choice in choices}


def questions():
    """{exercise, and which part of it: (exercise, its places, {choice: answer})}."""
    of_letters = {
        name: letters_of(name)
        for path in CHAPTERS
        for name in load_exercises(path.stem.partition("_")[2])
    }
    found = {
        name: (name, letters, sets_of(letters)) for name, letters in of_letters.items() if letters
    }
    five = sets_of("ABCDE")
    parts = {
        "start-1": ("ABCD", {c: (0.53, letters) for c, letters in sets_of("ABCD").items()}),
        "decoding-2: first": ("ABCDE", {c: (letters, "A") for c, letters in five.items()}),
        "decoding-2: second": ("ABCDE", {c: ("ACE", letters) for c, letters in five.items()}),
        "attention-6": ("", {c: c for c in itertools.product([False, True], repeat=3)}),
        "results-3": ("12345", {c: "".join(c) for c in itertools.product("YN", repeat=5)}),
        "cost-1": ("ABCD", {c: "".join(c) for c in itertools.permutations("ABCD")}),
        "cost-7": ("ABCD", {c: "".join(c) for c in itertools.permutations("ABCD")}),
        "devices-2": ("ABCDEF", named("ABCDEF", sorted(set(DIFFERENCES.values())))),
        "training-3": ("ABCD", named("ABCD", DIAGNOSES)),
    }
    assert set(DIFFERENCES) == set("ABCDEF")
    assert set(PANELS) == set("ABCD")
    return found | {part: (part.partition(":")[0], *rest) for part, rest in parts.items()}


QUESTIONS = questions()


def places_that_differ(one, other):
    return sum(a != b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("question", QUESTIONS)
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
    name, places, answers = QUESTIONS[question]
    verdicts = {choice: check(name, answer) for choice, answer in answers.items()}
    (right,) = (choice for choice, verdict in verdicts.items() if verdict)
    words = {c: f"{v.text} {v.hint}" for c, v in verdicts.items() if c != right}
    (general, _), *others = Counter(words.values()).most_common()
    assert len(others) <= FEW, others
    assert {count for _, count in others} <= {1}
    misconceptions = [choice for choice, said in words.items() if said != general]
    if misconceptions:
        distance = mean(places_that_differ(choice, right) for choice in misconceptions)
        assert abs(distance - mean(places_that_differ(c, right) for c in answers)) <= 0.5
    for said in words.values():
        assert not re.search(rf"\b[{places or '-'}]\b", said), said
        assert not re.search("missing|too (many|few)|one more|another one", said), said


def test_every_question_of_letters_is_found():
    assert {letters for _, letters, _ in QUESTIONS.values()} >= {"ABCD", "ABCDE", "ABCDEF"}
    assert len({name for name, _, _ in QUESTIONS.values()}) >= 20
