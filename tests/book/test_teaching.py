"""The page for teachers fits the chapters: lessons, states, wrong answers, minutes, figures."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import re
import sys
from base64 import b64decode
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from docutils import nodes
from docutils.utils import new_document

from qkv.explore.framework.frames import unpack
from qkv.explore.start_map import BOOK, WAYS, Chapter, duration, way_minutes
from tests.helpers.explorers import explorers_of
from tools.notebook_rules.chapter import tree
from tools.notebook_rules.code import is_import
from tools.notebook_rules.length import core_cells, core_length, further_length, headings
from tools.notebook_rules.load import load_chapter

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
facts = importlib.import_module("lesson_facts")
reuse = importlib.import_module("reuse")
teaching = importlib.import_module("teaching")

PAGE = (ROOT / "book" / "teaching.md").read_text("utf-8")
BUILT = ROOT / "_build" / "html" / "book" / "teaching.html"
PARTS = ["Ask", "Project", "Do", "Expect", "Leave out"]
STATE = re.compile(r"{(?:state|set)}`([\w-]+)(?:: ([^`]+))?`")
QUOTED = re.compile(r"`([^`]+(?:` (?:of|to) `[^`]+)*)`")  # "`4` of `6`" is one text of it
WRONG = re.compile(r"{wrong}`([\w-]+): ([^`]+)`")
LESSONS = dict(
    (int(number), dict(re.findall(r"^- \*\*([\w ]+):\*\* (.+)$", text, re.MULTILINE)))
    for number, text in re.findall(
        r"^\(lesson-(\d+)\)=\n(.+?)(?=^\(lesson|^## )", PAGE, re.MULTILINE | re.DOTALL
    )
)
COURSES = re.findall(r"^```{course}\n(.+?)\n```", PAGE, re.MULTILINE | re.DOTALL)


def path_of(chapter: Chapter) -> Path:
    return ROOT / "chapters" / f"{chapter.notebook}.ipynb"


def notebook_of(chapter: Chapter) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path_of(chapter).read_text("utf-8"))
    return notebook


def plain_quotes(text: str) -> str:
    """As it is written in a notebook: a page has curly quotes and one space."""
    return " ".join(re.sub("[‘’]", "'", re.sub("[“”]", '"', text)).split())


def lesson_ids(number: object) -> str:
    return f"lesson-{number}"


def shown_texts(cell_id: str, chosen: str) -> set[str]:
    """What an explorer shows in a state: its texts, and its numbers with two decimals."""
    notebook = notebook_of(facts.chapter_of(cell_id))
    explorer = facts.explorer_of(notebook, cell_id)
    chosen_at = facts.settings(explorer, chosen)
    models = next(iter(notebook["metadata"]["widgets"].values()))["state"]
    (frames,) = (s["frames"] for s in explorers_of(models) if s["title"] == explorer["title"])
    point = 0
    for axis in explorer["axes"]:
        at = chosen_at.get(axis["name"], explorer[f"i_{axis['name']}"])
        point = point * len(axis["values"]) + at
    texts: set[str] = set()
    for spec, arrays in unpack(explorer["frames_layout"], frames, point).values():
        texts |= set(re.findall(r'"((?:[^"\\]|\\.)*)"', json.dumps(spec, ensure_ascii=False)))
        texts |= {f"{x:.2f}" for array in arrays for x in np.ravel(array)}
    return texts


def test_every_chapter_has_a_lesson_of_five_parts():
    assert list(LESSONS) == [chapter.number for chapter in BOOK]
    for number, parts in LESSONS.items():
        assert list(parts) == PARTS, number
        names = re.findall(r"`(\w+)-\d+", " ".join(parts.values()))
        assert set(names) == {BOOK[number - 1].concept}, number


@pytest.mark.parametrize("number", LESSONS, ids=lesson_ids)
def test_what_is_said_of_a_state_is_what_the_explorer_shows(number):
    """What stands in code behind a state; "both times": it is seen in the state before, too."""
    text = LESSONS[number]["Project"]
    states = STATE.findall(text)
    assert states
    said = re.split(STATE.pattern, text)[3::3]
    assert QUOTED.search(" ".join(said))
    for i, words in enumerate(said):
        for state in states[i - 1 : i + 1] if "both times" in words else states[i : i + 1]:
            for quoted in QUOTED.findall(words):
                wanted, shown = quoted.replace("`", ""), shown_texts(*state)
                assert any(wanted in one for one in shown), f"{wanted!r} is not shown: {state}"


def test_a_number_that_an_explorer_does_not_show_is_noticed():
    assert "creature ← fluffy 0.21, blue 0.57, verdant 0.08" in shown_texts(
        "attention-36", "nearness = 1"
    )
    assert "creature ← fluffy 0.21, blue 0.57, verdant 0.08" not in shown_texts("attention-36", "")


@pytest.mark.parametrize("number", LESSONS, ids=lesson_ids)
def test_a_wrong_answer_is_named_by_the_check_of_the_exercise_to_do(number):
    ((name, answer),) = WRONG.findall(LESSONS[number]["Expect"])
    assert f"{{question}}`{name}`" in LESSONS[number]["Do"]
    mistake, hint = facts.remark(name, ast.literal_eval(answer))
    assert mistake
    assert hint


@pytest.mark.parametrize("number", LESSONS, ids=lesson_ids)
def test_what_may_be_left_out_is_a_section_of_the_core(number):
    chapter = load_chapter(path_of(BOOK[number - 1]))
    named = re.findall(r"^\*(.+?)\*(?:\.|$)", LESSONS[number]["Leave out"])
    titles = {
        title
        for c in core_cells(chapter.notebook)
        for level in (2, 3)
        for title in headings(c, level)
    }
    assert set(named) <= titles
    assert named or number == 18


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("masks-3", "AE", "is right, not wrong"),
        ("masks-3", ..., "is open, not wrong"),
        ("masks-3", "BD", "no more than of any other"),
        ("scaling-1", 7.7, "no more than of any other"),
        ("masks-1", [0.1, 0.2], "no more than of any other"),
    ],
)
def test_an_answer_that_teaches_nothing_is_refused(name, answer, said):
    with pytest.raises(facts.Stale, match=said):
        facts.remark(name, answer)


def test_a_state_is_named_in_english_and_shown_in_the_words_of_the_explorer():
    width = {"name": "d_k", "label": "d_k", "texts": ["4", "8"]}
    english = {"name": "kind", "label": "mask", "texts": ["causal", "none"]}
    korean = {"name": "kind", "label": "마스크", "texts": ["인과", "없음"]}
    original = {"title": "Masks", "axes": [english, width]}
    chosen = facts.settings(original, "mask = none; d_k = 8")
    assert chosen == {"kind": 1, "d_k": 1}
    assert facts.shown(original, chosen) == "mask = none; d_k = 8"
    assert (
        facts.shown({"title": "마스크", "axes": [korean, width]}, chosen)
        == "마스크 = 없음; d_k = 8"
    )
    assert facts.shown(original, facts.settings(original, "")) == ""


@pytest.mark.parametrize(
    ("cell_id", "chosen", "said"),
    [
        ("masks-29", "mask = all", "has no mask = all, but none, causal, padding, both"),
        ("masks-29", "masks = none", "has no 'masks', but mask, blocked pairs get"),
        ("masks-02", "", "no explorer in cell 'masks-02'"),
        ("mask-29", "", "no chapter 'mask-29'"),
    ],
)
def test_a_state_that_is_not_there_is_refused(cell_id, chosen, said):
    with pytest.raises(facts.Stale, match=re.escape(said)):
        shown_texts(cell_id, chosen)


def test_a_role_that_does_not_fit_is_a_warning(monkeypatch):
    warnings: list[str] = []
    logger = SimpleNamespace(warning=lambda text, location: warnings.append(text))
    monkeypatch.setattr(teaching, "LOGGER", logger)
    role = teaching.Teaching()
    monkeypatch.setattr(teaching.Teaching, "get_location", lambda _: "teaching:1")
    role.name, role.text = "wrong", 'masks-3: "AE"'
    role.run()
    assert warnings == ["{wrong}`masks-3: \"AE\"`: masks-3: 'AE' is right, not wrong"]


def test_minutes_of_a_course_are_those_of_its_chapters():
    """Counted anew by the rule of the chapters' times, and compared with the built page."""
    built = unescape(re.sub(r"<[^>]+>", " ", BUILT.read_text("utf-8")).replace("\xa0", " "))
    built = " ".join(built.split())
    chapters = [load_chapter(path_of(chapter)) for chapter in BOOK]
    stated: dict[str, int | None] = {}
    for chapter in chapters:
        stated |= (
            core_length(chapter.notebook).exercises | further_length(chapter.notebook).exercises
        )
    for course in COURSES:
        read = do = 0
        for row in course.splitlines()[2:]:
            numbers = [int(number) for number in re.findall(r"{lesson}`(\d+)`", row)]
            names = re.findall(r"{exercise}`([\w-]+)`", row)
            assert numbers
            here = sum(BOOK[number - 1].minutes[0] for number in numbers)
            tasks = sum(stated[name] or 0 for name in names)
            assert f"{names[-1]} ({stated[names[-1]]}) {here} + {tasks} " in built
            read, do = read + here, do + tasks
        assert f"all {duration(read)} + {duration(do)} " in built


