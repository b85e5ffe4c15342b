"""The workflows: nothing that zizmor finds, actions pinned, rights by job, and every command tried.

A job is tried in a folder of its own: its commands run by the shell as they stand, in their order,
and what one job uploads is what another downloads. Programs are stood in for: `make`, which
asks the Makefile what it would run and leaves what its target leaves, and `gh`, which looks whether
the files are there that it is given.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools.test_check_release import RELEASE, as_released, edit

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.stem: path for path in sorted(ROOT.glob(".github/workflows/*.yml"))}
USES = re.compile(r"uses: ([\w./-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+")
RIGHTS = {  # what each job may do; whatever is not here it may not
    ("test", "test"): {"contents": "read"},
    ("pages", "build"): {"contents": "read"},
    ("pages", "deploy"): {"pages": "write", "id-token": "write"},
    ("release", "build"): {"contents": "read"},
    ("release", "publish"): {"id-token": "write"},
    ("release", "attach"): {"contents": "write"},
}
# What a target of the Makefile leaves that a job goes on with.
LEFT = {
    "html": "_build/html/index.html",
    "dist": "_build/dist/qkv.whl",
    "slides": "_build/slides/index.html",
    "pdf": "_build/pdf/book.pdf",
}
MAKE = """#!{python}
import subprocess, sys
from pathlib import Path
done = subprocess.run([{make!r}, "-n", "-C", {root!r}, *sys.argv[1:]], stdout=subprocess.DEVNULL)
for target in sys.argv[1:] if not done.returncode else []:
    if file := {left}.get(target):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).touch()
print("1 passed, 0 failed")
sys.exit(done.returncode)
"""
# The Python that `make` sets up: asks the module for its options, and writes where it is told to.
MODULE = """#!{python}
import subprocess, sys
from pathlib import Path
flag, module, *options = sys.argv[1:]
command = [{python!r}, flag, module, "--help"]
done = subprocess.run(command, cwd={root!r}, capture_output=True, text=True, check=True)
missing = [option for option in options if option[:2] == "--" and option not in done.stdout]
output = Path(options[options.index("--output") + 1], "index.html")
output.parent.mkdir(parents=True, exist_ok=True)
output.touch()
sys.exit(f"{{module}} has no {{missing}}" if missing else 0)
"""
GH = """#!{python}
import sys
from pathlib import Path
command, tag, files = sys.argv[1:3], sys.argv[3], sys.argv[sys.argv.index("--notes-file") + 1 :]
missing = [name for name in files if not Path(name).is_file()]
sys.exit(f"gh: no file {{missing}}" if missing or command != ["release", "create"] else 0)
"""


def jobs(name: str) -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load(WORKFLOWS[name].read_text("utf-8"))["jobs"])


def zizmor(folder: Path) -> subprocess.CompletedProcess[str]:
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    program = shutil.which("zizmor", path=places)
    assert program, "zizmor is missing: make test installs it"
    command = [program, "--offline", "--persona=pedantic", "--no-config", "--quiet", str(folder)]
    return subprocess.run(command, capture_output=True, text=True)


def test_zizmor_finds_nothing() -> None:
    done = zizmor(ROOT / ".github")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        (r"@[0-9a-f]{40} # v", "@v", "unpinned-uses"),
        ("persist-credentials: false", "lfs: false", "artipacked"),
        (r"permissions: \{\}", "permissions: write-all", "excessive-permissions"),
        ('"\\$GITHUB_REF_NAME"', "${{ github.ref_name }}", "template-injection"),
    ],
)
def test_zizmor_finds_what_is_planted(old: str, new: str, finding: str, tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / ".github", tmp_path / ".github")
    edit(folder / "workflows" / "release.yml", old, new)
    done = zizmor(folder)
    assert done.returncode != 0
    assert f"[{finding}]" in done.stdout + done.stderr


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_action_is_pinned_by_hash_and_named_by_version(name: str) -> None:
    text = WORKFLOWS[name].read_text("utf-8")
    assert text.count("uses: ") == len(USES.findall(text))


def test_one_action_has_one_version_in_all_workflows() -> None:
    texts = [path.read_text("utf-8") for path in WORKFLOWS.values()]
    pins = {line for text in texts for line in re.findall(r"uses: (.*)", text)}
    assert len({pin.partition("@")[0] for pin in pins}) == len(pins)


def test_each_job_may_do_what_it_needs_and_no_more() -> None:
    every = {(name, job): each for name in WORKFLOWS for job, each in jobs(name).items()}
    assert {place: job["permissions"] for place, job in every.items()} == RIGHTS
    for name, path in WORKFLOWS.items():
        assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {}, name
    for job in every.values():
        assert job["timeout-minutes"] <= 60
        if "id-token" in job["permissions"]:  # nothing of the repository runs beside the right
            assert not [step for step in job["steps"] if "run" in step or "checkout" in str(step)]


@pytest.mark.parametrize("name", ["pages", "release"])
def test_nothing_is_published_before_the_owner_switches_it_on(name: str) -> None:
    for job, each in jobs(name).items():
        assert ("needs" in each) != (each.get("if") == "vars.PUBLISH == 'true'"), job
    assert "PUBLISH" in (ROOT / "RELEASING.md").read_text("utf-8")


class Runner:
    """Tries the jobs of a workflow, each in an empty folder, and keeps what they upload."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.artifacts = folder, folder / "artifacts"
        self.programs = folder / "programs"
        self.programs.mkdir()
        known = {"python": sys.executable, "make": shutil.which("make"), "root": str(ROOT)}
        for name, text in (("make", MAKE), ("gh", GH), ("module", MODULE)):
            program = self.programs / name
            program.write_text(text.format(**known, left=LEFT), "utf-8")
            program.chmod(0o755)
        (self.programs / "python").symlink_to(sys.executable)

    def try_job(self, job: dict[str, Any], name: str) -> None:
        place = self.folder / name
        place.mkdir()
        for step in job["steps"]:
            action = step.get("uses", "").partition("@")[0]
            values = step.get("with", {})
            if "run" in step:
                self.run(step, place)
            elif action == "actions/checkout":
                self.check_out(place)
            elif action.startswith("actions/upload-") and step.get("if") != "failure()":
                [found] = place.glob(values["path"])
                assert [*found.iterdir()], f"{found} is empty"
                shutil.copytree(found, self.artifacts / values.get("name", "github-pages"))
            elif action == "actions/download-artifact":
                source = self.artifacts / values["name"]
                shutil.copytree(source, place / values["path"], dirs_exist_ok=True)
            elif action == "actions/deploy-pages":
                assert (self.artifacts / "github-pages" / "index.html").is_file()
            elif action == "pypa/gh-action-pypi-publish":
                assert [*place.glob("dist/*.whl")], "its folder, unless another is named"

    def check_out(self, place: Path) -> None:
        """What the commands themselves read; the day of the release is in it."""
        (place / ".venv" / "bin").mkdir(parents=True)
        (place / ".venv" / "bin" / "python").symlink_to(self.programs / "module")
        for name in (".ci", "tools"):
            (place / name).mkdir()
            for file in (ROOT / name).iterdir():
                if file.is_file():
                    shutil.copy(file, place / name)
        as_released(place)

    def run(self, step: dict[str, Any], place: Path) -> None:
        environment = os.environ | {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "CHROMIUM": "chromium",
            "GITHUB_REF_NAME": f"v{RELEASE.version}",
        }
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],  # as GitHub does
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{step['run']}: {done.stdout}{done.stderr}"


