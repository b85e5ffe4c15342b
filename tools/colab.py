"""Set-up cell for Colab: a chapter's first cell while the repository's address is set.

Colab opens a single notebook, without the book's package. The cell installs the package there by
the loose ranges of pyproject.toml, so that Colab's own NumPy, widgets and torch stay, and lets
Colab load what draws the explorers. Anywhere else it does nothing, and the built page hides it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
import yaml  # type: ignore[import-untyped]

sys.path.append(str(Path(__file__).resolve().parent.parent / "book" / "extensions"))

from public_addresses import resolve

from qkv.fonts import FONTS
from qkv.language import ENGLISH

ROOT = Path(__file__).resolve().parent.parent
HIDDEN = "remove-cell"  # the tag by which myst-nb leaves a cell out of the page
SOURCE = """\
# In Colab: install the book's package and let its sliders draw. Elsewhere: nothing.
import sys

if "google.colab" in sys.modules:
    import importlib.util
    import subprocess

    from google.colab import output

    output.enable_custom_widget_manager()
    if importlib.util.find_spec("qkv") is None:
        package = "qkv[explore] @ git+ADDRESS"
        pip = [sys.executable, "-m", "pip", "install", "-q"]
        subprocess.run([*pip, package], check=True)"""
FONT = """
        apt = ["apt-get", "-qq", "install", "PACKAGE"]
        subprocess.run(apt, check=True)"""


def repository_address(root: Path = ROOT) -> str:
    """The address of _config.yml, or of QKV_REPOSITORY; empty where neither gives one.

    Raises:
        ConfigError: no link can be made of it.
    """
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return resolve("repository_address", config["sphinx"]["config"]["repository_address"])


def is_setup(cell: Any) -> bool:
    """Whether `update_setup_cell` made the cell. No other cell of a chapter may have its tag."""
    return cell.id.endswith("-setup") and HIDDEN in cell.metadata.get("tags", [])


def setup_cell(address: str, concept: str, language: str = ENGLISH) -> Any:
    """The cell as it is before it has run, with the font that figures in a language need."""
    source = SOURCE.replace("ADDRESS", address)
    if language in FONTS:
        source += FONT.replace("PACKAGE", FONTS[language].debian_package)
    metadata = {"tags": [HIDDEN]}
    return nbformat.v4.new_code_cell(source, id=f"{concept}-setup", metadata=metadata)


def update_setup_cell(notebook: Any, address: str, concept: str, language: str = ENGLISH) -> None:
    """Put the cell first, renew it, or take it away where there is no address. In place."""
    notebook.cells = [cell for cell in notebook.cells if not is_setup(cell)]
    if address:
        notebook.cells.insert(0, setup_cell(address, concept, language))


def has_expected_setup_cell(
    notebook: Any, address: str, concept: str, language: str = ENGLISH
) -> bool:
    """Whether the notebook has what `update_setup_cell` would give it: the cell once, or none."""
    setup_cells = [cell for cell in notebook.cells if is_setup(cell)]
    if not address:
        return not setup_cells
    expected = setup_cell(address, concept, language)
    return setup_cells == notebook.cells[:1] and all(
        setup_cells[0][key] == expected[key] for key in ("id", "cell_type", "source", "metadata")
    )
