"""Verdicts in another language: each is one message of the catalogue, and nothing is beside it.

The catalogue here holds what is extracted from the source: literals, and none that are put together
while the code runs. It says them in capitals, between marks: «NOT THESE. {count} ARE OFF.»
"""

import ast
import importlib
import re
from contextlib import contextmanager
from functools import cache
from gettext import NullTranslations
from pathlib import Path

import pytest

from qkv import exercises, language
from qkv.exercises import check
from qkv.exercises.checks import choices_of, load_exercises

SOURCES = sorted(Path(exercises.__file__).parent.glob("*.py"))
CONCEPTS = [path.stem for path in SOURCES if load_exercises(path.stem)]
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef
FIELD = re.compile(r"(\{[^{}]*\})")
# A message, in which a mistake may stand that a check quotes: «WITH TWO SENTENCES: «NO NUMBERS.»»
MESSAGE = re.compile(r"«[^«»]*(«[^«»]*»[^«»]*)?»")


def tree_of(path):
    return ast.parse(path.read_text("utf-8"))


def messages_of(path):
    """The literals of a module that are messages: marked, or with a space and no docstring."""
    nodes = list(ast.walk(tree_of(path)))
    docstrings = {id(n.body[0].value) for n in nodes if isinstance(n, DOCUMENTED) and docstring(n)}
    inside = {id(part) for n in nodes if isinstance(n, ast.JoinedStr) for part in n.values}
    for node in nodes:
        match node:
            case ast.Call(
                func=ast.Name(id="gettext" | "gettext_noop"), args=[ast.Constant(value=text)]
            ):
                yield text
            case ast.Constant(value=str(text)) if " " in text:
                if id(node) not in docstrings | inside:
                    yield text


def docstring(node):
    return ast.get_docstring(node, clean=False) is not None


@cache
def messages():
    return frozenset(text for path in SOURCES for text in messages_of(path))


class Capitals(NullTranslations):
    def gettext(self, message):
        if message not in messages():
            return message
        parts = FIELD.split(message)
        return f"«{''.join(p if FIELD.match(p) else p.upper() for p in parts)}»"


@contextmanager
def in_capitals():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language, "catalogue", lambda _: Capitals())
        yield


def answers_of(concept):
    """(exercise, answer) of all that the tests of a concept give."""
    answers = importlib.import_module(f"tests.exercises.test_exercises_{concept}").TestAnswers
    yield from answers.right.items()
    yield from answers.also_right.values()
    yield from answers.also_wrong.values()
    for name, wrong in answers.wrong.items():
        yield from ((name, answer) for answer in wrong.values())


def words_of(verdict):
    return [words for words in (verdict.text, verdict.hint) if words]


def pieces_in(words, name):
    """Messages in English inside of another. What is quoted is data, and names are answers."""
    names = {value for part in choices_of(name) for value in getattr(part, "values", ())}
    pieces = (text for text in messages() - names if text in words and text != text.upper())
    return [text for text in pieces if repr(text) not in words]


@pytest.mark.parametrize("concept", CONCEPTS)
def test_a_verdict_is_the_same_in_another_language_and_whole_in_it(concept):
    for name, answer in answers_of(concept):
        english = check(name, answer)
        with in_capitals():
            verdict = check(name, answer)
        assert verdict.state == english.state
        for words in words_of(verdict):
            assert MESSAGE.fullmatch(words), words
            assert not pieces_in(words, name), words
        said = re.sub("[«»]", "", repr(verdict))
        assert said.casefold() == repr(english).casefold()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_sentence_is_an_f_string_or_one_word_without_a_mark(path):
    """Those of branches that no answer of the tests reaches, too."""
    if path.stem in CONCEPTS:
        pieces = (
            part.value
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.JoinedStr)
            for part in node.values
            if isinstance(part, ast.Constant)
        )
        assert [piece for piece in pieces if re.search(r"[^\W\d_]{2}", piece)] == []
    literals = (n.value for n in ast.walk(tree_of(path)) if isinstance(n, ast.Constant))
    words = {text for text in literals if isinstance(text, str) and re.fullmatch(r"\w+[.?]", text)}
    assert words <= messages()


def raises(*_):
    raise ValueError(0)


@pytest.mark.parametrize(
    ("name", "answer", "state"),
    [
        ("masks-33", 1, "wrong"),
        ("nonsense", 1, "wrong"),
        ("masks-1", ..., "open"),
        ("masks-1", "text", "wrong"),
        ("masks-1", [[1], [1, 2]], "wrong"),
        ("masks-1", [1, 2, 3], "wrong"),
        ("masks-2", 1, "wrong"),
        ("masks-2", raises, "wrong"),
        ("masks-2", min, "wrong"),  # of whose lines none is known
        ("masks-2", lambda *_: None, "wrong"),
        ("masks-2", lambda *_: object(), "wrong"),
        ("masks-3", "Z", "wrong"),
    ],
)
def test_what_every_check_says_is_translated(name, answer, state):
    with in_capitals():
        verdict = check(name, answer)
        said, shown = repr(verdict), verdict._repr_html_()
    assert verdict.state == state
    assert all(MESSAGE.fullmatch(words) for words in words_of(verdict)), verdict
    assert bool(verdict.hint) == ("«HINT:»" in said) == ("<em>«HINT:»</em>" in shown)
    assert "Hint" not in said + shown
