"""The runner stores the same bytes every time, and never harms a notebook that raises."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from qkv.notebooks.stored_form import merge_streams, normal_form
from tools import run_notebooks
from tools.run_notebooks import NotebookError, find_chapters

PRINTS = """
import sys
print("one", flush=True)
print("aside", file=sys.stderr)
print("two")
"""
SLIDES = "import ipywidgets as w\nbox = w.VBox([w.IntSlider(), w.IntSlider()])\nbox"


def write(folder: Path, name: str, *sources: str) -> Path:
    cells = [new_code_cell(text, id=f"toy-{i:02d}") for i, text in enumerate(sources, start=1)]
    path = folder / name
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Toy", id="toy-00"), *cells]), path)
    return path


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str, address: str = "") -> int:
    monkeypatch.setattr(run_notebooks, "CHAPTERS", folder)
    monkeypatch.setattr(run_notebooks, "repository_address", lambda: address)
    monkeypatch.setattr("sys.argv", ["run_notebooks.py", *arguments])
    return run_notebooks.main()


def test_second_run_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "01_toy.ipynb", PRINTS, SLIDES)
    assert run(monkeypatch, tmp_path, "--check") == 1  # it would change, and nothing is written
    assert nbformat.read(path, as_version=4).cells[1].outputs == []

    assert run(monkeypatch, tmp_path) == 0
    first = path.read_bytes()
    stored = nbformat.reads(first.decode(), as_version=4)
    assert [output.text for output in stored.cells[1].outputs] == ["one\ntwo\n"]
    assert stored.cells[1].execution_count == 1
    assert b"widget-0001" in first
    assert list(tmp_path.iterdir()) == [path]

    assert run(monkeypatch, tmp_path, "toy", "--check") == 0
    assert run(monkeypatch, tmp_path, "toy") == 0
    assert path.read_bytes() == first


def test_another_processor_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last digit is another; a number that reads differently is stored."""
    path = write(
        tmp_path, "01_toy.ipynb", "import os\nprint(0.1234567 + float(os.environ['SHIFT']))"
    )
    monkeypatch.setenv("SHIFT", "1.1e-9")
    run(monkeypatch, tmp_path)
    first = path.read_bytes()
    assert b"0.1234567011" in first
    monkeypatch.setenv("SHIFT", "1.2e-9")
    assert run(monkeypatch, tmp_path, "--check") == 0
    assert run(monkeypatch, tmp_path) == 0
    assert path.read_bytes() == first
    monkeypatch.setenv("SHIFT", "1.1e-6")
    assert run(monkeypatch, tmp_path, "--check") == 1
    assert run(monkeypatch, tmp_path) == 0
    assert b"0.1234578" in path.read_bytes()


def test_set_up_cell_comes_and_goes_with_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "01_toy.ipynb", "print(1)")
    run(monkeypatch, tmp_path)
    without = path.read_bytes()
    stored = []
    for address in ("https://github.com/a/b", "https://github.com/c/d"):
        assert run(monkeypatch, tmp_path, "--check", address=address) == 1
        assert run(monkeypatch, tmp_path, address=address) == 0
        stored.append(path.read_bytes())
        cells = nbformat.read(path, as_version=4).cells
        assert [cell.id for cell in cells] == ["toy-setup", "toy-00", "toy-01"]
        assert [cell.get("execution_count") for cell in cells] == [1, None, 2]
        assert f'"qkv[explore] @ git+{address}"' in cells[0].source
        assert cells[0].outputs == []
        assert run(monkeypatch, tmp_path, "--check", address=address) == 0
    assert stored[0].replace(b"a/b", b"c/d") == stored[1]
    assert run(monkeypatch, tmp_path) == 0
    assert path.read_bytes() == without


