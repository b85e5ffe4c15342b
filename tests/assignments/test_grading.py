"""nbgrader itself gives a right submission all points, an empty one none, others what is right."""

import csv
import json
import re
from importlib.metadata import version

import nbformat
import pytest
from nbclient import NotebookClient

from qkv.exercises.checks import load_exercises
from tests.helpers.grading import answer, exported, nbgrader, of_nbgrader, read, submit
from tests.helpers.korean import in_korean
from tests.helpers.waiting import WAIT_SECONDS
from tools.assignments import course as course_module
from tools.assignments.__main__ import main
from tools.assignments.course import CHAPTERS
from tools.assignments.requirements import EXTRAS

NAMES = [path.stem for path in sorted(CHAPTERS.glob("*.ipynb"))]
HERE = ["01_start", "05_masks", "06_multi_head"]  # the others before a release
WRONG = "object()"  # nobody asks for one


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teaching") / "assignments"
    assert main(["--folder", str(folder), "--language", "en"]) == 0
    return folder


@pytest.fixture(scope="module")
def points(course):
    with (course / "points.csv").open(encoding="utf-8") as file:
        return {row["exercise"]: float(row["points"]) for row in csv.DictReader(file)}


def exercises(name):
    return list(load_exercises(name[3:]))


def hand_in(course, name):
    """A right submission, an empty one, one with every other exercise right, one of a cheat."""

    def without_tests(notebook):
        for cell in of_nbgrader(notebook, "grade").values():
            cell.source = "print('right')"
        of_nbgrader(notebook, "locked")["set-up"].source = "check = lambda *answer: True"

    submit(course, "right", name, answer(course, name, exercises(name)))
    submit(course, "empty", name, lambda notebook: None)
    submit(course, "partly", name, answer(course, name, exercises(name)[::2], WRONG))
    submit(course, "cheat", name, without_tests)


def expected(name, points):
    total = sum(points[one] for one in exercises(name))
    half = sum(points[one] for one in exercises(name)[::2])
    assert 0 < half < total
    return {"right": total, "empty": 0, "partly": half, "cheat": 0}, total


BEFORE_A_RELEASE = [
    name if name in HERE else pytest.param(name, marks=pytest.mark.release) for name in NAMES
]


@pytest.mark.parametrize("name", BEFORE_A_RELEASE)
def test_an_assignment_is_graded(course, points, name):
    hand_in(course, name)
    wanted, total = expected(name, points)
    for student in wanted:
        nbgrader(course, "autograde", name, "--student", student)
    given = exported(course)
    found = {student: given[student, name] for student in wanted}
    assert found == {student: (score, total) for student, score in wanted.items()}


def test_what_the_readme_of_the_course_names(course):
    name, student = "01_start", "reader"
    made = read(course, "release", name)
    nbgrader(course, "generate_assignment", name, "--force")
    assert read(course, "release", name) == made
    submit(course, student, name, answer(course, name, exercises(name)[::2], WRONG))
    nbgrader(course, "autograde", name, "--student", student)
    nbgrader(course, "generate_feedback", name, "--student", student)
    page = (course / "feedback" / student / name / f"{name}.html").read_text("utf-8")
    assert "qkv-verdict qkv-wrong" in page
    assert "qkv-verdict qkv-right" in page
    assert "AssertionError" in page


def test_every_chapter_has_an_assignment_and_points_for_each_exercise(course, points):
    for part in ("source", "release"):
        assert sorted(path.name for path in (course / part).iterdir()) == NAMES
    assert set(points) == {one for name in NAMES for one in exercises(name)}
    for name in NAMES:
        tests = of_nbgrader(read(course, "release", name), "grade")
        assert {one: cell.metadata.nbgrader.points for one, cell in tests.items()} == {
            one: points[one] for one in exercises(name)
        }
    assert {path.name for path in course.parent.iterdir()} == {"assignments"}


@pytest.mark.release
@pytest.mark.parametrize("name", NAMES)
def test_students_are_told_to_install_what_a_notebook_loads(course, name):
    notebook = read(course, "source", name)
    packages = [package for _, packages in EXTRAS.values() for package in packages]
    code = f"import sys\nprint(*(set({packages}) & set(sys.modules)))"
    notebook.cells = [*notebook.cells, nbformat.v4.new_code_cell(code)]
    NotebookClient(notebook, kernel_name="python3", timeout=WAIT_SECONDS).execute()
    named = (course / "release" / name / "requirements.txt").read_text("utf-8")
    loaded = notebook.cells[-1].outputs[0].text.split()
    assert set(loaded) <= set(re.findall(r"^[\w-]+(?===)", named, re.MULTILINE))
    assert named.startswith(f"qkv=={version('qkv')}\n" if not loaded else "qkv[")


@pytest.mark.parametrize("name", NAMES)
def test_a_release_has_no_solution(course, name):
    text = json.dumps(read(course, "release", name), ensure_ascii=False)
    chapter = nbformat.read(CHAPTERS / f"{name}.ipynb", as_version=4)
    shown = "\n".join(
        c.source for c in chapter.cells if "solution" not in c.metadata.get("tags", ())
    )
    lines = {
        line.strip()
        for cell in of_nbgrader(read(course, "source", name), "solution").values()
        for line in cell.source.partition("### BEGIN SOLUTION\n")[2].splitlines()
        if len(line.strip()) > 8 and line.strip() not in shown
    }
    assert len(lines) > 10
    assert [line for line in lines if json.dumps(line, ensure_ascii=False)[1:-1] in text] == []
    assert "SOLUTION" not in text
    assert not re.search(r"\]\((?!https?://|attachment:)", text)


