"""`make html SOLUTIONS=0`: no solution and no verdict is anywhere in the book that it builds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

import nbformat
import pytest
from sphinx.search.en import SearchEnglish

from qkv.exercises.choices import VERDICTS_MIME
from qkv.notebooks.exercise_cells import exercises_of, is_solution
from tests.book.test_book import ROOT
from tests.helpers.korean import in_korean
from tools import build_book
from tools.without_solutions import SETTING, copy_without_solutions, wanted, without_solutions

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
NOTE = "<em>This edition has no solutions, also where the text speaks of them.</em>"
WORD = re.compile(r"[^\W\d_]\w{5,}")


def sources(solved: bool) -> Iterator[str]:
    """The code of every solution; or all else that the sources of the book say."""
    for path in CHAPTERS:
        for cell in nbformat.read(path, as_version=4).cells:
            if is_solution(cell) == solved:
                yield cell.source
                yield from (str(output) for output in cell.get("outputs", []) if not solved)
    if not solved:
        pages = [*ROOT.glob("book/*.[mr][ds]*"), *ROOT.glob("src/qkv/[!e]*/**/*.py")]
        yield from (path.read_text("utf-8") for path in pages)


def verdicts() -> set[str]:
    """The words by which an answer is stored as accepted."""
    return {
        output["data"]["text/plain"].partition(": ")[2]
        for path in CHAPTERS
        for cell in nbformat.read(path, as_version=4).cells
        if is_solution(cell)
        for output in cell.outputs
        if output.output_type == "execute_result"
    }


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("without")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SETTING, "0")
        assert build_book.build(folder / "html", folder / "part") == 0
    return folder / "html"


@pytest.fixture(scope="module")
def texts(book: Path) -> dict[str, str]:
    """Every file of the book, those that hold no words too; of a page also its plain text."""
    found = {}
    for path in book.rglob("*"):
        if path.is_file():
            text = path.read_text("utf-8", errors="ignore")
            plain = unescape(re.sub(r"<[^>]+>", "", text)) if path.suffix == ".html" else ""
            found[path.relative_to(book).as_posix()] = f"{text}\n{plain}"
    return found


def where(words: str, texts: dict[str, str]) -> list[str]:
    """The files that hold the words, as they are or as a string of JSON."""
    forms = {words, escape(words), json.dumps(words)[1:-1]}
    forms.add(json.dumps(words, ensure_ascii=False)[1:-1])
    return [name for name, text in texts.items() if any(form in text for form in forms)]


def test_no_file_holds_a_line_of_a_solution(texts: dict[str, str]) -> None:
    others = "\n".join(sources(solved=False))
    lines = {line.strip() for code in sources(solved=True) for line in code.splitlines()}
    lines = {line for line in lines if len(line) > 12 and line not in others}
    assert len(lines) > 500
    assert {line: places for line in lines if (places := where(line, texts))} == {}


def test_no_file_holds_an_accepted_verdict(texts: dict[str, str]) -> None:
    assert len(verdicts()) > 100
    assert {words: places for words in verdicts() if (places := where(words, texts))} == {}
    for name, text in texts.items():
        assert "qkv-right" not in text or name.endswith((".css", ".js")), name
        assert "not answered yet" not in text or name.endswith(".js"), name
        assert VERDICTS_MIME not in text, name


def test_the_search_finds_no_word_of_solutions_alone(book: Path) -> None:
    index = json.loads((book / "searchindex.js").read_text("utf-8")[len("Search.setIndex(") : -1])
    others = {word.lower() for text in sources(solved=False) for word in WORD.findall(text)}
    language = SearchEnglish({})
    stems = {language.stem(word) for word in others} | others
    solved = {word.lower() for code in sources(solved=True) for word in WORD.findall(code)}
    alone = {word for word in solved if word not in stems and language.stem(word) not in stems}
    assert len(alone) > 20
    found = {*index["terms"], *index["titleterms"]}
    assert {word for word in alone if {word, language.stem(word)} & found} == set()


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_notebook_to_download_asks_and_does_not_answer(book: Path, path: Path) -> None:
    offered = nbformat.read(book / "_sources" / "chapters" / path.name, as_version=4)
    stored = nbformat.read(path, as_version=4)
    assert offered == without_solutions(stored)
    assert [one.name for one in exercises_of(offered.cells)] == [
        one.name for one in exercises_of(nbformat.read(path, as_version=4).cells)
    ]
    page = (book / "chapters" / path.name).with_suffix(".html").read_text("utf-8")
    for one in exercises_of(offered.cells):
        assert not list(one.solution)
        answer = offered.cells[one.answer]
        assert all(output.output_type == "stream" for output in answer.outputs)
        for name in (answer.id, *answer.metadata.anchors):  # old links lead to the question
            assert f'id="{name}"' in page
    assert NOTE in page


def test_a_korean_chapter_is_left_without_the_same_cells() -> None:
    english = nbformat.read(CHAPTERS[4], as_version=4)
    kept = without_solutions(in_korean(english)).cells
    ids = [cell.id for cell in without_solutions(english).cells]
    assert [cell.id for cell in kept] == ids
    heading = next(cell.source for cell in kept if cell.source.startswith("## 연습 문제\n"))
    assert heading.startswith("## 연습 문제\n\n*This edition has no solutions")


def test_the_copy_has_the_chapters_of_every_language(tmp_path: Path) -> None:
    root, name = tmp_path / "book", CHAPTERS[4].name
    for folder in ("benchmarks", "book", "chapters/ko"):
        (root / folder).mkdir(parents=True)
    english = nbformat.read(CHAPTERS[4], as_version=4)
    nbformat.write(english, root / "chapters" / name)
    nbformat.write(in_korean(english), root / "chapters" / "ko" / name)
    copied = copy_without_solutions(root, tmp_path / "copy") / "chapters"
    assert {path.relative_to(copied).as_posix() for path in copied.rglob("*.ipynb")} == {
        name,
        f"ko/{name}",
    }
    for path in (copied / name, copied / "ko" / name):
        cells = nbformat.read(path, as_version=4).cells
        assert not any(map(is_solution, cells))
        assert len(exercises_of(cells)) == len(exercises_of(english.cells))


def test_a_folded_cell_of_a_question_keeps_what_it_shows(book: Path) -> None:
    cells = nbformat.read(CHAPTERS[10], as_version=4).cells
    drawn = next(i for i, cell in enumerate(cells) if cell.id == "training-52")
    kept = without_solutions(nbformat.read(CHAPTERS[10], as_version=4)).cells
    shown = next(cell for cell in kept if cell.id == "training-52")
    assert shown.source.startswith("# ")
    assert len(shown.source.splitlines()) == 1
    assert shown.metadata.tags == ["remove-input"]
    assert shown.outputs == cells[drawn].outputs
    page = (book / "chapters" / "11_training.html").read_text("utf-8")
    cell = page.partition('id="training-52"')[2].partition('id="training-102"')[0]
    assert cells[drawn].metadata.mystnb.image.alt in cell
    assert shown.source not in page


@pytest.mark.parametrize(
    ("value", "solutions"), [(None, True), ("", True), ("1", True), ("0", False)]
)
def test_the_setting(monkeypatch: pytest.MonkeyPatch, value: str | None, solutions: bool) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    if value is not None:
        monkeypatch.setenv(SETTING, value)
    assert wanted() is solutions


def test_another_setting_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(SETTING, "no")
    monkeypatch.setattr("sys.argv", ["build_book.py"])
    assert build_book.main() == 2
    said = "SOLUTIONS is 0 (a book without solutions) or 1, got 'no'.\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(("value", "said"), [("0", True), ("1", False)])
def test_a_book_without_solutions_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str, said: bool
) -> None:
    monkeypatch.setenv(SETTING, value)
    monkeypatch.setattr("sys.argv", ["build_book.py"])
    monkeypatch.setattr(build_book, "build", lambda **_: 0)
    assert build_book.main() == 0
    assert ("no solutions and no verdicts" in capsys.readouterr().out) is said
