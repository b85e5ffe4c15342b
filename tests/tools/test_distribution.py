"""What the package index gets: `make dist` builds it, and it works where NumPy and safetensors are
all that is installed."""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_bytes
from email.message import Message
from gettext import GNUTranslations
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.helpers.waiting import WAIT_SECONDS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NAME = f"qkv-{PROJECT['project']['version']}"
# All that `make dist` reads, and one file that it must leave out.
SOURCES = ("src", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
NOT_SOURCE = "tests/test_floors.py"
JUNK = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*")
NEEDED = ("numpy", "safetensors")
HEAVY = ("torch", "matplotlib", "IPython", "ipywidgets", "anywidget", "tokenizers", "transformers")
# What works with these two alone: the rooms' reference and all that is built on it.
MODULES = (
    *("qkv", "qkv.numpy", "qkv.config", "qkv.shapes", "qkv.decoding", "qkv.bridge", "qkv.bleu"),
    *("qkv.checkpoint", "qkv.text", "qkv.corpus", "qkv.hugging_face", "qkv.pretrained"),
    *("qkv.translator", "qkv.counting", "qkv.javascript", "qkv.exercises", "qkv.experiments"),
    *("qkv.trainer", "qkv.onnx", "qkv.commands"),
    *(f"qkv.exercises.{path.stem}" for path in ROOT.glob("src/qkv/exercises/[!_]*.py")),
    *(f"qkv.commands.{name}" for name in ("train", "translate", "export", "serve")),
)
IMPORTS = f"""
import importlib, sys
for name in {MODULES}: importlib.import_module(name)
print([name for name in {HEAVY} if name in sys.modules])
"""
TRANSLATION = """
from qkv.pretrained import pretrained
print(ascii(pretrained().translate(["The cat sat on the mat"])))
"""
COMMAND = """
import sys
from qkv.commands import main
sys.argv[0] = "qkv"
sys.exit(main())
"""


def recipe() -> list[str]:
    """What `make dist` runs once the environment is there."""
    said = subprocess.run(["make", "-n", "dist"], cwd=ROOT, capture_output=True, text=True)
    [line] = [line for line in said.stdout.splitlines() if " build " in line]
    return line.split()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the wheel and the sdist, of a copy of the tree."""
    copy = tmp_path_factory.mktemp("dist")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=JUNK)
        else:
            shutil.copy(ROOT / name, copy)
    (copy / NOT_SOURCE).parent.mkdir()
    shutil.copy(ROOT / NOT_SOURCE, copy / NOT_SOURCE)
    (copy / ".venv").symlink_to(Path(sys.prefix))
    done = subprocess.run(recipe(), cwd=copy, capture_output=True, text=True, timeout=WAIT_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return copy / "_build" / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl")


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    return message_from_bytes(wheel.read(f"{NAME}.dist-info/METADATA"))


@pytest.fixture(scope="module")
def clean(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the wheel, NumPy and safetensors, and nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    wheel.extractall(folder)
    for name in NEEDED:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        package = Path(spec.origin).parent
        (folder / name).symlink_to(package)
        if (libraries := package.with_name(f"{name}.libs")).exists():
            (folder / libraries.name).symlink_to(libraries)
    return folder


def run_clean(
    folder: Path, code: str, *arguments: str, stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A Python that sees the folder and the standard library."""
    code = f"import sys\nsys.path.append({str(folder)!r})\n{code}"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", code, *arguments],
        input=stdin,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    package = ROOT / "src" / "qkv"
    data = PROJECT["tool"]["setuptools"]["data-files"]
    apart = {name for names in data.values() for name in names}
    files = {
        path.relative_to(ROOT).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    expected = {name.removeprefix("src/").replace("/qkv.po", "/qkv.mo") for name in files - apart}
    expected |= {
        f"{NAME}.data/data/{folder}/{Path(name).name}"
        for folder, names in data.items()
        for name in names
    }
    about = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "top_level.txt")
    expected |= {f"{NAME}.dist-info/{name}" for name in about}
    assert set(wheel.namelist()) == expected
    kinds = {Path(name).suffix for name in files}
    assert kinds <= {".py", ".js", ".css", ".html", ".json", ".md", ".po", ".safetensors"}


def test_a_compiled_catalogue_does_not_say_when_it_was_made(wheel: zipfile.ZipFile) -> None:
    compiled = [name for name in wheel.namelist() if name.endswith(".mo")]
    assert compiled
    for name in compiled:
        header = GNUTranslations(io.BytesIO(wheel.read(name))).info()
        assert {header["pot-creation-date"], header["po-revision-date"]} == {
            "1970-01-01 00:00+0000"
        }


def test_the_sdist_holds_no_tests_and_gives_the_same_wheel(
    built: Path, wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    with tarfile.open(built / f"{NAME}.tar.gz") as sdist:
        names = {member.name.removeprefix(f"{NAME}/") for member in sdist if member.isfile()}
        sdist.extractall(tmp_path, filter="data")
    beside = {name for name in names if not name.startswith("src/qkv/")}
    made = {name for name in beside if ".egg-info/" in name} | {"PKG-INFO", "setup.cfg"}
    assert beside - made == {"LICENSE", "MANIFEST.in", "README.md", "src/README.md"} | {
        *("pyproject.toml", "setup.py"),
    }
    unpacked = tmp_path / NAME
    (unpacked / ".venv").symlink_to(Path(sys.prefix))
    done = subprocess.run([*recipe(), "--wheel"], cwd=unpacked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    again = zipfile.ZipFile(unpacked / "_build" / "dist" / f"{NAME}-py3-none-any.whl")
    assert {name: again.read(name) for name in again.namelist()} == {
        name: wheel.read(name) for name in wheel.namelist()
    }


def test_it_needs_numpy_and_safetensors(metadata: Message) -> None:
    requirements = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    assert {one.name for one in requirements if one.marker is None} == set(NEEDED)
    assert set(metadata.get_all("Provides-Extra", [])) == set(
        PROJECT["project"]["optional-dependencies"]
    )


def test_what_the_index_shows_leads_nowhere_within_the_repository(metadata: Message) -> None:
    assert metadata["Version"] == PROJECT["project"]["version"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload()
    assert isinstance(text, str)
    assert text.startswith("# qkv\n")
    assert "](" not in text.replace("](https://", "")
    shown = {extra for extra in PROJECT["project"]["optional-dependencies"] if f"[{extra}]" in text}
    assert shown == set(PROJECT["project"]["optional-dependencies"]) - {"test"}


def test_a_clean_environment_imports_what_needs_no_more(clean: Path) -> None:
    done = run_clean(clean, IMPORTS)
    assert done.stdout == "[]\n", done.stderr


def test_nothing_more_is_imported_where_it_is_there() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_a_clean_environment_translates(clean: Path, tmp_path: Path) -> None:
    text = "The cat sat on the mat\n"
    line = run_clean(clean, COMMAND, "translate", "pretrained", stdin=text, cwd=tmp_path)
    assert line.returncode == 0, line.stderr
    called = run_clean(clean, TRANSLATION)
    assert called.stdout == f"{[line.stdout.strip()]!a}\n", called.stderr


def test_the_example_that_the_index_shows_runs(clean: Path, metadata: Message) -> None:
    text = str(metadata.get_payload())
    code = text[text.index("    import numpy") : text.index("Code: BSD")]
    done = run_clean(clean, "\n".join(line.removeprefix("    ") for line in code.splitlines()))
    assert done.stdout.startswith("[[1."), done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--version",), ""),
        (("train",), "qkv train: training needs torch: pip install 'qkv[train]'"),
        (("export", "pretrained", "--onnx", "out"), "pip install 'qkv[onnx]'"),
        (("serve", "--folder", "."), "pip install 'qkv[live]' brings it."),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_command_names_the_extra_that_it_lacks(
    arguments: tuple[str, ...], message: str, clean: Path, tmp_path: Path
) -> None:
    (tmp_path / "index.html").touch()
    done = run_clean(clean, COMMAND, *arguments, cwd=tmp_path)
    assert done.returncode == int(bool(message))
    assert message in done.stderr
    assert done.stderr.count("\n") == int(bool(message))
    assert list(tmp_path.iterdir()) == [tmp_path / "index.html"]
    if not message:
        assert done.stdout == f"qkv {PROJECT['project']['version']}\n"


@pytest.mark.release
def test_pip_installs_it_in_a_new_environment(built: Path, tmp_path: Path) -> None:
    """By pip, from the package index, so that what it brings is seen too."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    [wheel] = built.glob("*.whl")
    subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True, env=own)
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format", "freeze"], capture_output=True, text=True, env=own
    )
    names = {line.partition("==")[0] for line in listed.stdout.splitlines()}
    assert {name.partition(" ")[0] for name in names} - {"pip", "setuptools"} == {"qkv", *NEEDED}
    done = subprocess.run([python, "-c", IMPORTS], capture_output=True, text=True, env=own)
    assert done.stdout == "[]\n", done.stderr
