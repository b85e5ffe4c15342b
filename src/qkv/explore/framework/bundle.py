"""The explorer's JavaScript and CSS, for JupyterLab and the book."""

from __future__ import annotations

from pathlib import Path

from qkv.javascript.bundle import as_plain_script, bundle_files

STATIC = Path(__file__).parent / "static"
# In the order of their imports: a file may use those before it.
FILES = (
    *("elements", "number_format", "frames", "mark_selection", "heatmap_layout", "heatmap"),
    *("bars", "lines", "label_placement", "scatter_layout", "scatter_marks", "scatter", "tree"),
    *("diagram_layout", "diagram", "table", "panels", "native_controls"),
    *("kernel_inputs", "jupyter_controls", "korean", "explorer"),
)


def explorer_files() -> list[Path]:
    """The explorer's files, in the order of their imports; `explorer_js` holds what it exports."""
    return [STATIC / f"{name}.js" for name in FILES]


def es_module() -> str:
    """What anywidget loads: an ES module whose default export renders an Explorer."""
    return f"{bundle_files(explorer_files())}\nexport default explorer_js;\n"


def plain_script() -> str:
    """What a page of the book loads: a browser reads no modules from file://."""
    return as_plain_script("qkvExplore", explorer_files())


def style_sheet() -> str:
    """The explorer's CSS, for JupyterLab and the book alike."""
    return (STATIC / "explorer.css").read_text(encoding="utf-8")


def native_controls_style() -> str:
    """The CSS of the controls that stand where no widget of Jupyter's does."""
    return (STATIC / "native_controls.css").read_text(encoding="utf-8")
