"""Plant faults in the package, one at a time: unit tests, and chapters that teach it, must notice.

    python tools/mutants.py                      every fault of tools/mutants.toml
    python tools/mutants.py --only flipped-mask  one
    python tools/mutants.py --unit-only          leave the chapters out

A fault is planted in a copy of src; the working tree is never touched. Tests and chapters are first
run on a copy without a fault, which they have to accept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from qkv.notebooks.stored_form import merge_streams

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tools" / "mutants.toml"
AT_ONCE = 2
OTHER_CODE = 99  # pytest itself ends with 0 to 5
RUN_TEST = f"""
import sys, pytest, qkv
if not qkv.__file__.startswith(sys.argv[1]):
    sys.exit({OTHER_CODE})
sys.exit(pytest.main(sys.argv[2:]))
"""
# A chapter that prints source would give every fault away unrun, so it is shown the sound source.
RUN_CHAPTER = """
import inspect, qkv
assert qkv.__file__.startswith({copy!r}), qkv.__file__
_planted = inspect.getsource
inspect.getsource = lambda thing: _planted(thing).replace({new!r}, {old!r})
"""


class MutantError(Exception):
    """A fault that could not be planted, or a test or chapter that could not be run."""


@dataclass(frozen=True)
class Fault:
    """`new` in the place of `old` in a file of src/qkv, and who has to notice it."""

    name: str
    file: str
    old: str
    new: str
    test: str
    chapter: str = ""  # none yet where no chapter teaches it


UNHURT = Fault("no fault", "__init__.py", "", "", "")


def read_faults(path: Path = FAULTS) -> list[Fault]:
    """The faults, in the order of the file."""
    return [Fault(**entry) for entry in tomllib.loads(path.read_text("utf-8"))["fault"]]


def with_fault(fault: Fault) -> str:
    """The text of the fault's file with the fault in it."""
    text = (ROOT / "src/qkv" / fault.file).read_text("utf-8")
    if (found := text.count(fault.old)) != 1:
        raise MutantError(f"{fault.name}: its pattern is found {found} times in {fault.file}")
    return text.replace(fault.old, fault.new)


def copy_source(folder: Path, fault: Fault) -> Path:
    """A copy of src in the folder, with the fault planted."""
    copy = folder / "src"
    shutil.copytree(ROOT / "src/qkv", copy / "qkv", ignore=shutil.ignore_patterns("__pycache__"))
    if fault is not UNHURT:
        (copy / "qkv" / fault.file).write_text(with_fault(fault), "utf-8")
    return copy


def environment(copy: Path) -> dict[str, str]:
    """PYTHONPATH comes before the path of the editable install; pytest starts without plug-ins."""
    changed = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    return os.environ | changed | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def noticed_by_test(test: str, copy: Path, _: Fault) -> str:
    """The name of the first test that fails on the copy, or ""."""
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", test]
    command = [sys.executable, "-c", RUN_TEST, str(copy), *options]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(copy), capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise MutantError(f"{test} could not be run on the copy:\n{done.stdout}{done.stderr}")
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    if bool(failed) != bool(done.returncode):
        raise MutantError(f"{test} ended in an unknown way:\n{done.stdout}{done.stderr}")
    return failed[0].split("::")[1].split(" - ")[0] if failed else ""


@cache
def text_of(chapter: str) -> str:
    """The notebook as it was at the start, should somebody store it anew meanwhile."""
    return (ROOT / chapter).read_text("utf-8")


def noticed_by_chapter(chapter: str, copy: Path, fault: Fault) -> str:
    """The first cell that raises, or prints other text than the stored one; or ""."""
    notebook = nbformat.reads(text_of(chapter), as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(ROOT / "chapters")}},
    )
    with client.setup_kernel(env=environment(copy), stderr=subprocess.DEVNULL):
        start = RUN_CHAPTER.format(copy=str(copy), old=fault.old, new=fault.new)
        client.execute_cell(nbformat.v4.new_code_cell(start), -1)
        for number, cell in enumerate(notebook.cells):
            if cell.cell_type != "code":
                continue
            stored = shown(cell)
            try:
                client.execute_cell(cell, number)
            except CellExecutionError as error:
                return f"{cell.id}: {error.ename}"
            if shown(cell) != stored:
                return f"{cell.id}: prints something else"
    return ""


def shown(cell: Any) -> list[str]:
    """The text outputs of a cell; pictures and widgets are drawn from arrays that cells assert."""
    outputs = merge_streams(cell.outputs)
    texts = [o.text if o.output_type == "stream" else o.data.get("text/plain") for o in outputs]
    return [text for text in texts if text]


def notices(fault: Fault, witness: str) -> str:
    """What a test file or a chapter has to say about the fault, in a fresh copy."""
    ask = noticed_by_chapter if witness.endswith(".ipynb") else noticed_by_test
    with tempfile.TemporaryDirectory() as folder:
        return ask(witness, copy_source(Path(folder).resolve(), fault), fault)


def try_faults(jobs: Sequence[tuple[Fault, str]], console: Console) -> list[str]:
    """Ask each witness about its fault, print the answers and return what is wrong."""
    wrong = []
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress, ThreadPoolExecutor(AT_ONCE) as pool:
        bar = progress.add_task("asked", total=len(jobs))
        running = {pool.submit(notices, fault, who): (fault, who) for fault, who in jobs}
        for future in as_completed(running):
            fault, witness = running[future]
            progress.advance(bar)
            try:
                words = future.result()
            except MutantError as error:
                wrong.append(str(error))
                continue
            line = f"{fault.name:24} {Path(witness).stem:26} {words or '-'}"
            console.print(line, markup=False, soft_wrap=True)
            if fault is UNHURT and words:
                wrong.append(f"{witness} complains without any fault: {words}")
            elif fault is not UNHURT and not words:
                wrong.append(f"{fault.name} survived {witness}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="NAME", action="append", help="may be given repeatedly")
    parser.add_argument("--unit-only", action="store_true", help="leave the chapters out")
    options = parser.parse_args(arguments)
    console = Console(highlight=False)
    every = read_faults()
    faults = [fault for fault in every if not options.only or fault.name in options.only]
    if unknown := set(options.only or ()) - {fault.name for fault in every}:
        names = ", ".join(fault.name for fault in every)
        console.print(f"There is no fault {', '.join(sorted(unknown))}. There are: {names}")
        return 2

    jobs = [(fault, fault.test) for fault in faults]
    if not options.unit_only:
        jobs += [(fault, fault.chapter) for fault in faults if fault.chapter]
    sound = [(UNHURT, witness) for witness in sorted({witness for _, witness in jobs})]
    # Who complains without a fault cannot be asked about one.
    wrong = try_faults(sound, console) or try_faults(jobs, console)
    for words in wrong:
        console.print(words, style="red", markup=False)
    if not wrong:
        console.print(f"All {len(faults)} faults were noticed.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