def test_courses_read_what_they_say():
    read = [[int(n) for n in re.findall(r"{lesson}`(\d+)`", course)] for course in COURSES]
    afternoon, week, term = read
    assert afternoon == list(WAYS["an afternoon"])
    assert sum(BOOK[n - 1].minutes[0] for n in afternoon) == way_minutes("an afternoon")
    assert week == list(range(1, 15))
    assert "chapters 1 to 14" in PAGE
    assert term == [chapter.number for chapter in BOOK]
    weeks = [row.split("|")[2:4] for row in COURSES[2].splitlines()[2:]]
    sessions = [cell.strip() for row in weeks for cell in row]
    assert (len(weeks), sessions.count("lab")) == (13, 8)
    assert "Thirteen weeks with two sessions each: 18 lessons and 8 labs" in PAGE


def test_a_day_of_the_week_has_at_most_three_hours():
    for row in COURSES[1].splitlines()[2:]:
        names = re.findall(r"{exercise}`([\w-]+)`", row)
        numbers = re.findall(r"{lesson}`(\d+)`", row)
        tasks = [facts.exercise_of(notebook_of(facts.chapter_of(n)), n)[1] for n in names]
        assert sum(BOOK[int(n) - 1].minutes[0] for n in numbers) + sum(tasks) <= 180