def try_workflow(steps: dict[str, dict[str, Any]], folder: Path) -> Runner:
    runner = Runner(folder)
    for name, job in steps.items():
        runner.try_job(job, name)
    return runner


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_command_of_a_workflow_finds_what_it_needs(name: str, tmp_path: Path) -> None:
    runner = try_workflow(jobs(name), tmp_path)
    if name == "release":
        notes = (tmp_path / "attach" / "notes.md").read_text("utf-8")
        assert notes.strip() == RELEASE.changes
        assert {path.name for path in runner.artifacts.iterdir()} == {"package", "release"}
        attached = {path.name for path in (tmp_path / "attach" / "files").iterdir()}
        assert attached == {"qkv.whl", "book.pdf", "the-runnable-transformer-slides.zip"}
    elif name == "pages":
        site = runner.artifacts / "github-pages"
        assert {"index.html", "slides", "pdf"} == {path.name for path in site.iterdir()}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("pages", "make html", "make page"),
        ("pages", "-m tools.slides", "-m tools.decks"),
        ("pages", "--book ..", "--books .."),
        ("release", "_build/pdf/*.pdf", "_build/paper/*.pdf"),
        ("release", "dist slides", "dist"),
        ("pages", "path: _build/html", "path: _build/book"),
        ("release", "tools/check_release.py", "tools/check_tag.py"),
        ("release", "path: files", "path: file"),
        ("release", "files/notes.md", "files/note.md"),
        ("test", ".ci/run", ".ci/all"),
    ],
)
def test_a_command_that_no_longer_fits_fails(name: str, old: str, new: str, tmp_path: Path) -> None:
    text = WORKFLOWS[name].read_text("utf-8")
    assert old in text
    with pytest.raises((AssertionError, ValueError)):
        try_workflow(yaml.safe_load(text.replace(old, new))["jobs"], tmp_path)
