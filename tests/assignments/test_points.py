"""The teacher's table: what it may say, and one sentence for what it may not."""

import csv

import nbformat
import pytest

from qkv.notebooks.exercise_cells import exercises_of
from tools.assignments import course
from tools.assignments.__main__ import main
from tools.assignments.points import default_points, read_points, table

EXERCISES = [
    one
    for path in sorted(course.CHAPTERS.glob("0[1-5]*.ipynb"))
    for one in exercises_of(nbformat.read(path, as_version=4).cells)
]


def test_each_exercise_is_worth_its_minutes_and_the_table_can_be_read_again(tmp_path):
    points = default_points(EXERCISES)
    assert points["masks-3"] == 5
    assert len(points) == len(EXERCISES)
    file = tmp_path / "points.csv"
    file.write_text(table(EXERCISES, points), encoding="utf-8")
    assert read_points(file, EXERCISES) == points
    rows = {row["exercise"]: row for row in csv.DictReader(file.open(encoding="utf-8"))}
    assert rows["masks-3"] == {
        "exercise": "masks-3",
        "part": "core",
        "title": "Which result refutes it?",
        "minutes": "5",
        "points": "5",
    }
    assert rows["masks-5"]["part"] == "further"


def test_a_teachers_table_chooses(tmp_path):
    file = tmp_path / "my.csv"
    file.write_text("\ufeffpoints,exercise,note\n2.5, masks-3 ,x\n0,start-1,\n", encoding="utf-8")
    assert read_points(file, EXERCISES) == {"masks-3": 2.5, "start-1": 0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exercise,points\nmasks-99,1\n", "there is no exercise 'masks-99'"),
        ("exercise,points\nmasks-1,-1\n", "masks-1 is worth '-1'"),
        ("exercise,points\nmasks-1,many\n", "masks-1 is worth 'many'"),
        ("exercise,points\nmasks-1,inf\n", "masks-1 is worth 'inf'"),
        ("exercise,points\nmasks-1\n", "masks-1 is worth ''"),
        ("exercise,points\nmasks-1,1\nmasks-1,2\n", "lists masks-1 twice"),
        ("exercise;points\nmasks-1;1\n", "has no column exercise"),
        ("exercise,minutes\nmasks-1,1\n", "has no column points"),
        ("exercise,points\n", "lists no exercise"),
        ("", "has no column exercise"),
        (b"exercise,points\nmasks-1,\xff\n", "cannot be read as a table"),
        (None, "cannot be read as a table"),
    ],
)
def test_a_wrong_table_is_refused_in_a_sentence_and_nothing_is_written(
    tmp_path, capsys, text, words
):
    folder, file = tmp_path / "course", tmp_path / "my.csv"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["--points", str(file), "--folder", str(folder)]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert str(file) in said
    assert said.count("\n") == 1
    assert not folder.exists()
    assert {path.name for path in tmp_path.iterdir()} <= {"my.csv"}


def test_without_nbgrader_it_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(course.importlib.util, "find_spec", lambda name: None)
    assert main(["--folder", str(tmp_path / "course")]) == 2
    assert "nbgrader is not installed" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
