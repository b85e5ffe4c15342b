"""Run the chapters and store what they print, always in the same form.

    python tools/run_notebooks.py            every chapter, in place, in each language
    python tools/run_notebooks.py masks      one; ko/masks: the Korean one
    python tools/run_notebooks.py --check    run, say which would change, write nothing
    python tools/run_notebooks.py --redraw   draw the pictures of one run anew, too

A second run changes no byte, nor does one on another processor: an output that differs by rounding
alone keeps its stored form. A notebook that raises is named, and its file stays as it was.
Each gets the cell that sets it up in Colab while the repository's address is set: tools/colab.py.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from sphinx.errors import ConfigError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from qkv.notebooks.equal_outputs import keep_equal_outputs
from qkv.notebooks.one_run import forget_code, note_code
from qkv.notebooks.stored_form import notebook_text, stored_form
from tools.colab import repository_address, update_setup_cell
from tools.editions import languages_of, notebooks_in, short_name

CHAPTERS = Path(__file__).resolve().parent.parent / "chapters"
CELL_SECONDS = 600


class NotebookError(Exception):
    """A notebook that cannot be run, as a message for the author."""


def execute(path: Path, address: str) -> Any:
    """The notebook of `path` with fresh outputs, from a kernel of this Python.

    Args:
        address: the repository's, for the cell that sets the notebook up in Colab; "" for none.
    """
    notebook = nbformat.read(path, as_version=4)
    update_setup_cell(notebook, address, path.stem[3:])
    position = {"cell": "before its first cell"}
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],  # the kernel's own warnings are no output of a cell
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=lambda cell, cell_index: position.update(cell=f"in cell {cell.id}"),
    )
    try:
        return client.execute()
    except CellExecutionError as error:
        raise NotebookError(
            f"{short_name(path)}: {position['cell']}: {error.ename}: {error.evalue}"
        ) from None
    except CellTimeoutError:
        raise NotebookError(
            f"{short_name(path)}: {position['cell']}: still running after {CELL_SECONDS} s"
        ) from None
    except DeadKernelError:
        raise NotebookError(f"{short_name(path)}: {position['cell']}: the kernel died") from None


def find_chapters(
    names: Sequence[str], folder: Path, languages: Sequence[str] | None = None
) -> list[Path]:
    """The notebooks meant: all, or those whose file or concept has one of the names.

    Args:
        languages: those of the notebooks that are meant where no name is given; by default all.
    """
    there = languages_of(folder)
    if not names:
        return [path for one in languages or there for path in notebooks_in(folder, one)]
    every = [path for one in there for path in notebooks_in(folder, one)]
    paths = []
    for name in names:
        stem = PurePath(name).stem
        below = PurePath(name).parent.as_posix().rpartition("chapters")[2].strip("./")  # "" or "ko"
        prefix = f"{below}/" if below else ""
        match = [
            path
            for path in every
            if stem in (path.stem, path.stem[3:]) and short_name(path) == f"{prefix}{path.name}"
        ]
        if not match:
            known = ", ".join(short_name(path).removesuffix(".ipynb") for path in every)
            raise NotebookError(f"There is no chapter {name}. There are: {known}")
        paths += match
    return paths


def refresh(path: Path, address: str, write: bool, redraw: bool = False) -> bool:
    """Run one notebook; whether its stored form changed. Writes the whole file or nothing.

    Args:
        redraw: also the pictures that stay while the notebook's code is the same, as after a
            change of the package that draws them.
    """
    before = path.read_text(encoding="utf-8")
    fresh, stored = stored_form(execute(path, address)), nbformat.reads(before, as_version=4)
    note_code(fresh)
    if redraw:
        forget_code(stored)
    text = notebook_text(keep_equal_outputs(fresh, stored))
    changed = text != before
    if changed and write:
        part = path.with_name(f".{path.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    return changed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="chapter", help="such as masks or 05_masks")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a change")
    parser.add_argument(
        "--redraw", action="store_true", help="keep no picture of one run: after a change in src/"
    )
    options = parser.parse_args()
    changes = failures = 0
    try:
        address = repository_address()
        for path in find_chapters(options.names, CHAPTERS):
            start = time.perf_counter()
            try:
                changed = refresh(path, address, not options.check, options.redraw)
            except NotebookError as error:
                print(error, file=sys.stderr)
                failures += 1
                continue
            changes += changed
            status = (
                ("would change" if options.check else "stored anew") if changed else "unchanged"
            )
            print(f"{short_name(path)}: {status} ({time.perf_counter() - start:.0f} s)", flush=True)
    except (NotebookError, ConfigError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted; the notebook that was running is as it was.", file=sys.stderr)
        return 130
    return 1 if failures or (options.check and changes) else 0


if __name__ == "__main__":
    sys.exit(main())
