"""The tables *Where things are* in CONTRIBUTING.md name every module, and none that is not."""

from pathlib import Path

import pytest

from tools.quick import paths_in, tables

ROOT = Path(__file__).parents[1]
ROOMS = [ROOT / "src" / "qkv" / room for room in ("numpy", "torch")]
COLUMNS = {  # of the first table: the folders that its paths start from
    1: ROOMS,
    2: [ROOT / "src" / "qkv" / "explore"],
    3: [ROOT / "src" / "qkv" / "exercises"],
    4: [ROOT / "tests" / "rooms"],
}
IN_ONE_ROOM = {"array_types.py"}  # torch has one type of array
KERNELS = "efficient/triton_attention/"  # for a GPU, so in torch alone
SHARED = {"checks.py", "choices.py"}  # of the exercises, by those of every chapter


CONCEPTS, PLACES = tables()


@pytest.mark.parametrize("row", CONCEPTS, ids=lambda row: row[0].strip())
def test_every_file_of_a_concept_is_there_in_both_rooms(row):
    assert paths_in(row[1])
    assert paths_in(row[4])
    for column, folders in COLUMNS.items():
        for name in paths_in(row[column]):
            for folder in folders:
                assert (folder / name).is_file(), f"{name} in {folder}"
    for name in paths_in(row[0]):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("row", PLACES, ids=lambda row: row[0].strip())
def test_every_place_is_there(row):
    assert paths_in(row[1])
    for name in paths_in(row[1]):
        assert (ROOT / name).exists(), name


def test_every_module_of_the_rooms_has_a_concept():
    named = {name for row in CONCEPTS for name in paths_in(row[1])} | IN_ONE_ROOM
    for room in ROOMS:
        modules = {path.relative_to(room).as_posix() for path in room.rglob("*.py")}
        modules = {name for name in modules if not name.startswith(KERNELS)}
        assert {name for name in modules if not name.endswith("__init__.py")} <= named


@pytest.mark.parametrize("column", [2, 3])
def test_every_explorer_and_every_exercise_has_a_concept(column):
    named = {name for row in CONCEPTS for name in paths_in(row[column])}
    (folder,) = COLUMNS[column]
    assert {path.name for path in folder.glob("[!_]*.py")} - SHARED == named


def test_the_exercises_of_a_chapter_are_one_file():
    chapters = {path.stem.partition("_")[2] + ".py" for path in ROOT.glob("chapters/*.ipynb")}
    assert {path.name for path in COLUMNS[3][0].glob("[!_]*.py")} == chapters | SHARED


def test_every_other_module_has_a_place():
    named = {
        name for row in (*PLACES, *CONCEPTS) for name in (*paths_in(row[0]), *paths_in(row[1]))
    }
    folders = tuple(name for name in named if name.endswith("/"))
    apart = ("src/qkv/numpy/", "src/qkv/torch/", "src/qkv/explore/", "src/qkv/exercises/")
    for top in ("src", "tools", "book/extensions", "benchmarks"):
        for path in (ROOT / top).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if path.name in ("__init__.py", "__main__.py") or name.startswith(apart):
                continue
            assert name in named or name.startswith(folders), name