ROWS = {
    int(number): [cell.strip() for cell in cells.split("|")]
    for number, cells in re.findall(r"^\| {chapter}`(\d+)` \| (.+) \|$", PAGE, re.MULTILINE)
}
NEEDS = {
    number: set(range(2, 10))
    if cells[0] == "2 to 9"
    else set(map(int, re.findall(r"\d+", cells[0])))
    for number, cells in ROWS.items()
}


def all_needs(number: int) -> set[int]:
    return NEEDS[number].union(*map(all_needs, NEEDS[number]))


def test_every_chapter_has_a_row_of_needs_and_gives():
    assert list(ROWS) == [chapter.number for chapter in BOOK]
    for number, (_, mathematics, gives, minutes) in ROWS.items():
        assert mathematics
        assert gives
        assert minutes == f"{{times}}`{number}`"
        assert all(need < number for need in NEEDS[number])


@pytest.mark.parametrize("number", ROWS, ids=lambda n: f"chapter-{n}")
def test_a_chapter_needs_the_earlier_ones_that_its_core_names(number):
    core = core_cells(load_chapter(path_of(BOOK[number - 1])).notebook)
    text = "\n".join(cell.source for cell in core if cell.cell_type == "markdown")
    named = set(map(int, re.findall(r"\((\d\d)_\w+\.ipynb", text)))
    for first, middle, last in re.findall(r"chapters? (\d+)(?:(?:, (\d+))* and (\d+))?", text):
        named |= {int(one) for one in (first, middle, last) if one}
    # To be reminded of where something was seen first is no need of it.
    seen_before = {6: {1}}.get(number, set())
    assert {one for one in named if one < number} - seen_before <= all_needs(number)


