"""Write an explorer's opening state as static HTML tables, for a reader without JavaScript."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from qkv.language import gettext
from qkv.notebooks.widget_state import EXPLORER_ID, PLAYGROUND_ID, renumber


def noscript_tables(models: dict[str, Any], model_id: str) -> str:
    """A <noscript> with the opening state of the explorer of one stored view, or nothing.

    Args:
        models: the stored widget models of a page or notebook, by id.
        model_id: the view's model, which the explorer is a part of.
    """
    states = [models[one] for one in renumber(models, [model_id])]
    drawn = {m["state"].get("_anywidget_id"): m for m in states}
    if PLAYGROUND_ID in drawn:
        state = drawn[PLAYGROUND_ID]["state"]
        return _noscript(state["title"], escape(state["labels"]["noscript"]))
    if EXPLORER_ID not in drawn:
        return ""
    explorer = drawn[EXPLORER_ID]
    state = explorer["state"]
    places = [int(state[f"i_{axis['name']}"]) for axis in state["axes"]]
    setting = ", ".join(
        f"{axis['label']} {axis['texts'][place]}"
        for axis, place in zip(state["axes"], places, strict=True)
    )
    panels = "".join(
        _panel_html(spec, arrays, state["labels"])
        for spec, arrays in _opening_panels(explorer, places)
    )
    said = gettext("Its controls need JavaScript. This is how it opens, at {setting}.").format(
        setting=escape(setting)
    )
    return _noscript(state["title"], said, panels)


def _noscript(title: str, said: str, panels: str = "") -> str:
    return (
        f'<noscript><div class="qkv-explore qkv-noscript"><p><b>{escape(title)}.</b> '
        f"{said}</p>{panels}</div></noscript>"
    )


def _opening_panels(
    model: dict[str, Any], places: list[int]
) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """(spec, arrays) of each panel at the opening state; the last axis moves fastest."""
    state = model["state"]
    sizes = [len(axis["values"]) for axis in state["axes"]]
    data = next(b["data"] for b in model["buffers"] if b["path"] == ["frames"])
    frames = base64.b64decode(data)
    for index, *offsets in state["frames_layout"]["points"][
        int(np.ravel_multi_index(places, sizes))
    ]:
        spec = state["frames_layout"]["specs"][index]
        arrays = [
            np.frombuffer(frames, f"<{entry['dtype']}", math.prod(entry["shape"]), offset).reshape(
                entry["shape"]
            )
            for entry, offset in zip(spec.get("arrays", []), offsets, strict=True)
        ]
        names = spec.get("strings", [])  # their arrays, the last ones, are places of texts
        texts = [
            [state["frames_layout"]["strings"][place] for place in places]
            for places in arrays[len(arrays) - len(names) :]
        ]
        yield {**spec, **dict(zip(names, texts, strict=True))}, arrays[: len(arrays) - len(names)]


def _panel_html(spec: dict[str, Any], arrays: list[Any], labels: dict[str, str]) -> str:
    name = labels.get(spec["name"], spec["name"])
    if spec["kind"] == "text":
        return f"<p>{escape(name)}: <b>{escape(spec['text'])}</b></p>"
    if spec["kind"] == "heatmap":
        heads = arrays[0].reshape(-1, *arrays[0].shape[-2:])  # (H, n, m)
        names = (
            [name]
            if len(heads) == 1
            else [f"{name}, {labels['head']} {h + 1}" for h in range(len(heads))]
        )
        return "".join(
            _table(caption, ["", *spec["columns"]], spec["rows"], values, spec["colours"])
            for caption, values in zip(names, heads, strict=True)
        )
    if spec["kind"] == "bars":
        return _table(name, [], spec["labels"], arrays[0][:, None], "")
    if spec["kind"] == "lines":
        x, *curves = arrays
        head = [spec["x_label"], *spec["labels"]]
        return _table(name, head, [_cell_text(one, "") for one in x], np.stack(curves, axis=1), "")
    if spec["kind"] == "scatter":
        head = ["", spec["x_label"] or "x", spec["y_label"] or "y"]
        pictures = arrays[0].reshape(-1, *arrays[0].shape[-2:])  # (H, n, 2)
        return "".join(
            _table(f"{name}{where and f', {where}'}", head, spec["labels"], values, "")
            for where, values in zip(spec.get("names", [""]), pictures, strict=True)
        )
    if spec["kind"] == "tree":
        return _text_table(
            name,
            [gettext("path"), gettext("value"), gettext("state")],
            _tree_rows(spec, arrays[0]),
        )
    if spec["kind"] == "diagram":
        values = _written(spec["box_texts"], arrays[0])
        labels_of = [label.replace("\n", " ") for label in spec["labels"]]
        rows = list(zip(labels_of, values, spec["details"], strict=False))
        arrows = zip(
            spec["arrows"], spec["arrow_labels"], spec["details"][len(rows) :], strict=True
        )
        rows += [
            (f"{labels_of[start]} → {labels_of[end]}", label, detail)
            for (start, end, _), label, detail in arrows
        ]
        return _text_table(name, [gettext("part"), gettext("value"), gettext("what it is")], rows)
    return _text_table(name, spec["header"], spec["rows"])


def _tree_rows(spec: dict[str, Any], values: Any) -> Iterator[tuple[str, str, str]]:
    paths: list[str] = []
    written = _written(spec["texts"], values)
    for i, (label, parent) in enumerate(zip(spec["labels"], spec["parents"], strict=True)):
        paths.append(label if parent < 0 else f"{paths[parent]} → {label}")
        yield paths[i], written[i], gettext(spec["states"][i] or "")


def _written(texts: list[str | None], numbers: Any) -> list[str]:
    """Each text, or the number in its place; nothing where there is neither."""
    return [
        text if text is not None else "" if math.isnan(number) else _number(number)
        for text, number in zip(texts, numbers, strict=True)
    ]


def _number(value: float) -> str:
    whole = float(value).is_integer() and abs(value) < 1e7
    return f"{value:,.0f}".replace("-", "−") if whole else _cell_text(value, "")


def _text_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = f"<tr>{_cells('th', header)}</tr>"
    cells = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption>{top}{cells}</table>"


def _table(caption: str, head: list[str], rows: list[str], values: Any, colours: str) -> str:
    top = f"<tr>{_cells('th', head)}</tr>" if head else ""
    body = ""
    for label, row in zip(rows, values, strict=True):
        cells = "".join(f"<td{_shade(one, colours)}>{_cell_text(one, colours)}</td>" for one in row)
        body += f'<tr><th scope="row">{escape(label)}</th>{cells}</tr>'
    return f"<table><caption>{escape(caption)}</caption>{top}{body}</table>"


def _cells(tag: str, texts: Sequence[str]) -> str:
    """Cells of one row. A head without text is none: the corner above the names of the rows."""
    tags = [tag if text else "td" for text in texts]
    return "".join(f"<{t}>{escape(text)}</{t}>" for t, text in zip(tags, texts, strict=True))


def _shade(value: float, colours: str) -> str:
    shaded = colours in ("weights", "mask") and value > 0
    return f' style="--v:{min(float(value), 1):.2f}"' if shaded else ""


def _cell_text(value: float, colours: str) -> str:
    if colours == "mask":
        return "✓" if value else ""
    if not math.isfinite(value):
        return "?" if math.isnan(value) else ("−∞" if value < 0 else "∞")
    text = f"{value:.2f}" if abs(value) < 1000 else f"{value:.3g}"
    return text.replace("-", "−")