def test_address_that_no_link_can_be_made_of_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "01_toy.ipynb", "print(1)")
    before = path.read_bytes()
    monkeypatch.setattr(run_notebooks, "CHAPTERS", tmp_path)
    monkeypatch.setattr("sys.argv", ["run_notebooks.py"])
    monkeypatch.setenv("QKV_REPOSITORY", "someone/some-book")
    assert run_notebooks.main() == 2
    assert "OWNER/REPO" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_notebook_that_raises_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "01_toy.ipynb", "x = 1", "raise ValueError('no such token')")
    before = path.read_bytes()
    assert run(monkeypatch, tmp_path) == 1
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    said = capsys.readouterr().err
    assert said == "01_toy.ipynb: in cell toy-02: ValueError: no such token\n"


def test_normal_form_is_its_own_normal_form() -> None:
    cell = new_code_cell("print(1)", id="toy-01", execution_count=1)
    cell.metadata["execution"] = {"iopub.execute_input": "2026-01-01"}
    cell.outputs = [
        new_output("stream", name="stdout", text="1\n"),
        new_output("stream", name="stderr", text="careful\n"),
    ]
    language = {"name": "python", "version": "3.11.7"}
    notebook = new_notebook(cells=[cell], metadata={"language_info": language})
    text = normal_form(notebook)
    assert "2026" not in text
    assert "careful" not in text
    assert "3.11.7" not in text
    assert text.endswith("}\n")
    assert normal_form(nbformat.reads(text, as_version=4)) == text


def test_only_neighbouring_streams_are_joined() -> None:
    outputs = [
        new_output("stream", name="stdout", text="1"),
        new_output("stream", name="stdout", text="2\n"),
        new_output("display_data", {"text/plain": "x"}),
        new_output("stream", name="stdout", text="3\n"),
    ]
    assert [output.get("text") for output in merge_streams(outputs)] == ["12\n", None, "3\n"]


def test_chapters_are_found_by_concept_file_or_path(tmp_path: Path) -> None:
    masks, scaling = write(tmp_path, "05_masks.ipynb"), write(tmp_path, "04_scaling.ipynb")
    assert find_chapters([], tmp_path) == [scaling, masks]
    for name in ("masks", "05_masks", "05_masks.ipynb", "chapters/05_masks.ipynb"):
        assert find_chapters([name], tmp_path) == [masks]
    with pytest.raises(NotebookError, match=r"no chapter mask\. There are: 04_scaling, 05_masks"):
        find_chapters(["mask"], tmp_path)


def test_a_korean_chapter_is_named_by_its_folder(tmp_path: Path) -> None:
    english = write(tmp_path, "05_masks.ipynb")
    (tmp_path / "ko").mkdir()
    korean = write(tmp_path / "ko", "05_masks.ipynb")
    assert find_chapters([], tmp_path) == [english, korean]
    assert find_chapters([], tmp_path, ["en"]) == [english]
    assert find_chapters(["masks"], tmp_path) == [english]
    for name in ("ko/masks", "ko/05_masks.ipynb", "./ko/masks", "/a/chapters/ko/05_masks.ipynb"):
        assert find_chapters([name], tmp_path) == [korean]
    for name in ("ko/scaling", "fr/masks"):
        with pytest.raises(NotebookError, match=rf"no chapter {name}\..*: 05_masks, ko/05_masks"):
            find_chapters([name], tmp_path)


def test_a_korean_chapter_is_stored_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ko").mkdir()
    path = write(tmp_path / "ko", "01_toy.ipynb", "import os\nprint(os.getcwd())")
    assert run(monkeypatch, tmp_path) == 0
    assert nbformat.read(path, as_version=4).cells[1].outputs[0].text == f"{path.parent}\n"
    assert run(monkeypatch, tmp_path, "ko/toy", "--check") == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(" (")[0] for line in said] == [
        "ko/01_toy.ipynb: stored anew",
        "ko/01_toy.ipynb: unchanged",
    ]
    write(tmp_path / "ko", "01_toy.ipynb", "1 / 0")
    assert run(monkeypatch, tmp_path, "ko/toy") == 1
    assert capsys.readouterr().err.startswith("ko/01_toy.ipynb: in cell toy-01: ZeroDivision")


def test_unknown_chapter_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, tmp_path, "nothing") == 2
    assert "no chapter nothing" in capsys.readouterr().err