@pytest.mark.parametrize("number", ROWS, ids=lambda n: f"chapter-{n}")
def test_pytorch_in_the_core_is_said(number):
    core = core_cells(load_chapter(path_of(BOOK[number - 1])).notebook)
    imports = [
        ast.unparse(node)
        for cell in core
        if cell.cell_type == "code"
        for node in ast.walk(tree(cell))
        if is_import(node)
    ]
    assert ("PyTorch" in ROWS[number][1]) == any("torch" in line for line in imports)


def test_every_figure_is_a_file_with_its_alt_text():
    html = BUILT.read_text("utf-8")
    drawn = 0
    for chapter in BOOK:
        page = (BUILT.parents[1] / "chapters" / f"{chapter.notebook}.html").read_text("utf-8")
        for cell in notebook_of(chapter)["cells"]:
            for output in cell.get("outputs", []):
                if "image/png" not in output.get("data", {}):
                    continue
                drawn += 1
                png = b64decode("".join(output["data"]["image/png"]))
                file = f"_images/{hashlib.sha256(png).hexdigest()}.png"
                assert (BUILT.parents[1] / file).is_file()
                assert file in page, "the chapter shows another file"
                assert f'<a href="../{file}" download="{cell["id"]}.png"><img' in html
                entry = html[html.index(f'#{cell["id"]}"', html.index(file)) :].partition("</li>")[
                    0
                ]
                alt = cell["metadata"]["mystnb"]["image"]["alt"]
                assert len(alt) > 40
                shown = unescape(re.sub(r"<[^>]+>", "", entry))
                assert plain_quotes(alt) in plain_quotes(shown)
    assert html.count(" download=") == drawn > 0
    images = re.findall(r"<img [^>]+_images/[^>]+>", html)
    assert len(images) == drawn
    assert all('loading="lazy"' in image for image in images)


def test_a_figure_of_a_solution_is_no_figure_of_the_list():
    cell = {
        "id": "masks-01",
        "metadata": {"mystnb": {"image": {"alt": "A mask."}}},
        "outputs": [{"data": {"image/png": "iVBORw0KGgo="}}],
    }
    solution = {**cell, "metadata": {**cell["metadata"], "tags": ["solution"]}}
    listed = list(reuse.figures_of({"cells": [cell, solution]}))
    assert [(name, alt) for name, alt, _ in listed] == [("masks-01", "A mask.")]


def test_the_citation_is_that_of_the_file():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    text = unescape(re.sub(r"<[^>]+>", "", BUILT.read_text("utf-8")))
    entry = text[text.index("@software{") :].partition("\n}")[0]
    for value in (cited["title"], cited["version"], cited["authors"][0]["name"]):
        assert str(value) in entry


def test_a_released_version_is_cited_with_its_date_and_address(tmp_path):
    path = tmp_path / "CITATION.cff"
    path.write_text(
        "title: T\nversion: 1.0.0\ndate-released: 2027-01-31\nurl: https://x.example\n"
        "authors:\n  - {family-names: Kim, given-names: A.}\n  - {name: The others}\n"
    )
    assert reuse.bibtex(path, "2026").splitlines() == [
        "@software{runnable_transformer,",
        "  author = {Kim, A. and {The others}},",
        "  title = {{T}},",
        "  version = {1.0.0},",
        "  year = {2027},",
        "  url = {https://x.example}",
        "}",
    ]


def test_the_landing_page_leads_here():
    assert "](teaching.md)" in (ROOT / "book" / "index.md").read_text("utf-8")


@pytest.mark.parametrize(
    "title", ["Exercise add_norm-3 · By hand", "연습 문제 add_norm-3 · 손으로"]
)
def test_an_exercise_has_its_label_in_every_language(title: str) -> None:
    labels: dict[str, tuple[str, str]] = {}
    env = SimpleNamespace(docname="page", get_domain=lambda _: SimpleNamespace(data=data))
    data = {"anonlabels": labels}
    document = new_document("page")
    for words, anchor in ((title, "here"), ("GPT-2 · What is it?", "there")):
        document += nodes.section("", nodes.title("", words), ids=[anchor])
    teaching.label_exercises(SimpleNamespace(env=env), document)
    assert labels == {"exercise-add_norm-3": ("page", "here")}