def test_a_question_with_a_picture_shows_it_without_the_code_that_names_what_it_is(course):
    cells = {cell.id: cell for cell in read(course, "release", "11_training").cells}
    picture, words = cells["training-3-question-2"], cells["training-3-question-3"]
    assert picture.cell_type == "markdown"
    assert picture.source.startswith("![Four panels, each with a solid training loss")
    assert picture.attachments["0.png"]["image/png"]
    assert words.source.startswith("```text\nA ")


def test_a_second_run_keeps_what_the_teacher_has_there(tmp_path, capsys):
    folder, table = tmp_path / "course", tmp_path / "mine.csv"
    table.write_text("exercise,points\nstart-1,1\n")
    assert main(["--folder", str(folder), "--points", str(table), "--language", "en"]) == 0
    for own in ("source/my_own/my_own.ipynb", "submitted/her/01_start/01_start.ipynb"):
        (folder / own).parent.mkdir(parents=True)
        (folder / own).write_text("{}")
    table.write_text("exercise,points\nmasks-3,2.5\nmasks-1,0\n")
    assert main(["--folder", str(folder), "--points", str(table), "--language", "en"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [f"1 assignment is in {folder}; README.md there says how to use it."] * 2
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.ipynb")}
    assert found == {
        *("source/my_own/my_own.ipynb", "submitted/her/01_start/01_start.ipynb"),
        *("source/05_masks/05_masks.ipynb", "release/05_masks/05_masks.ipynb"),
    }
    tests = of_nbgrader(read(folder, "release", "05_masks"), "grade")
    worth = {one: cell.metadata.nbgrader.points for one, cell in tests.items()}
    assert worth == {"masks-1": 0, "masks-3": 2.5}


@pytest.fixture
def one_korean_chapter(tmp_path, monkeypatch):
    """Two chapters, one of them in Korean too."""
    folder, name = tmp_path / "chapters", "05_masks.ipynb"
    (folder / "ko").mkdir(parents=True)
    for file in (name, "01_start.ipynb"):
        (folder / file).symlink_to(CHAPTERS / file)
    nbformat.write(in_korean(nbformat.read(CHAPTERS / name, 4)), folder / "ko" / name)
    monkeypatch.setattr(course_module, "CHAPTERS", folder)
    return folder


def test_each_language_has_a_course_with_the_same_exercises(one_korean_chapter, tmp_path, capsys):
    folder, name = tmp_path / "course", "05_masks"
    assert main(["--folder", str(folder)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in said] == ["2", "1"]
    assert f"{folder / 'ko'};" in said[1]
    assert [path.name for path in (folder / "ko" / "release").iterdir()] == [name]
    english, korean = (read(course, "release", name) for course in (folder, folder / "ko"))
    ids = [cell.id for cell in english.cells]
    assert [cell.id for cell in korean.cells] == [ids[0], "language", *ids[1:]]
    questions = [cell.source for cell in korean.cells if cell.id.endswith("-question-1")]
    assert len(questions) == len(exercises(name))
    assert all(text.startswith("### 연습 문제 masks-") and "분.*" in text for text in questions)
    points = [
        csv.DictReader((place / "points.csv").read_text("utf-8").splitlines())
        for place in (folder, folder / "ko")
    ]
    of_masks, of_korean = ([r for r in rows if "masks" in r["exercise"]] for rows in points)
    assert of_masks == of_korean


def test_the_cells_of_a_korean_assignment_speak_korean(one_korean_chapter, tmp_path):
    folder = tmp_path / "course"
    assert main(["--folder", str(folder), "--language", "ko"]) == 0
    assert {path.name for path in folder.iterdir()} == {"ko"}
    notebook = read(folder / "ko", "source", "05_masks")
    code = "from qkv.language import get_language\nprint(get_language())"
    asked = next(i for i, cell in enumerate(notebook.cells) if cell.id == "masks-1") + 1
    notebook.cells = [*notebook.cells[:asked], nbformat.v4.new_code_cell(code)]
    NotebookClient(notebook, kernel_name="python3", timeout=WAIT_SECONDS).execute()
    assert notebook.cells[-1].outputs[0].text == "ko\n"


def test_a_table_holds_for_every_language(one_korean_chapter, tmp_path, capsys):
    folder, table = tmp_path / "course", tmp_path / "mine.csv"
    table.write_text("exercise,points\nstart-1,1\n")
    assert main(["--folder", str(folder), "--points", str(table)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1] == f"{table} lists no exercise of a chapter in the language ko."
    assert not (folder / "ko").exists()
    table.write_text("exercise,points\nstart-1,1\nmasks-3,2\n")
    assert main(["--folder", str(folder), "--points", str(table)]) == 0
    assert set(of_nbgrader(read(folder / "ko", "release", "05_masks"), "grade")) == {"masks-3"}
