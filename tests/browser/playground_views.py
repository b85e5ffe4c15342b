"""A page that holds the engine and the playground's views, without what draws them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from qkv.explore.playground import view_labels
from qkv.javascript.bundle import bundle_files, imported

STATIC = Path(view_labels.__file__).parent / "static"
ASK = Path(__file__).with_suffix(".js").read_text("utf-8").rstrip().removesuffix(";")
EXPORTS = {
    "settings": ("DEFAULTS",),
    "translate_in_steps": ("translateInSteps",),
    "controls": ("controlsOf", "withControl"),
    "panels_of": ("panelsOf",),
    "cache_view": ("cacheNumbers",),
    "random_numbers": ("uniformNumbers",),
}


def with_imports(file: Path, found: list[Path]) -> list[Path]:
    """The files that one needs and that are not yet found, each after those that it imports."""
    for where, name in imported(file):
        with_imports((file.parent / where / f"{name}.js").resolve(), found)
    if file not in found:
        found.append(file)
    return found


def views_script(faults: dict[str, tuple[str, str]] | None = None) -> str:
    """The views as a script, which puts what they export into globalThis.qkvViews.

    Args:
        faults: by the name of a file, a text of it and what is put in its place.
    """
    files: list[Path] = []
    for name in EXPORTS:
        with_imports(STATIC / f"{name}.js", files)
    text = bundle_files(files)
    for name, (right, wrong) in (faults or {}).items():
        assert (STATIC / f"{name}.js").read_text("utf-8").count(right) == 1, name
        assert text.count(right) == 1, name
        text = text.replace(right, wrong)
    exports = ", ".join(f"{one}: {name}_js.{one}" for name, ones in EXPORTS.items() for one in ones)
    return f"globalThis.qkvViews = (() => {{\n{text}\nreturn {{ {exports} }};\n}})();"


def ask_views(
    page: Page, asked: list[dict[str, Any]], content: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """What the views show for each of `asked`: a text, its settings, and controls to move.

    Args:
        content: of another translator than the one that comes with the book.
    """
    opened = "(await qkvModel.loadEngine()).openPretrained(content)"
    opened = "await qkvModel.load()" if content is None else opened
    script = f"async ([asked, labels, content]) => ({ASK}\n)({opened}, asked, labels)"
    answers: list[dict[str, Any]] = page.evaluate(script, [asked, view_labels.LABELS, content])
    return answers
